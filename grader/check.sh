#!/bin/sh
# `make check`: what must agree in this tree agrees. It reads and compares, and runs nothing of the course.
# Each thing looked at is counted; each that is amiss is a line: where, what, what to do.
set -u
good=0 bad=0
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT

amiss() {
    echo "$*"
    bad=$((bad + 1))
}

# holds WORDS COMMAND...: one check.
holds() {
    words=$1
    shift
    if "$@" >/dev/null 2>&1; then good=$((good + 1)); else amiss "$words"; fi
}

# none WORDS LINES: there are no lines; each that there is is amiss.
none() {
    if [ -z "$2" ]; then
        good=$((good + 1))
        return
    fi
    while IFS= read -r line; do amiss "$line: $1"; done <<LINES
$2
LINES
}

# The files of the repository; in an unpacked archive, whatever lies there.
files() {
    git ls-files -co --exclude-standard -- "$@" 2>/dev/null | grep . ||
        find "$@" -type f | sed 's|^\./||' | grep -v '^build/'
}

lessons=$(ls lessons 2>/dev/null | sed -n 's/^\([0-9][0-9]-.*\)\.md$/\1/p')
[ -n "$lessons" ] || amiss 'lessons/: there is no lesson'

# ---- The parts of each lesson, and nothing else beside them

parts() {
    printf '%s\n' "lessons/$1.md" "exercises/$1.cu" "solutions/$1.cu" "grader/lessons/$1.h" "grader/lessons/$1.c" \
        "profiles/lessons/$1.cfg"
}

for lesson in $lessons; do
    for part in $(parts "$lesson"); do
        holds "$part: missing; lesson ${lesson%%-*} needs it" [ -s "$part" ]
    done
    holds "grader/wrong/$lesson/: holds no wrong submission" sh -c "ls grader/wrong/$lesson/*"
done

belongs() {
    for lesson in $lessons; do
        parts "$lesson"
        ls "grader/lessons/$lesson.peer.cu" 2>/dev/null
    done
    printf '%s\n' solutions/strip.awk solutions/edit.awk
}
for dir in lessons exercises solutions grader/lessons profiles/lessons; do
    ls -d "$dir"/* | grep -vE '^solutions/test$|^exercises/.*~$'
done | sort >"$scratch"
none 'belongs to no lesson; rename or remove it' "$(belongs | sort | comm -13 - "$scratch")"
for dir in grader/wrong/*/ grader/attacks/*/ grader/variants/*/; do
    holds "$dir: belongs to no lesson; rename or remove it" [ -f "lessons/$(basename "$dir").md" ]
done
none 'is not a submission, which is a whole file (.cu) or an edit of the solution (.edit)' \
    "$(ls grader/wrong/*/* grader/attacks/*/* | grep -vE '\.(cu|edit)$')"
none 'leaves something on the machine, or calls other programs: graded in the sandbox alone, so that its first line is // class:' \
    "$(grep -lE 'O_CREAT|O_TRUNC|IPC_CREAT|fopen\([^)]*"[wa]|\<(unlink|rename|mkdir|rmdir|symlink|shm_open|system|popen|unshare|mount)\(|"/(proc/sys|sys)/' grader/attacks/*/* |
        while read -r attack; do head -n 1 "$attack" | grep -q '^// class: ' || echo "$attack"; done)"
none 'touches other processes, whose they are it must take from own.h' \
    "$(grep -lE '/proc/[^s]|ptrace|process_vm|pidfd_|sigqueue|prlimit|[^_]kill\(' grader/wrong/*/* grader/attacks/*/* | xargs -r grep -LF '#include "../attacks/own.h"' /dev/null | grep -vx /dev/null)"
none 'is there twice, as a whole file and as an edit, or as a wrong one and an attack' "$(ls grader/wrong/*/* grader/attacks/*/* | sed 's/\.[a-z]*$//; s/^grader\/[a-z]*\///' | sort | uniq -d)"

# ---- Skeletons, as `git` has them: a student's own edits are not looked at

committed() {
    git show ":$1" 2>/dev/null || cat "$1"
}

for lesson in $lessons; do
    strip="awk -f solutions/strip.awk solutions/$lesson.cu"
    if $strip >"$scratch" && committed "exercises/$lesson.cu" | cmp -s - "$scratch"; then
        good=$((good + 1))
    else
        amiss "exercises/$lesson.cu: not what the solution gives. Type: $strip > exercises/$lesson.cu"
    fi
    holds "exercises/$lesson.cu: has no TODO line, and nothing to mend" grep -qE '^ *// TODO: |^ *//> .* BUG:$' "$scratch" "solutions/$lesson.cu"
done

# ---- Wrong submissions say what they expect, and fit the solution

verdicts='TODO|BUILD|BOUNDS|RACE|TIMEOUT|CRASH|PROTOCOL|MEMORY|WRONG|SUSPECT|SLOW|STEP [0-9]'
for wrong in grader/wrong/*/*.cu grader/wrong/*/*.edit grader/attacks/*/*.cu grader/attacks/*/*.edit; do
    [ -f "$wrong" ] || continue
    contract=$(basename "$(dirname "$wrong")").h
    case $wrong in grader/attacks/*) words="(expect: ($verdicts|PASS)|class: ($verdicts|PASS))" ;; *) words="expect: ($verdicts)" ;; esac
    # Full marks, and not what an expert does: it says which bound of gold it misses.
    sed -n 2p "$wrong" | grep -q '^// says: For gold: ' && words='expect: PASS'
    holds "$wrong:1: should be \`// expect: VERDICT\`" sh -c "head -n 1 '$wrong' | grep -qxE '// $words'"
    if sh grader/wrong.sh "$wrong" >"$scratch" 2>&1; then
        holds "$wrong: does not include \"$contract\"" grep -q "^#include \"$contract\"" "$scratch"
    else
        amiss "$(cat "$scratch")"
    fi
done

# ---- Variants: rows, which the lesson's checks take, and an answer, which fits the solution

for dir in grader/variants/*/; do
    lesson=$(basename "$dir")
    holds "$dir: should have rows.def and answer.edit, and nothing else" [ "$(ls "$dir" | xargs)" = 'answer.edit rows.def' ]
    holds "grader/lessons/$lesson.c: takes no rows of $dir" grep -qE "^#include \"\.\./variants/($lesson/rows\.def|own\.h)\"" \
        "grader/lessons/$lesson.c"
    sh grader/wrong.sh "${dir}answer.edit" >"$scratch" 2>&1 || amiss "$(cat "$scratch")"
    holds "${dir}answer.edit: has no lines // expect: PASS and // version: N" \
        sh -c "head -n 2 '${dir}answer.edit' | tr '\n' ' ' | grep -qx '// expect: PASS // version: [0-9]* '"
done

# ---- Claims: each has a counter, a bound and a reason

claims() {
    awk '
        function finish() { if (open && !(counter && bound && why)) { print start; bad = 1 } open = 0 }
        { code = $0; sub(/\/\/.*/, "", code) }
        code ~ /(claims|gpu) *=/ { finish(); inside = 1; next }
        open && code ~ /causes *=/ { causes = 1 }                   # what a claim may have been missed for
        causes { if (code ~ /^ *\)/) causes = 0; next }
        inside && code ~ /\{/ { finish(); open = 1; start = FNR; counter = bound = why = 0; n++ }
        open && code ~ /(counters?|measure) *=/ { counter = 1 }   # of a GPU: what is timed
        open && code ~ /(at_(least|most)|gold) *=/ { bound = 1 }
        open && code ~ /why *=/ { why = 1 }
        END { finish(); exit bad || !n }' "$1"
}
for lesson in $lessons; do
    holds "profiles/lessons/$lesson.cfg: needs claims, each with a counter, at_least, at_most or gold, and why" \
        claims "profiles/lessons/$lesson.cfg"
done

# ---- Peers: those that targets name are there, and no others

# names WORD FILE: the names that a profile or a peer's file gives after WORD.
targets_name() {
    sed -n 's|//.*||; s/.*[ {]peer *= *"\([^"]*\)".*/\1/p' "$1" | grep -vx copy | sort -u
}
peers_have() {
    sed -n 's/^extern "C".*[ *]\([a-z_0-9]*\)(.*/\1/p' "$1" 2>/dev/null | sort -u
}
for lesson in $lessons; do
    peers=grader/lessons/$lesson.peer.cu
    targets_name "profiles/lessons/$lesson.cfg" >"$scratch"
    none "is named in profiles/lessons/$lesson.cfg, but is no extern \"C\" function of $peers" \
        "$(peers_have "$peers" | comm -13 - "$scratch")"
    none "is in $peers, but no target of profiles/lessons/$lesson.cfg names it" \
        "$(peers_have "$peers" | comm -23 - "$scratch")"
done

# ---- What was measured on GPUs: kept in the form that its tools write, and little of it

# (A run's whole result is a hundred times as large as what is ever read of it.)
recorded_most=600000
files profiles 2>/dev/null | grep '\.json$' >"$scratch"
summaries() {
    grep '^profiles/results/' "$scratch" | grep -v -- '-torch\.json$'
}
# without FORM: the files named on stdin that have no such line.
without() {
    xargs grep -LE "$1" /dev/null | grep -vx /dev/null
}
none 'is no summary as "make record-N" writes; a whole result stays in build/' \
    "$(summaries | without '^ "versions": \['; summaries | xargs grep -lE '"(by_kernel|lines|source_line)":' /dev/null)"
none 'should be profiles/results/MACHINE/LESSON.json' \
    "$(summaries | while read -r file; do
        [ "$(echo "$file" | tr -dc / | wc -c)" = 3 ] && [ -f "lessons/$(basename "$file" .json).md" ] || echo "$file"
    done)"
none 'is no record as "make accuracy" writes: a row of numbers a kernel' \
    "$(grep '^profiles/accuracy/' "$scratch" | without '^   "counters": \[.*\]')"
bytes=$(xargs cat <"$scratch" | wc -c)
holds "profiles/: $bytes bytes of .json; what is recorded takes at most $recorded_most" [ "$bytes" -le "$recorded_most" ]

# ---- The chapter for instructors names the attacks that land on a GPU, and no others

attacks=$(find profiles/results -name attacks.csv)
none 'has a row for no file of grader/attacks/' \
    "$(cat $attacks /dev/null | awk -F, '$1 != "lesson" { print $1 "/" $2 }' | sort -u | while read -r attack; do
        ls grader/attacks/"$attack".* >/dev/null 2>&1 || echo "$attack"
    done)"
landed=$(cat $attacks /dev/null | awk -F, '$6 == "yes" { print $1 "/" $2 }' | sort -u)
named=$(grep -oE '`[0-9]{2}-[a-z-]*/[a-z0-9-]*`' book/teaching.md | tr -d '`' | sort -u)
none 'lands on a GPU (profiles/results/*/attacks.csv), and book/teaching.md does not name it' "$(echo "$landed" | grep -vxF -e "$named")"
none 'is named in book/teaching.md, and lands on no GPU (profiles/results/*/attacks.csv)' "$(echo "$named" | grep -vxF -e "$landed")"

# ---- The lessons' texts have their sections

total=0
commands=$(sed -n 's/^\([a-z]*\)-%:.*/\1/p' Makefile */*.mk | paste -s -d '|')
for lesson in $lessons; do
    text=lessons/$lesson.md
    holds "$text:1: should be \`# The title\`" sh -c "head -n 1 '$text' | grep -q '^# '"
    for section in Predict 'The code to complete' Hints 'The solution' 'What experts get' 'Exercises beyond' Quiz \
        Sources; do
        holds "$text: has no section \`## $section\`" grep -qE "^## $section([ ,:]|\$)" "$text"
    done
    for hint in 1 2 3; do
        holds "$text: has no \`### Hint $hint\`" grep -qE "^### Hint $hint([ ,:]|\$)" "$text"
    done
    folded=$(awk '/^## /{ within = /^## (Hints|Quiz)/ } within && /@(fig|tbl|lst|sec|eq):/' "$text")
    holds "$text: a hint or a question refers to what is elsewhere, which a terminal cannot number: $folded" [ -z "$folded" ]
    often=$(awk '/^## /{ within = /^## Quiz/ } !within { next }
        /^[0-9]+\. / { questions++; option = 0 }
        /^ *- \[[ x]\]/ { option++; if (/\[x\]/) right[option]++ }
        END { for (o in right) if (2 * right[o] > questions) print substr("abcdef", o, 1) }' "$text")
    holds "$text: the answer $often is right in more than half of the quiz; change the order of options" [ -z "$often" ]
    holds "$text: quotes no region of its solution" grep -q "include=solutions/$lesson.cu" "$text"
    count=$(awk '/^```/ { code = !code; next } !code' "$text" | wc -w)
    holds "$text: $count words of prose; a lesson has 1000 to 8000" [ "$count" -ge 1000 -a "$count" -le 8000 ]
    echo "$text: $count words"
    total=$((total + count))
    # Each step of a ladder has its section, and few words stand before the first command.
    number=${lesson%%-*}
    number=${number#0}
    steps=$(awk '/^ladder/ { ladder = 1 } ladder { n += gsub(/version =/, "") } /^}/ { ladder = 0 } END { print n + 0 }' \
        "profiles/lessons/$lesson.cfg")
    for step in $(seq "$steps"); do
        holds "$text: has no section \`## Step $step: its idea\`" grep -q "^## Step $step: " "$text"
    done
    if [ "$steps" -gt 0 ]; then
        count=$(awk -v command="make lesson-$number" 'index($0, command) { exit } /^```/ { code = !code; next } !code' "$text" | wc -w)
        holds "$text: $count words of prose before the first \`make lesson-$number\`; at most 900" [ "$count" -le 900 ]
    fi
    # A command named in the text must exist.
    none "is named in $text, but is no command" \
        "$(grep -o 'make [a-z]*-[0-9][0-9]*' "$text" | sort -u | grep -vE "^make ($commands)-")"
done
echo "all lessons: $total words"

# ---- The courses of the chapter for instructors: a row for each lesson, in order, after what it needs

# courses FILE: what is amiss with the table, whose columns are the lesson, what students write, and the week in each course.
courses() {
    awk -F ' *[|] *' '
        FNR == 1 { file++; within = 1 }
        file < ARGC - 1 {                               # a lesson: those that its introduction names
            if (/^## /) within = 0
            if (FNR == 1) { own = FILENAME; sub(/.*\/0*/, "", own); sub(/-.*/, "", own); is[own] = 1 }
            for (rest = $0; within && match(rest, /@lesson:[0-9]+/); rest = substr(rest, RSTART + RLENGTH))
                needs[own] = needs[own] " " substr(rest, RSTART + 8, RLENGTH - 8)
            next
        }
        $2 == "lesson" && $4 ~ /^of [0-9]+$/ { weeks[1] = substr($4, 4); weeks[2] = substr($5, 4) }
        $2 !~ /^\[@lesson:/ { next }
        {
            match($2, /[0-9]+/)
            n = substr($2, RSTART, RLENGTH)
            if ($2 != "[@lesson:" n "]: [@title:" n "]") print FILENAME ":" FNR ": should begin with [@lesson:" n "]: [@title:" n "]"
            if (!is[n]) print FILENAME ":" FNR ": there is no lesson " n
            if (n + 0 <= last + 0) print FILENAME ":" FNR ": lesson " n " comes after lesson " last
            last = n
            row[n] = FNR
            for (c = 1; c <= 2; c++) {
                week = $(c + 3)
                if (week == "–" && c == 2) continue
                if (week !~ /^[0-9]+$/ || week < at[c] || week > at[c] + 1)
                    print FILENAME ":" FNR ": week " week " comes after week " at[c] + 0
                at[c] = week
                takes[c, n] = 1
                k = split(needs[n], need, " ")
                for (i = 1; i <= k; i++)
                    if (!takes[c, need[i]]) print FILENAME ":" FNR ": lesson " n " needs lesson " need[i] ", which the course leaves out"
            }
        }
        END {
            for (n in is) if (!row[n]) print FILENAME ": its table of courses has no row for lesson " n
            for (c = 1; c <= 2; c++)
                if (!weeks[c] || at[c] != weeks[c]) print FILENAME ": the course of " weeks[c] " weeks has " at[c] + 0
        }' lessons/[0-9]*.md "$1" 2>&1
}
none 'see the table of courses' "$(courses book/teaching.md)"

# ---- No room reaches into another, against the direction of the design

# includes DIR...: file:line:header for each quoted #include under it.
includes() {
    files "$@" | grep -E '\.(c|h|cu|edit|def)$' | xargs grep -nH '^#include "' /dev/null |
        sed 's/:#include "/:/; s/".*//'
}
none 'the simulator knows nothing of lessons or of the grader' \
    "$(includes simulator | grep -E '(grader|lessons|exercises|solutions|protocol)[./]')"
none 'the grader reaches the simulator through its command, its events and the requests of an owner (wire/wire.h) only' \
    "$(includes grader | grep -vE '^grader/attacks/.*:\.\./solutions/' | grep -E '(simulator|exercises|solutions)/' | grep -vE ':[./]*/simulator/wire/(wire|hash)\.h$')"
none "a lesson's checks include grader.h, and what variants are made of, only" \
    "$(includes grader/lessons | grep -vE '\.(h|peer\.cu):' | grep -vE ':(grader\.h|\.\./variants/.*)$')"
none 'a contract includes CUDA only' "$(includes grader/lessons | grep '\.h:')"
for lesson in $lessons; do
    none 'a submission includes its own contract and CUDA only' \
        "$(includes "exercises/$lesson.cu" "solutions/$lesson.cu" "grader/wrong/$lesson" | grep -v ":$lesson\.h$")"
    none 'a peer includes its contract, CUDA and its library only' \
        "$(includes "grader/lessons/$lesson.peer.cu" 2>/dev/null | grep -v ":$lesson\.h$")"
done

# ---- Instructions are data: nobody compares handlers, or goes by an opcode's text

device_c() {
    files simulator | grep -E '\.[ch]$' | grep -vE '^simulator/(bench|client|driver|nccl|test)/'
}
none 'compares the address of a handler; ask for the op (simulator/isa/ops.def)' \
    "$(device_c | xargs grep -nHE '\brun *[!=]=|[!=]= *&?run_[a-z]' /dev/null | cut -c1-120)"
none "goes by an instruction's opcode; ask for its row's properties (simulator/isa/isa.h)" \
    "$(device_c | grep -vE '^simulator/(isa|ptx|report)/' |
        xargs grep -nHE '(->|\.)opcode\b|\bisa_(find|nearest)' /dev/null | cut -c1-120)"

# ---- The field's words: a private name that was replaced does not come back

# What used to be the name of something, or with a _ behind it the beginning of names, and what it is called now.
retired='
    Clique Communicator             clique_ communicator_           apart_ multiprocess_            Seat PeerInfo
    Knowledge VectorClock           knowledge_ vector_clock_        happens_ causality_             tick epoch
    hears synchronises              meets_some has_partial_barriers stand_ deadlock_                stands has_registered
    lasting invariant               lasting_ invariant_             Shape AccessPattern             shape_ access_pattern_
    Spread Sharding                 spread_ shard_                  Part Shard                      put_off defer
    put_back shard_rollback         Followers AccessSweep           follow_ sweep_                  Led SweepStep
    Child DynamicLaunch             children dynamic_launches       children_ dynamic_launches_     abroad on_peers
    added_up aggregation            alike unchanged                 aloud observable                patience turn_limit
    tired turn_expired              doubted check_stores            gave_way yielded                insist force_progress
    stood has_waited                melt fold                       glance known_lines              gravity severity
'
retired_names() {
    printf '%s\n' "$retired" | xargs -n 2 >"$scratch"
    files simulator | grep -E '\.[ch]$' | grep -v '^simulator/test/' | xargs awk '
        FILENAME == ARGV[1] { now[$1] = $2; next }
        {
            gsub(/"([^"\\]|\\.)*"/, "")
            sub(/\/\/.*/, "")
            n = split($0, name, /[^A-Za-z0-9_]+/)
            for (k = 1; k <= n; k++) {
                old = name[k]
                if (!(old in now)) sub(/_.*/, "_", old)
                if (old in now) print FILENAME ":" FNR ": " old " is " now[old]
            }
        }' "$scratch"
}
none "as the field calls it (the list of retired names in grader/check.sh)" "$(retired_names)"

# ---- What is asked of a request of the wire stands in its row

requests=$(sed -n 's/^REQUEST(\([A-Z_]*\),.*/\1/p' simulator/wire/wire.def | paste -sd '|')
none 'asks which request it is. What it wants to know belongs into the rows of simulator/wire/wire.def' \
    "$(files simulator | grep '\.[ch]$' | grep -v '^simulator/test/' |
        xargs grep -nE "(\<case|[=!<>]=|[<>]) *WIRE_($requests)\>|\<WIRE_($requests) *([=!<>]=|[<>])" /dev/null |
        cut -d: -f1,2)"

# ---- The rooms of the simulated device stand in one order

against='against the order of simulator/rooms.txt'
order=$(sh simulator/rooms.sh order)
echo "rooms: $order"
holds "ARCHITECTURE.md: does not give the order of the rooms, $order" grep -qxF "$order" ARCHITECTURE.md
none "$against" "$(sh simulator/rooms.sh includes)"
newer=$(find simulator \( -path simulator/test -o -path simulator/client -o -path simulator/nccl -o -path simulator/driver \) -prune \
    -o -name '*.[chd]*' -newer build/simulator/device -print 2>&1)
if [ -z "$newer" ]; then
    none "$against" "$(sh simulator/rooms.sh symbols build/objects/simulator)"
else
    echo 'NOT CHECKED: what the rooms link, which takes a built device. Type: make simulated'
fi

# ---- What is said is apart from what decides

none "the words of a device's report decide nothing: take a fact of it (simulator/report/json.h)" \
    "$(grep -nE '\b(strstr|strcasestr|strn?cmp|strn?casecmp|sscanf|fnmatch|regexec)\(.*\b(message|why|next|that|stands|says)\b' \
        grader/*.c grader/study/*.c | cut -d: -f1,2)"
none 'the words of a report stand in simulator/report/causes.def' \
    "$(files simulator | grep '\.[ch]$' | grep -vE '^simulator/(report|client|nccl|driver|test|bench)/' |
        xargs grep -nE '(\.|->)(message|why|next) = *"' /dev/null | cut -d: -f1,2)"

# ---- Nothing of one machine, nothing left undone

# (What test data says of a device is not ours.)
files . | grep -vE '^grader/(test/)?check\.sh$|\.events$|\.expected$' >"$scratch"
among() {
    grep -E "$1" <"$scratch" | xargs grep -nIE "$2" /dev/null | cut -c1-120
}
none 'names a path of one machine' "$(among . '(/work/|/home/|/root/|/Users/)')"
none 'is left undone' "$(among '\.(md|c|h|def|lua|awk|sh|cfg|css|js|html)$' '@@[A-Z]|\b(FIXME|XXX|TBD)\b')"

# ---- The version is among the changes

holds "CHANGELOG.md: has no entry \`## [$(cat VERSION)] - YYYY-MM-DD\` for the version of the file VERSION" \
    grep -qE "^## \[$(sed 's/\./\\./g' VERSION)\] - [0-9]{4}-[0-9]{2}-[0-9]{2}\$" CHANGELOG.md

# ---- Sizes: a function has at most 60 lines, a file of code at most 600. A table or a dispatch may be longer, and says so
# in the comment above it ("A table: ...", "Dispatch: ..."), a file in its first line; so does GROUP(), a table of questions.

c_files() { files grader profiles simulator | grep -E '\.[ch]$'; }
none 'is longer than 60 lines' "$(c_files | xargs awk '
    FNR == 1 { start = 0 }
    /^\/\/ (A table|Dispatch):/ || /^GROUP\(/ { exempt = 1 }
    /^\{/ { start = FNR }
    /^$/ || /^#/ { if (!start) exempt = 0 }
    /^\}/ { if (start && !exempt && FNR - start >= 60) print FILENAME ":" start; start = exempt = 0 }')"
none 'has more than 600 lines' "$(files . | grep -E '\.(c|h|sh|awk|lua|js|css|mk)$|(^|/)Makefile$' | xargs awk '
    FNR == 1 { exempt = /[Tt]able/ }
    FNR == 601 && !exempt { print FILENAME }')"

# ---- The schema of results has the words and the names that the grader writes

schema=grader/result.schema.json
# allowed NAME: the words of its "enum".
allowed() {
    tr -d '\n' <$schema | sed -n "s/.*\"$1\": {\"enum\": \[\([^]]*\)\].*/\1/p" | grep -o '[^", ]*' | sort
}
# rows TABLE FIELD: the names in a table of rows X(...) of grader/verdict.h.
rows() {
    sed -n "/^#define $1(X)/,/[^\\]\$/s/^ *X([A-Z_]*, \"\([^\"]*\)\".*/\1/p" grader/verdict.h | sort
}
holds "$schema: its verdicts are not those of grader/verdict.h" [ "$(allowed Verdict)" = "$(rows VERDICTS)" ]
none 'is a verdict, or a word of the gradebook, that book/verdicts.md does not explain' "$({ rows VERDICTS; grep -soE '"[A-Z]{4,}"' grader/class/marks.c | tr -d '"'; } |
    while read -r word; do grep -qE "^\\| ([A-Z-]+, )*$word(, [A-Z-]+)* \\|" book/verdicts.md || echo "$word"; done | sort -u)"
holds "$schema: its kinds are not those of grader/verdict.h" [ "$(allowed Kind)" = "$(rows KINDS)" ]
holds "$schema: its levels of trust are not those of grader/class/trust.c" \
    [ "$(allowed trusted)" = "$(sed -n 's/^static const char \*const levels\[\] = {\(.*\)};.*/\1/p' grader/class/trust.c | grep -o '[a-z]*' | sort)" ]
# (The words of JSON Schema itself are no names of ours.)
grep -oE '"[a-z_]+":' $schema | tr -d '":' | sort -u |
    grep -vxE 'type|enum|properties|required|items|pattern|const|minimum|maximum|definitions|title' >"$scratch"
# grader/summary.c writes profiles/results/.
writers=$(files grader | grep -E '^grader/([a-z_]*|class/(run|gpu))\.c$' | grep -v summary.c)
none "is a name that the grader writes, and $schema does not have" \
    "$(for file in $writers; do awk -f grader/keys.awk "$file"; done | sort -u | comm -23 - "$scratch")"
none "is a name of $schema, and nothing writes it" \
    "$(while read -r name; do grep -qF "\"$name\"" $writers simulator/report/json.c || echo "$name"; done <"$scratch")"

# ---- How files are written: .editorconfig's rules, and .clang-format's for C

# A carriage return or a blank at a line's end, or no newline at the file's, in what people write; test data is as it comes.
files . | grep -E '\.(c|h|def|cu|edit|sh|awk|lua|mk|cfg|css|js|html|md)$|(^|/)Makefile$' >"$scratch"
none 'ends in a blank' "$(xargs grep -nIE '[[:blank:]]$' /dev/null <"$scratch" | cut -d: -f1,2)"
none 'ends in a carriage return' "$(xargs grep -nI "$(printf '\r')\$" /dev/null <"$scratch" | cut -d: -f1,2)"
none 'has no newline at its end' "$(xargs grep -lzP '[^\n]\z' /dev/null <"$scratch")"

# Other versions lay some lines out otherwise.
formatted_by='clang-format version 14\.'
laid_out() {
    c_files | xargs clang-format --dry-run -Werror 2>&1 |
        sed -n 's/^\([^ ]*:[0-9]*\):[0-9]*: error: .*/\1/p' | sort -u
}
if clang-format --version 2>&1 | grep -q "$formatted_by"; then
    none 'is not laid out as .clang-format says. Type: clang-format -i, and the name of the file' "$(laid_out)"
else
    echo 'NOT CHECKED: how C is laid out, which takes clang-format 14'
fi

if [ "$bad" -eq 0 ] && [ "$good" -gt 0 ]; then
    echo "check: all of $good things are as they should be"
else
    echo "check: $bad amiss, $good as they should be"
    exit 1
fi
