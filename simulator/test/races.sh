#!/bin/sh
# Random programs whose races are known beforehand (races/): of those that have none, the simulated device must say nothing, and they must
# load what they should; of those that have lost something that ordered them, it must say what nothing orders now, and nothing else.
# `CLEAN=5000 SPOILT=2000 sh simulator/test/races.sh` looks further.
set -e
cd "$(dirname "$0")/../.."
from=simulator/test/races
to=build/test/races
mkdir -p "$to"
for part in order plan main; do
    gcc -std=gnu17 -O2 -g -Wall -Wextra -Werror -c -o "$to/$part.o" "$from/$part.c"
done
if [ -n "$(find "$from" -newer "$to/races" 2>&1)" ]; then
    nvcc -std=c++17 -O1 -D_GLIBCXX_BITS_SPECFUN_H -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -o "$to/races" \
        "$from/kernel.cu" "$to/order.o" "$to/plan.o" "$to/main.o"
fi

silent() {
    simulator/run $1 "$to/races" $2 >"$to/said" 2>&1 && [ ! -s "$to/said" ] && return
    echo "races $2 ($1) is not silent:"
    cat "$to/said"
    echo "0 passed, 1 failed"
    exit 1
}
silent "" "clean 1 ${CLEAN:-200}"
silent "--shuffle 5" "clean 1001 ${CLEAN:-200}"
silent "--threads 1" "beside 1 ${CLEAN:-200}"
silent "--threads 3 --spread 1" "beside 1 ${CLEAN:-200}"

# A block may look at a flag so late that it hears what others have told there since, and nothing is a race in that order: in another one of a few it is.
seq 1 "${SPOILT:-400}" | xargs -P "$(nproc)" -I{} sh -c '
    out='"$to"'/{}.out
    spoilt() { simulator/run --error-exitcode 0 --json --spread 1 "$@" '"$to"'/races spoilt {} >>"$out" 2>&1 || echo failed >>"$out"; }
    rm -f "$out"
    spoilt
    for seed in 1 2 3; do
        if grep -q "^pair.* 1$" "$out" && ! grep -q "\"kind\":\"race\"" "$out"; then spoilt --shuffle $seed; fi
    done'
for seed in $(seq 1 "${SPOILT:-400}"); do echo "seed $seed"; cat "$to/$seed.out"; done | awk -v clean=$((4 * ${CLEAN:-200})) '
    function line(text) { return match(text, /"line":[0-9]+/) ? substr(text, RSTART + 7, RLENGTH - 7) + 0 : 0 }
    function judge() {
        if (gone == "") return
        tried++
        if (must && !told) { missed++; missing = missing " " seed " (" gone ")" }
        if (must && told) seen++
    }
    $1 == "seed" { judge(); seed = $2; gone = ""; must = told = 0; split("", pairs) }
    $1 == "gone" { gone = $2 }
    $1 == "pair" { pairs[$2, $3] = pairs[$3, $2] = 1; must += $4 }
    $1 == "failed" { print "program " seed ": it failed"; wrong++ }
    /"event":"error"/ {
        at = index($0, "\"other\":")
        if (/"kind":"race"/ && ((line(substr($0, 1, at)), line(substr($0, at))) in pairs)) { told = 1; next }
        print "program " seed " (without its " gone "): " $0
        wrong++
    }
    END {
        judge()
        printf "%d programs have lost something, %d have a race that is seen, %d one that is not:%s\n", tried, seen, missed, missing
        wrong += missed
        if (4 * seen < tried) { print "too few races to tell"; wrong++ }
        printf "%d passed, %d failed\n", clean + tried, wrong
        exit wrong > 0
    }'
