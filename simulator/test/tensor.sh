#!/bin/sh
# Compares what the simulated device makes of products of matrices (tensor/cases.cu) with what an H200 did: to the bit.
# `DEVICE=gpu sh simulator/test/tensor.sh --record NOTE` records a GPU's answers.
set -e
cd "$(dirname "$0")/../.."
answers=simulator/test/tensor/h200.txt
mkdir -p build/test
if [ ! build/test/tensor -nt simulator/test/tensor/cases.cu ]; then
    nvcc -std=c++17 -cudart shared -gencode 'arch=compute_90,code=[compute_90,sm_90]' -o build/test/tensor simulator/test/tensor/cases.cu
fi
device=simulator/run
[ "${DEVICE:-}" != gpu ] || device=
if [ "${1:-}" = --record ]; then
    { echo "# $2"; $device build/test/tensor; } >"$answers"
    exit
fi
$device build/test/tensor >build/test/tensor.txt
grep -v '^#' "$answers" | awk '
    NR == FNR { due[$1 " " $2] = $3; next }
    { got[$1 " " $2] = $3 }
    END {
        for (kind in due) {
            if (got[kind] == due[kind]) { passed++; continue }
            failed++
            printf "mma.%s: not what the H200 gives (sums %s and %s)\n", kind, got[kind], due[kind]
        }
        for (kind in got) if (!(kind in due)) { failed++; printf "mma.%s: no answer is recorded\n", kind }
        printf "%d passed, %d failed\n", passed, failed
        exit failed || !passed
    }' - build/test/tensor.txt
