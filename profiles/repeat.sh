#!/bin/sh
# `make repeat-5`, on a machine with a GPU: times lesson 5's solution there again and again, and counts the verdicts, to see whether
# one flips. Ten times are one run of the grader: the program is compiled and checked, and both sides get their buffers, once; each time
# warms the GPU up and has rounds of its own.
#
#     profiles/repeat.sh 05-transpose [TIMES] [VERSION]       50 times, the last version, unless told
#     FILE=some.cu profiles/repeat.sh 05-transpose            another file
#
# Adds to profiles/results/MACHINE/05-transpose.repeats.csv, which is committed: a row for each time and target. The times that are there
# already count, so that a run that was ended goes on. The status is 1 if there are fewer than TIMES, or if two of them have different
# verdicts, steps or gold.
set -eu
lesson=$1 times=${2:-50}
last=$(sed -n 's|^#define VERSION \([0-9]*\).*|\1|p' "solutions/$lesson.cu")
version=${3:-${last:-1}}
file=${FILE:-solutions/$lesson.cu}
machine=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 | tr 'A-Z ' 'a-z-')
[ -n "$machine" ] || { echo 'There is no GPU here. Type: make doctor'; exit 1; }
here=$PWD/build/repeat/$lesson
table=profiles/results/$machine/$lesson.repeats.csv
mkdir -p "$here" "profiles/results/$machine"
[ -f "$table" ] || echo 'version,time,verdict,step,gold,ratio,from,to,at_least,gold_bound,target_verdict,target' >"$table"
define=
[ -n "${FILE:-}" ] || [ -z "$last" ] || define="--define VERSION=$version"
export NO_COLOR=1

rows() { awk -F, -v version="${FILE:-$version}" 'NR > 1 && $1 == version' "$table"; }
done=$(rows | cut -d, -f2 | sort -n | tail -n 1)
left=$((times - ${done:-0}))

# grade WORDS...: the grader, which prints lines "time,NUMBER,...".
grade() {
    # shellcheck disable=SC2086
    build/grader/"$lesson" $define "$@" "$file" 2>&1 || true
}
export DEVICE=$PWD/simulator/run
[ "$left" -le 0 ] || grade --result "$here/simulated.json" >"$here/simulated.txt"
DEVICE=
while [ "$left" -gt 0 ]; do
    now=$((left < 10 ? left : 10))
    grade --simulated "$here/simulated.json" --times "$now" --result "$here/result.json" >"$here/words.txt"
    grep -q '^time,' "$here/words.txt" || { cat "$here/words.txt"; break; }
    sed -n 's/^time,//p' "$here/words.txt" | awk -F, -v OFS=, -v version="${FILE:-$version}" -v before="${done:-0}" '
        { $1 = version "," $1 + before; print }' | tee -a "$table"
    done=$((${done:-0} + now)) left=$((left - now))
done

count=$(rows | cut -d, -f2 | sort -u | wc -l)
echo "$table: version $version, $count times:"
rows | cut -d, -f2-5 | sort -u | cut -d, -f2-4 | sort | uniq -c | while read -r n words; do
    echo "  $n times $(echo "$words" | sed 's/,/, step /; s/,\([^,]*\)$/, gold \1/')"
done
[ "$count" -ge "$times" ] && [ "$(rows | cut -d, -f3-5 | sort -u | wc -l)" -eq 1 ]
