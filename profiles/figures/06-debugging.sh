#!/bin/sh
# What sees lesson 6's five mistakes on a GPU, written to profiles/figures/06-debugging.txt (on a machine with a GPU and
# compute-sanitizer; in the repository's root):
#
#     sh profiles/figures/06-debugging.sh
#
# Each function of the exercise, as it is handed out, is called twice: alone, and under each tool of compute-sanitizer.
set -eu
to=${1:-profiles/figures/06-debugging.txt}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
awk -f solutions/strip.awk solutions/06-debugging.cu >"$folder/exercise.cu"
nvcc -std=c++17 -O2 -lineinfo -arch=native -I grader/lessons -o "$folder/it" profiles/figures/06-debugging.cu "$folder/exercise.cu"

# What a tool says in the end: how many errors (racecheck: hazards). One that does not end says nothing.
summary() {
    timeout -s KILL 8 compute-sanitizer --tool "$1" "$folder/it" "$2" 2>&1 |
        sed -n 's/.*ERROR SUMMARY: \([0-9]*\) error.*/\1/p; s/.*RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' | tail -n 1
}

functions='differences smooth sort_runs column_means gain'
tools='memcheck racecheck initcheck synccheck'
for function in $functions; do
    { timeout -s KILL 8 "$folder/it" $function || echo "does not end"; } >"$folder/$function-alone" 2>/dev/null
    for tool in $tools; do summary $tool $function >"$folder/$function-$tool" & done
    wait
done
{
    echo "# Written by profiles/figures/06-debugging.sh on $(date -u +%F): $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1),"
    echo "# nvcc $(nvcc --version | sed -n 's/.*V\([0-9.]*\)$/\1/p'). Errors that a tool reports (-: it does not end); what two calls came to, alone."
    echo "# function $tools alone"
    for function in $functions; do
        printf '%s' "$function"
        for tool in $tools; do
            seen=$(cat "$folder/$function-$tool")
            printf ' %s' "${seen:--}"
        done
        printf ' %s\n' "$(tr '\n' ' ' <"$folder/$function-alone")"
    done
} >"$folder/table"
cat "$folder/table" >"$to"
