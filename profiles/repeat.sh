#!/bin/sh
# `make repeat-5`, on a machine with a GPU: times lesson 5's solution there again and again, and counts the verdicts, to see whether
# one flips. It is graded on the simulated device once, and compiled once.
#
#     profiles/repeat.sh 05-transpose [TIMES] [VERSION] [SECONDS]      50 times, the last version, and no end, unless told
#     FILE=some.cu profiles/repeat.sh 05-transpose                     another file
#
# Writes profiles/results/MACHINE/05-transpose.repeats.csv, which is committed: a row for each run and target, beside those of other
# versions. The status is 1 if two runs have different verdicts, steps or gold.
set -eu
lesson=$1 times=${2:-50}
last=$(sed -n 's|^#define VERSION \([0-9]*\).*|\1|p' "solutions/$lesson.cu")
version=${3:-${last:-1}}
until=$(($(date +%s) + ${4:-86400}))
file=${FILE:-solutions/$lesson.cu}
here=$PWD/build/repeat/$lesson
machine=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 | tr 'A-Z ' 'a-z-')
[ -n "$machine" ] || { echo 'There is no GPU here. Type: make doctor'; exit 1; }
rm -rf "$here"
mkdir -p "$here" "profiles/results/$machine"

# nvcc, once for each program: what it made is kept.
cat >"$here/nvcc" <<'NVCC'
#!/bin/sh
[ "$1" != --version ] || exec "$REAL_NVCC" --version
output='' list='' before=''
for word; do
    case $before in -o) output=$word ;; -MF) list=$word ;; esac
    before=$word
done
made=${0%/*}/made-${output##*/}
[ -e "$made" ] || { "$REAL_NVCC" "$@" && cp "$output" "$made"; } || exit
[ -e "$made.files" ] || [ ! -e "$list" ] || cp "$list" "$made.files"
[ ! -e "$made.files" ] || cp "$made.files" "$list"
[ -e "$output" ] || cp "$made" "$output"
NVCC
chmod +x "$here/nvcc"
REAL_NVCC=${NVCC:-nvcc}
export NO_COLOR=1 REAL_NVCC
define=
[ -n "${FILE:-}" ] || [ -z "$last" ] || define="--define VERSION=$version"

# shellcheck disable=SC2086
DEVICE=$PWD/simulator/run build/grader/"$lesson" $define --result "$here/simulated.json" "$file" >"$here/words.txt" 2>&1 || true
for run in $(seq "$times"); do
    [ "$(date +%s)" -lt "$until" ] || break
    # shellcheck disable=SC2086
    DEVICE='' NVCC=$here/nvcc build/grader/"$lesson" $define --simulated "$here/simulated.json" --result "$here/run.json" "$file" \
        >"$here/words.txt" 2>&1 || true
    awk -v run="$run" -v version="${FILE:-$version}" -v lesson="$lesson" '
        function value(line) { sub(/^[^:]*: /, "", line); gsub(/[",]/, "", line); return line }
        /^ "verdict": /       { verdict = value($0) }
        /^  "gold": /         { gold = value($0) }
        /^  "step": /         { step = value($0) }
        /^  "timings": \[$/   { within = 1 }
        within && /^    "(at_least|from|gold|name|ratio|to|verdict)": / { key = $1; gsub(/[":]/, "", key); timing[key] = value($0) }
        within && /^   \},?$/ { rows[++count] = timing["name"] "," timing["ratio"] "," timing["from"] "," timing["to"] "," timing["at_least"] "," timing["gold"] "," timing["verdict"] }
        /^  \],?$/            { within = 0 }
        END {
            if (!count) rows[count = 1] = ",,,,,,"
            for (n = 1; n <= count; n++) print version "," run "," verdict "," step "," gold "," rows[n]
        }' "$here/run.json" >>"$here/rows"
    tail -n 1 "$here/rows"
done

table=profiles/results/$machine/$lesson.repeats.csv
heading=version,run,verdict,step,gold,target,ratio,from,to,at_least,gold_bound,target_verdict
{
    echo "$heading"
    [ ! -f "$table" ] || awk -F, -v now="$(head -n 1 "$here/rows" | cut -d, -f1)" 'NR > 1 && $1 != now' "$table"
    cat "$here/rows"
} >"$here/table"
mv "$here/table" "$table"
echo "$table: of $(cut -d, -f2 "$here/rows" | sort -u | wc -l) runs:"
cut -d, -f2-5 "$here/rows" | sort -u | cut -d, -f2-4 | sort | uniq -c | while read -r count words; do
    echo "  $count times $(echo "$words" | sed 's/,/, step /; s/,\([^,]*\)$/, gold \1/')"
done
[ "$(cut -d, -f3-5 "$here/rows" | sort -u | wc -l)" -eq 1 ]
