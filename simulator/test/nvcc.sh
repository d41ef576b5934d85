#!/bin/sh
# simulator/nvcc: what others' Makefiles ask of nvcc gives programs that the device runs.
set -u
unset CUDA_HOME    # of the make that runs the tests; those who use this have none
cd "$(dirname "$0")/../.."
. simulator/test/told

cat >"$scratch/twice.h" <<'END'
__global__ void twice(float *a);
END
cat >"$scratch/twice.cu" <<'END'
#include "twice.h"
__global__ void twice(float *a) { a[threadIdx.x] *= 2; }
END
cat >"$scratch/main.cu" <<'END'
#include "twice.h"
#include <cstdio>

int main()
{
    float *a;
    cudaMallocManaged(&a, 32 * sizeof *a);
    for (int i = 0; i < 32; i++) a[i] = i;
    twice<<<1, SIZE>>>(a);
    cudaDeviceSynchronize();
    printf("%g\n", a[31]);
    cudaFree(a);
}
END

# The flags are those of a Makefile for other GPUs, which nvcc 13 does not even know, and for the static runtime.
cat >"$scratch/Makefile" <<'END'
NVCC   = nvcc
GPUS   = -gencode arch=compute_50,code=sm_50 --generate-code=arch=compute_70,code=[compute_70,sm_70] -code sm_70
FLAGS  = $(GPUS) -O2 -std=c++17 -cudart static -DSIZE=$(SIZE)

main: main.o twice.o ; $(NVCC) $(GPUS) --cudart=static -o $@ $^ -lcudart_static
%.o: %.cu twice.h    ; $(NVCC) $(FLAGS) -dc $< -o $@
END

# builds HOW: the program, by that make command in its folder.
builds() { (cd "$scratch" && rm -f ./*.o main && "$@") >"$scratch/out" 2>&1; }

prints_62() { simulator/run "$scratch/main" >"$scratch/out" 2>&1 && grep -qx 62 "$scratch/out"; }

names_the_lines() {
    ! simulator/run "$scratch/main" >"$scratch/out" 2>&1 &&
        grep -q 'bounds, twice.cu:2' "$scratch/out" && grep -q 'main.cu:7' "$scratch/out"
}

holds 'A Makefile for other GPUs does not build by NVCC=simulator/nvcc:' builds make NVCC="$PWD/simulator/nvcc" SIZE=32
holds 'What it built does not run:' prints_62
holds 'Nor does it with simulator/ on the PATH, as nvcc:' builds env PATH="$PWD/simulator:$PATH" make SIZE=33
holds 'An error in it does not name the lines:' names_the_lines

# The compiler is the one on the PATH behind this script, even where the script is what make and the PATH call nvcc.
toolkit() { realpath "$(env "$@" nvcc --dryrun "$scratch/twice.cu" 2>&1 | sed -n 's/^#[$] TOP=//p')"; }
same_toolkit() { [ "$(toolkit NVCC=simulator/nvcc PATH="$PWD/simulator:$PATH")" = "$(toolkit NVCC=)" ]; }
holds 'It takes a toolkit that the lessons do not:' same_toolkit

# asks OPTIONS...: what nvcc would do, without a warning.
asks() {
    (cd "$scratch" && "$OLDPWD/simulator/nvcc" --dryrun "$@" twice.cu) >"$scratch/out" 2>&1 && ! grep -qE 'warning|fatal' "$scratch/out"
}
compiles_for() { asks "$@" && grep -q -- "-arch $architecture " "$scratch/out"; }

architecture=compute_90 && holds 'Told nothing, it does not compile for the device:' compiles_for -c
architecture=compute_90a && holds 'Told sm_90a, it leaves out what that alone has:' compiles_for -c -arch=sm_90a
architecture=compute_90a && holds 'Nor with -gencode apart from its value:' compiles_for -c -gencode arch=compute_100a,code=sm_100a
architecture=compute_90 && holds 'An output that ends in a is no architecture:' compiles_for -c -arch native -o 90a
holds 'For a cubin, it asks for more than one code:' asks -cubin -arch sm_80
holds 'With -G, it asks for lines twice:' asks -c -G
refuses() { ! asks "$@" && grep -q 'simulator/nvcc: --options-file is not supported' "$scratch/out"; }
holds 'Options in a file are skipped in silence:' refuses -c --options-file flags

done_with simulator/nvcc
