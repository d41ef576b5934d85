#!/bin/sh
# The page on the simulated device's instructions, written from its instruction table:
#
#     sh book/instructions.sh simulator/isa/isa.def > build/book/instructions.md
#
# The C preprocessor spells the table's rows out, one `@row@` each; rows that do the same thing to several
# types become one line of the page.
set -eu

cat <<'PAGE'
# The simulated device's instructions

These are the PTX instructions that the simulated device knows. The table is written from the same rows
that the device itself is built from, so what is not here is not there: a program that needs another
instruction is told its name. In the last column *a*, *b* and *c* are what a lane reads and *d* is what it
writes; the C is the C that runs.

How it compares with a GPU: every row that computes something was run with 4,096 operands, edge values first, on an
H200 as well, and `sh simulator/test/conformance.sh` holds the simulated device to what came out there: to the bit, and
approximations (`approx`, `full`) to the error that the PTX manual promises. The few forms in which the two differ, and
why, are in `simulator/test/conformance/departures.txt`.
PAGE

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
cat >"$rows" <<'ROWS'
#define UNARY(name, op, D, A, lane)     @row@name@D, A@#lane@
#define BINARY(name, op, D, A, B, lane) @row@name@D, A, B@#lane@
#define TERNARY(name, op, D, A, B, C, lane) @row@name@D, A, B, C@#lane@
#define CONVERT(name, D, A, lane)       @row@name@D, A@#lane@
#define COMPARE(name, A, B, lane)       @row@name@pred, A, B@#lane@
#define TEST(name, op, A, lane)         @row@name@pred, A@#lane@
#define SELECT(name, D)                 @row@name@D, D, D, pred@"p ? a : b"@
#define LOGIC(name, op, inputs, warp)   @row@name@pred@#warp@
#define PACK(name, D, A)                @row@name@D, {A, A}@"{a, b}"@
#define UNPACK(name, D, A)              @row@name@{D, D}, A@"{low, high}"@
#define MEMORY(name, op, space, ...)    @row@name@memory@"=" op space@
#define FENCE(name)                     @row@name@fence@"=" orders memory@
#define FLOW(name, op, operands, ...)   @row@name@flow@"=" operands@
#define PACK_4(name, D, A)              @row@name@D, {A, A, A, A}@"{a, b, c, e}"@
#define UNPACK_4(name, D, A)            @row@name@{D, D, D, D}, A@"{lowest, ..., highest}"@
#define INSERT(name, T)                 @row@name@T, T, T, u32, u32@"a's low bits in b at bit c"@
#define RARE_1 UNARY
#define RARE_2 BINARY
#define RARE_3 TERNARY
#define RARE_CONVERT CONVERT
#define SAME(name, other)               @row@name@same@other@
#define COMPARE_2(name, T, holds, of)   @row@name@pred, T, T@"=" p for the lower halves and q for the upper@
#define VIDEO(name, kind, lane)         @row@name@video@#lane@
#define TABLE(name, operands, ...)      @row@name@table@"=" operands@
#define MATRIX(name, op, m, n, k, D, A, B, C, operands, ...) @row@name@matrix@"=" operands@
#define COPY(name, op, operands, ...)   @row@name@matrix@"=" operands@
#define EXCHANGE(name, op, D, A, operands) @row@name@exchange@"=" operands@
#define ATOMIC(name, op, T, lane)       @row@name@T@#lane@
#define CARRY(name, op, T, inputs, takes, keeps, lane) @row@name@T, T, T, T@#lane@
ROWS

sed -n 's|^#include "\(.*\)"$|\1|p' "$1" | while read -r part; do
    sed 's|^// ---- \(.*\) ----$|@section@"\1"@|' "$(dirname "$1")/$part"
done |
    gcc -E -P -undef -x c -include "$rows" - |
    tr '\n' ' ' | sed 's/@\(row\|section\)@/\n&/g' |
    awk -F @ '
        # The C of a lane as code; words where a row has none ("=" in front).
        function does_what(text) {
            if (sub(/^"=" */, "", text)) {
                gsub(/"| *$/, "", text)
                sub(/ SPACE_/, ": ", text)
                sub(/_param/, "", text)
                return tolower(text)
            }
            gsub(/^ *"|" *$/, "", text)
            gsub(/\|/, "\\|", text)
            return "`` " text " ``"
        }
        BEGIN { TYPED = "(_(pred|[usbf]+[0-9]+(x2)?|e[0-9]m[0-9](x2)?|tf32))+$" }
        function dotted(name) {
            gsub(/__/, "::", name)
            gsub(/_/, ".", name)
            gsub(/commit.group/, "commit_group", name)
            gsub(/wait.group/, "wait_group", name)
            gsub(/wait.all/, "wait_all", name)
            gsub(/arrive.drop/, "arrive_drop", name)
            gsub(/expect.tx/, "expect_tx", name)
            gsub(/complete.tx/, "complete_tx", name)
            gsub(/test.wait/, "test_wait", name)
            gsub(/try.wait/, "try_wait", name)
            gsub(/pending.count/, "pending_count", name)
            gsub(/mbarrier.init.release/, "mbarrier_init.release", name)
            return name
        }
        function flush() {
            if (opcode != "")
                printf "| `%s` | %s | %s |\n", opcode, types, does
            opcode = ""
        }
        $2 == "section" {
            flush()
            gsub(/"/, "", $3)
            title = toupper(substr($3, 1, 1)) substr($3, 2)
            printf "\n## %s\n\n| instruction | types | what it does |\n|:---|:-----|:-------|\n", title
            next
        }
        $2 == "row" {
            rows++
            gsub(/ /, "", $3)
            name = $3
            type = ""
            if (match(name, TYPED)) {
                type = substr(name, RSTART + 1)
                name = substr(name, 1, RSTART - 1)
            }
            name = dotted(name)
            gsub(/_/, ".", type)
            text = does_what($5)
            if ($4 == "same") {
                gsub(/ /, "", $5)
                sub(TYPED, "", $5)
                text = "the same as `" dotted($5) "`"
            }
            if (name != opcode || text != does) {
                flush()
                opcode = name
                types = ""
                does = text
            }
            if (type != "")
                types = types (types == "" ? "" : " ") "`" type "`"
        }
        END {
            flush()
            printf "\n%d rows in all.\n", rows
        }'
