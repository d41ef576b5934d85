#!/bin/sh
# Measures the simulated device beside Oclgrind and PoCL and writes the table: run.sh RESULTS.md
# A measurement that takes longer than LIMIT seconds (120 unless told) is stopped, and the table says so; Oclgrind's not before it
# has taken 105 times as long as ours, which tells what there is to know.

to=$1
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
limit=${LIMIT:-120}
cd "$root/simulator/bench" || exit 1

# $1: seconds that it may take; $2: how to run it; $3: the program; then the kernel and n. Prints the median, the runs and the
# sum, or nothing.
measure() { seconds=$1 command=$2; shift 2; timeout "$seconds" $command "$@" 2>"$root/build/bench/log"; }
ours="$root/simulator/run"
cuda=$root/build/bench/cuda
opencl=$root/build/bench/opencl
$ours "$cuda" vector_add 256 >"$root/build/bench/log" 2>&1 || { cat "$root/build/bench/log"; exit 1; }    # builds it if need be

# What is short is measured three times, in turns, and the middle one counts: the load of a shared machine comes and goes.
middle() {
    sort -g "$root/build/bench/$1" | awk '{ line[NR] = $0; runs += $2 }
        END { if (split(line[int((NR + 1) / 2)], f, " ") == 3) print f[1], runs, f[3] }'
}
row() {
    echo "$1, $2" >&2
    for way in on one off oclgrind pocl; do : >"$root/build/bench/$way"; done
    turn=0
    while [ $turn -lt "$3" ]; do
        turn=$((turn + 1))
        measure "$limit" "$ours" "$cuda" "$1" "$2" >>"$root/build/bench/on"
        measure "$limit" "$ours --threads 1" "$cuda" "$1" "$2" >>"$root/build/bench/one"
        measure "$limit" "$ours --bare" "$cuda" "$1" "$2" >>"$root/build/bench/off"
        patience=$(middle on | awk -v least="$limit" '{ enough = int(105 * $1) + 1; print (enough > least ? enough : least) }')
        measure "$patience" oclgrind "$opencl" "$1" "$2" >>"$root/build/bench/oclgrind"
        OCL_ICD_VENDORS=pocl.icd measure "$limit" "" "$opencl" "$1" "$2" >>"$root/build/bench/pocl"
    done
    echo "$1 $2|$(middle on)|$(middle one)|$(middle off)|$(middle oclgrind)|$(middle pocl)|$patience"
}

for work in "vector_add 1048576 3" "block_sum 1048576 3" \
            "matmul_naive 256 3" "matmul_tiled 256 3" "matmul_naive 1024 1" "matmul_tiled 1024 1"; do row $work; done |
awk -F'|' -v limit="$limit" -v date="$(date -u +%F)" -v cores="$(nproc)" \
    -v cpu="$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
    -v oclgrind="$(oclgrind --version | sed -n 's/^Oclgrind //p')" -v pocl="$(OCL_ICD_VENDORS=pocl.icd "$opencl" | grep -o 'PoCL [0-9.]*')" '
    function seconds(m,   f) { return split(m, f, " ") == 3 ? f[1] : 0 }
    function shown(m, limit,   f) {
        if (split(m, f, " ") != 3) return "> " limit " s"
        return (f[1] < 1 ? sprintf("%.2f ms", 1000 * f[1]) : sprintf("%.2f s", f[1])) " (" f[2] ")"
    }
    function times(a, b) { return a && b ? sprintf("%.1f", a / b) : "-" }
    function slower(a, patience, b) { return a ? times(a, b) : b ? "> " times(patience, b) : "-" }
    function check(m,   f) {
        if (split(m, f, " ") != 3) return
        if (sum == "") sum = f[3]
        if (sum != f[3]) differ = differ " " $1
    }
    BEGIN {
        print "# The simulated device beside Oclgrind and PoCL\n"
        print "Written by `make bench-simulator` on " date ", on " cores " cores of: " cpu ".\n"
        print "Each number is a median of the launches in brackets, each from its call to its end, on the same numbers and with"
        print "the same results. *On*: all checks, counters and times. *One core*: the same with `--threads 1`. *Off*: `--bare`. Where not"
        print "told, all take all cores. Oclgrind " oclgrind " counts nothing and checks bounds only; " pocl " compiles and checks nothing."
        print "What took longer than " limit " s was stopped, Oclgrind only when it had taken 105 times as long as ours as well.\n"
        print "| kernel | on | one core | off | Oclgrind | PoCL | Oclgrind / on | off / PoCL |"
        print "| --- | --- | --- | --- | --- | --- | --- | --- |"
    }
    {
        sum = ""
        for (n = 2; n <= 6; n++) check($n)
        on = seconds($2); off = seconds($4); slow = seconds($5); fast = seconds($6)
        printf "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", $1, shown($2, limit), shown($3, limit), shown($4, limit), shown($5, $7),
            shown($6, limit), slower(slow, $7, on), times(off, fast)
    }
    END {
        if (differ) { print "\nThe results differ:" differ; exit 1 }
    }' >"$root/build/bench/table" || { cat "$root/build/bench/table"; exit 1; }
cp "$root/build/bench/table" "$root/$to"
cat "$root/$to"
