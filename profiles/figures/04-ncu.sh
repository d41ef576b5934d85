#!/bin/sh
# What ncu counts for lesson 4's claim of float operations: 262,144 numbers, degree 32, each version, over the 32
# multiply-and-adds a number that Horner's rule needs. From the repository's root, with a GPU and Nsight Compute:
#
#     sh profiles/figures/04-ncu.sh >profiles/figures/04-ncu.txt
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
counters=sm__inst_executed_pipe_fma.sum,sm__inst_executed_pipe_fp64.sum,sm__inst_executed_pipe_xu.sum

cat >"$scratch/main.cu" <<'MAIN'
#include "04-roofline.h"
int main(void)
{
    enum { N = 1 << 18, DEGREE = 32 };
    float *out, *in, *c;
    cudaMalloc(&out, N * sizeof *out);
    cudaMalloc(&in, N * sizeof *in);
    cudaMalloc(&c, (DEGREE + 1) * sizeof *c);
    cudaMemset(in, 0, N * sizeof *in);
    cudaMemset(c, 0, (DEGREE + 1) * sizeof *c);
    polynomial(out, in, c, DEGREE, N);
    cudaFree(out);
    cudaFree(in);
    cudaFree(c);
    return 0;
}
MAIN

echo "# Written by profiles/figures/04-ncu.sh on $(date -u +%F), on an $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1), by $(ncu --version | sed -n 's/^Version \([0-9.]*\).*/ncu \1/p')"
echo "# version, instructions of the pipes fma, fp64 and xu, each for 32 lanes; the same over the operations"
for version in 1 2 3 4 5; do
    nvcc -std=c++17 -O3 -arch=sm_90 -Igrader/lessons -DVERSION=$version -o "$scratch/main" "$scratch/main.cu" solutions/04-roofline.cu
    ncu --clock-control none --csv --print-units base --log-file "$scratch/ncu" --metrics "$counters" "$scratch/main" >"$scratch/said"
    awk -F '","' -v version=$version '
        { for (i = 8; i < NF - 1; i++) if ($i ~ /^sm__/) { value = $(i + 2); gsub(/[",]/, "", value); sum += value; break } }
        END { printf "%d\t%d\t%.3f\n", version, sum, sum / 262144 }' "$scratch/ncu"
done
