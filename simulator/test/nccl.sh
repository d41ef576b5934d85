#!/bin/sh
# NCCL for simulated devices: the programs of nccl/ run right and without a report, calls that are not there say their
# name, and the library has every name that NVIDIA's has, where that lies beside the toolkit. A machine without nccl.h has
# no such library, and nothing to test but that.
set -u
library=build/simulator/lib/libnccl.so.2
cuda=${CUDA_HOME:-/usr/local/cuda}
passed=0 failed=0

count() {
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

none_without_its_header() { [ ! -f "$library" ] || [ -f "$cuda/include/nccl.h" ]; }

# builds NAME [OPTIONS]: $program
builds() {
    program=build/simulator/test/nccl-$1
    source=simulator/test/nccl/$1.cu
    mkdir -p build/simulator/test
    shift
    nvcc -std=c++17 -O2 -g -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -o "$program" "$source" \
        -L"$PWD/build/simulator/lib" -l:libnccl.so.2 "$@"
}

# Processes that mpirun starts, in one machine and, which is refused, in one for each.
runs_by_mpirun() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    builds mpi $(mpicc --showme:compile | tr ' ' '\n' | grep '^-I') $(mpicc --showme:link | tr ' ' '\n' | grep '^-[lL]') || return 1
    simulator/run --devices 2 mpirun --oversubscribe -np 2 "$program" >"$program.out" 2>&1 &&
        [ "$(grep -c 'of 2: 3$' "$program.out")" -eq 2 ] || { echo "nccl: mpirun fails:"; cat "$program.out"; return 1; }
    ! mpirun --oversubscribe -np 2 simulator/run --devices 2 "$program" >"$program.out" 2>&1 &&
        grep -qF 'simulator/run --devices 2 mpirun -np 2 PROGRAM' "$program.out" ||
        { echo "nccl: one machine for each process is not refused:"; cat "$program.out"; return 1; }
}

# runs NAME DEVICES: no device error is reported, and the program's own checks hold.
runs() {
    builds "$1" || return 1
    simulator/run --devices "$2" "$program" >"$program.out" 2>&1 && ! grep -n '^warpwise:' "$program.out" ||
        { echo "nccl: $1 fails:"; cat "$program.out"; return 1; }
}

# says NAME WORDS: what the program printed has them.
says() {
    grep -qF "$2" "build/simulator/test/nccl-$1.out" || { echo "nccl: $1 does not say: $2"; return 1; }
}

names() { nm -D --defined-only "$1" | sed -n 's/.* \(p*nccl[A-Za-z0-9]*\)\(@.*\)*$/\1/p' | sort; }

all_names() {
    names "$cuda/lib64/libnccl.so.2" >build/test/nccl-theirs
    missing=$(names "$library" | comm -13 - build/test/nccl-theirs)
    [ -s build/test/nccl-theirs ] && [ -z "$missing" ] || { echo "nccl: missing:" $missing; return 1; }
}

mkdir -p build/test
count none_without_its_header
if [ -f "$cuda/include/nccl.h" ]; then
    make -s simulated
    count runs collectives 4
    count runs captured 3
    count says captured 'the stream of rank 1 is being captured, that of rank 0 is not'
    count runs threads 3
    count says threads 'rank 0 has 1000 elements, rank 1 has 7'
    count says threads 'the simulated NCCL has no ncclCommSplit'
    count runs processes 3
    count says processes 'processes of one device each'
    count says processes 'rank 1 has ended'
    count runs_by_mpirun
    if [ -f "$cuda/lib64/libnccl.so.2" ]; then count all_names; fi
fi
echo "nccl: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
