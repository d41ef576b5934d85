#!/bin/sh
# Lists the submissions of each lesson that are alike, pair by pair, in GRADES/similar/LESSON.txt and on standard output:
#
#     sh grader/integrity/similar.sh GRADES [LESSON]        (LESSON: 8, 08 or 08-reduction; without it, all)
#
# Two tools compare. sim_c++ compares the text, whatever things are called. sim_text compares what the compiler makes of it,
# the PTX, in which renamed variables and rewritten statements are the same again. What a submission shares with the lesson's
# skeleton or solution, or with our answer to the class's variant, is taken out of it before; the percentages are of what remains, if it
# is no less than `least` lines or instructions. What is the same byte for byte comes first. Files are called by the first digits of
# their hashes, their authors by pseudonyms.
set -u
grades=$1
wanted=${2:-}
for tool in sim_c++ sim_text; do
    command -v $tool >/dev/null || { echo "similar: $tool is missing. Type: apt-get install similarity-tester" >&2; exit 1; }
done
build/grader/sandbox --check >/dev/null 2>&1 || {
    echo 'similar: this machine refuses the sandbox that submissions are compiled in. See: build/grader/sandbox --check' >&2
    exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
export LC_ALL=C

# Runs of tokens, or of instructions, that count as taken from us, and that count as shared.
ours=12 shared=24 ours_ptx=6 shared_ptx=12 least=5

# ptx FILE LESSON OUT: the instructions of a file's PTX, a line each: the number of its source line, a tab, and the instruction as
# one word, without the names of registers, variables and labels, and without numbers. Nothing where it cannot be compiled.
ptx() {
    mkdir -p "$scratch/nvcc" && rm -f "$scratch/nvcc/ptx"
    cp "$1" "$scratch/$2.cu"
    chmod 644 "$scratch/$2.cu"
    set -- "$1" "$2" "$3" ${CUDA_HOME:+--read "$(realpath "$CUDA_HOME")"}
    build/grader/sandbox --read "$PWD/grader/lessons/$2.h" --read "$scratch/$2.cu" --write "$scratch/nvcc" \
        ${4:+"$4" "$5"} --keep TMPDIR --keep NVCC_CCBIN -- env TMPDIR="$scratch/nvcc" "${NVCC:-nvcc}" \
        -std=c++17 -O2 -arch=compute_90 -lineinfo -ptx -I "$PWD/grader/lessons" -o "$scratch/nvcc/ptx" \
        "$scratch/$2.cu" >/dev/null 2>&1
    [ ! -f "$scratch/nvcc/ptx" ] || awk '
        $1 == ".loc" { line = $3; next }
        /^[ \t]*(\/\/|\.|$)/ || /^[{}()$]/ { next }
        /;$/ {
            gsub(/%(tid|ntid|ctaid|nctaid|laneid|warpid)/, "S")
            gsub(/\[[^]]*\]/, "M")
            gsub(/%[a-z]+[0-9]+/, "R")
            gsub(/\$[A-Za-z_0-9]+/, "L")
            gsub(/, *(0[fdx][0-9A-Fa-f]+|-?[0-9]+)/, "N")
            gsub(/, *[A-Za-z_][A-Za-z_0-9]*/, "V")
            gsub(/[^A-Za-z0-9]/, "")
            print line + 0 "\t" $0
        }' "$scratch/nvcc/ptx" >"$3"
}

# without_ours TOOL UNITS FOLDER OURS: empties, in each file of the folder, the lines that are in a run with a file of OURS.
without_ours() {
    (cd "$3" && "$1" -n -e -S -T -r "$2" ./* / "$4"/*) >"$scratch/said" || exit 1
    runs <"$scratch/said" | cut -f 1-3 | sort -u >"$scratch/taken"
    for file in "$3"/*; do
        awk -F '\t' -v name="${file##*/}" '
            FILENAME == ARGV[1] { if ($1 == name) for (n = $2; n <= $3; n++) out[n] = 1; next }
            { print FNR in out ? "" : $0 }' "$scratch/taken" "$file" >"$scratch/rest"
        cat "$scratch/rest" >"$file"
    done
}

# What sim says of runs, in columns: a file, its first and last line; the other file, its first and last line.
runs() {
    sed -n 's/^\.\/\(.*\): line \([0-9]*\)-\([0-9]*\) *|\(\.\/\)*\(.*\): line \([0-9]*\)-\([0-9]*\) *\[.*$/\1	\2	\3	\5	\6	\7/p'
}

# pairs TOOL UNITS FOLDER: of each pair, in columns: the files, the percentages of each that the other has, what is left of
# each, and the lines.
pairs() {
    (cd "$3" && "$1" -n -e -s -T -r "$2" ./*) >"$scratch/said" || exit 1
    runs <"$scratch/said" >"$scratch/runs"
    awk -F '\t' '
        FILENAME != ARGV[1] {
            name = FILENAME
            sub(/.*\//, "", name)
            if ($0 ~ /[A-Za-z0-9]/) { has[name, FNR] = 1; count[name]++ }
            next
        }
        { run[++n] = $0 }
        function add(pair, name, from, to,    k) {
            for (k = from; k <= to; k++)
                if ((name, k) in has && !((pair, name, k) in seen)) { seen[pair, name, k] = 1; found[pair, name]++ }
        }
        END {
            for (k = 1; k <= n; k++) {
                split(run[k], r, "\t")
                pair = r[1] < r[4] ? r[1] "\t" r[4] : r[4] "\t" r[1]
                add(pair, r[1], r[2], r[3])
                add(pair, r[4], r[5], r[6])
                lines[pair] = lines[pair] (lines[pair] ? ", " : "") (r[1] < r[4] ? \
                    r[2] "-" r[3] " = " r[5] "-" r[6] : r[5] "-" r[6] " = " r[2] "-" r[3])
            }
            for (pair in lines) {
                split(pair, p, "\t")
                if (found[pair, p[1]] && found[pair, p[2]])
                    printf "%s\t%d\t%d\t%d\t%d\t%s\n", pair, 100 * found[pair, p[1]] / count[p[1]],
                        100 * found[pair, p[2]] / count[p[2]], count[p[1]], count[p[2]], lines[pair]
            }
        }' "$scratch/runs" "$3"/* | sort
}

# What is ours of a lesson: the skeleton, the solution, and the answers to its variants. Its hashes, and what each is.
write_ours() {
    mkdir "$scratch/our-text"
    awk -f solutions/strip.awk "solutions/$1.cu" >"$scratch/our-text/skeleton"
    sed '/^[[:space:]]*\/\/[<>|]/d' "solutions/$1.cu" >"$scratch/our-text/solution"
    variants=$(cut -f 5 "$scratch/graded" | sort -u)
    for word in $variants; do
        sh grader/variant.sh answer "$1" "$word" >"$scratch/our-text/answer-to-$word" || exit 1
    done
    for file in "$scratch"/our-text/*; do printf '%.12s\t%s\n' "$(sha256sum <"$file")" "${file##*/}"; done >"$scratch/ours"
    printf '%.12s\tsolution\n' "$(sha256sum <"solutions/$1.cu")" >>"$scratch/ours"
}

# The text of a lesson's files, and what remains of it.
compare_text() {
    mkdir "$scratch/text"
    while IFS='	' read -r file path; do tr -cd '\11\12\15\40-\176' <"$path" >"$scratch/text/$file"; done <"$scratch/files"
    strip_comments "$scratch/text"/*
    without_ours sim_c++ $ours "$scratch/text" "$scratch/our-text"
    pairs sim_c++ $shared "$scratch/text" >"$scratch/pairs-text"
}

# Empties comments, which say nothing of how a program works, and which sim_c++ passes over as well.
strip_comments() {
    for file in "$@"; do
        awk '
            within { if (!sub(/^.*\*\//, "")) { print ""; next } within = 0 }
            { gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, ""); sub(/\/\/.*/, "") }
            sub(/\/\*.*/, "") { within = 1 }
            { print }' "$file" >"$scratch/rest"
        cat "$scratch/rest" >"$file"
    done
}

# The same for PTX. Line numbers are those of the source, once a pair is known.
compare_ptx() {
    mkdir "$scratch/ptx" "$scratch/our-ptx" "$scratch/lines"
    for file in "$scratch"/our-text/*; do
        file=${file##*/}
        ptx "$scratch/our-text/$file" "$1" "$scratch/lines/$file" && cut -f 2 "$scratch/lines/$file" >"$scratch/our-ptx/$file"
        tell
    done
    while IFS='	' read -r file path; do
        ptx "$path" "$1" "$scratch/lines/$file"
        if [ -s "$scratch/lines/$file" ]; then cut -f 2 "$scratch/lines/$file" >"$scratch/ptx/$file"
        else echo "$file" >>"$scratch/no-ptx"; fi
        tell
    done <"$scratch/files"
    : >"$scratch/pairs-ptx"
    [ -n "$(ls "$scratch/ptx")" ] || return 0
    without_ours sim_text $ours_ptx "$scratch/ptx" "$scratch/our-ptx"
    pairs sim_text $shared_ptx "$scratch/ptx" | awk -F '\t' -v OFS='\t' -v folder="$scratch/lines" '
        function source(name, first, last,    text, n, low, high) {
            while ((getline text <(folder "/" name)) > 0) {
                if (++n < first || n > last) continue
                split(text, part, "\t")
                if (part[1] && (!low || part[1] + 0 < low)) low = part[1] + 0
                if (part[1] + 0 > high) high = part[1] + 0
            }
            close(folder "/" name)
            return low "-" high
        }
        {
            n = split($7, run, ", ")
            $7 = ""
            for (k = 1; k <= n; k++) {
                split(run[k], at, /[-= ]+/)
                $7 = $7 (k > 1 ? ", " : "") source($1, at[1], at[2]) " = " source($2, at[3], at[4])
            }
            print
        }' >"$scratch/pairs"
    mv "$scratch/pairs" "$scratch/pairs-ptx"
}

# On a terminal: how many files are compiled, how fast, and the time left.
tell() {
    so_far=$((so_far + 1)) seconds=$(($(date +%s) - began))
    [ -t 2 ] || return 0
    printf '\r%d of %d compiled, %d a minute, %d s left   ' $so_far "$compiled" \
        $((60 * so_far / (seconds + 1))) $((seconds * (compiled - so_far) / so_far)) >&2
    [ $so_far -lt "$compiled" ] || echo >&2
}

# Whose files they are; the same bytes of several students come first. In columns: how many, the file, and they.
authors() {
    awk -F '\t' '
        { id = substr($3, 1, 12); if (!index(who[id], $1)) { who[id] = who[id] (who[id] ? " " : "") $1; n[id]++ } }
        END { for (id in who) print n[id] "\t" id "\t" who[id] }' "$scratch/graded" | sort -k 1,1nr -k 2
}

# What is the same byte for byte: as others handed it in, or as ours. The untouched skeleton is no finding, and comes before.
same_bytes() {
    awk -F '\t' -v untouched="$scratch/untouched" '
        FILENAME == ARGV[1] { sub(/^answer-to-/, "answer to ", $2); ours[$1] = $2; next }
        { gsub(/ /, ", ", $3) }
        $2 in ours && ours[$2] == "skeleton" { print "Untouched (" $2 "): from " $3 "." >untouched; next }
        $2 in ours { printf "%3d. %s is our %s, byte for byte: from %s\n", ++n, $2, ours[$2], $3; next }
        $1 > 1 { printf "%3d. %s is the same, byte for byte, from %s\n", ++n, $2, $3 }' "$scratch/ours" "$scratch/authors"
}

# The pairs by the largest of their percentages, then by their sum, and what half of the pairs stay below: files of this
# lesson have that much in common anyway.
report() {
    files=$(wc -l <"$scratch/files")
    echo "Lesson $1: $files different files. What pairs share, beyond what they share with our skeleton and solution."
    echo 'This is no mark, and no proof: read both files, and ask (make viva).'
    [ ! -s "$scratch/no-ptx" ] || echo "Not compiled, so their text alone is compared: $(paste -sd ' ' "$scratch/no-ptx")"
    awk -F '\t' -v OFS='\t' -v ORS='\001' -v least=$least '
        FILENAME == ARGV[1] { who[$2] = $3; next }
        function same(a, b,    n, k, name) {          # two files of one student
            n = split(who[a], name, " ")
            for (k = 1; k <= n; k++) if (index(" " who[b] " ", " " name[k] " ")) return 1
        }
        $5 < least || $6 < least || same($1, $2) { next }
        {
            kind = FILENAME ~ /text$/ ? "text" : "PTX"
            pair = $1 "\t" $2
            most = $3 > $4 ? $3 : $4
            if (!(pair in rank) || most + 0 > rank[pair]) rank[pair] = most + 0
            sum[pair] += $3 + $4
            said[pair] = said[pair] sprintf("     %-4s %3d %% of %d %s, %3d %% of %d. Lines: %s\n", kind, $3, $5, \
                kind == "PTX" ? "instructions" : "lines", $4, $6, $7)
        }
        END {
            for (pair in rank) {
                split(pair, p, "\t")
                print rank[pair], sum[pair], p[1] " (" who[p[1]] ") and " p[2] " (" who[p[2]] ")", said[pair]
            }
        }' "$scratch/authors" "$scratch/pairs-text" "$scratch/pairs-ptx" | tr '\n\001' '\001\n' |
        sort -t '	' -k 1,1nr -k 2,2nr -k 3 >"$scratch/ranked"
    same_bytes "$1" >"$scratch/same"
    [ ! -s "$scratch/untouched" ] || cat "$scratch/untouched"
    cat "$scratch/same"
    [ -s "$scratch/ranked" ] || echo 'No two different files share anything.'
    awk -F '\t' -v all=$((files * (files - 1) / 2)) '
        { most[NR] = $1 }
        END { if (NR) print "Half of its pairs share at most " most[int(all / 2) + 1] + 0 " %." }' "$scratch/ranked"
    awk -F '\t' -v same="$(wc -l <"$scratch/same")" '{ gsub(/\001/, "\n", $4); printf "%3d. %s\n%s", same + NR, $3, $4 }' "$scratch/ranked"
}

lesson_report() {
    rm -rf "$scratch"/text "$scratch"/our-* "$scratch"/ptx "$scratch"/lines "$scratch"/no-ptx "$scratch"/untouched
    awk -F '\t' -v lesson="$1" '$2 == lesson' "$scratch/all" >"$scratch/graded"
    awk -F '\t' -v OFS='\t' '!($3 in seen) { seen[$3] = 1; print substr($3, 1, 12), $4 }' "$scratch/graded" >"$scratch/files"
    authors >"$scratch/authors"
    write_ours "$1"
    compare_text "$1"
    compare_ptx "$1"
    report "$1" >"$scratch/report"
    (umask 077 && mkdir -p "$grades/similar" && cp "$scratch/report" "$grades/similar/$1.new") &&
        mv "$grades/similar/$1.new" "$grades/similar/$1.txt" && cat "$scratch/report"
}

build/grader/integrity list "$(realpath "$grades")" >"$scratch/all" || exit 1
lessons=$(cut -f 2 "$scratch/all" | sort -u | awk -v wanted="$wanted" '
    wanted == "" || $0 == wanted || (wanted ~ /^[0-9]+$/ && substr($0, 1, 2) + 0 == wanted + 0)')
[ -n "$lessons" ] || { echo "similar: nothing that was graded in $grades is of lesson $wanted" >&2; exit 1; }
# How many files will be compiled: each different one, and ours.
began=$(date +%s) so_far=0
compiled=$(awk -F '\t' -v lessons="$(echo "$lessons" | xargs)" '
    index(" " lessons " ", " " $2 " ") { all[$2, $3]; all[$2, "skeleton"]; all[$2, "solution"]; if ($5 != "") all[$2, "answer", $5] }
    END { for (file in all) n++; print n }' "$scratch/all")
for lesson in $lessons; do
    lesson_report "$lesson" || exit 1
done
