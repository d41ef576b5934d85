#!/bin/sh
# What a person reads when the device refuses a call. A program that reads the error is told why, once a line, in a note. A launch
# whose error the program never reads is an error of the run.
set -u
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
shown=$scratch/out passed=0 failed=0
. grader/holds.sh

cat >"$scratch/refused.cu" <<'END'
#include <cooperative_groups.h>
#include <cstdlib>

__global__ void plain(int *p) { if (p) *p = 1; }
__global__ void __launch_bounds__(256) bounded(int *p) { *p = 1; }
__global__ void meet(int *p) { *p = 1; cooperative_groups::this_grid().sync(); }

static cudaError_t launch(int which, int *p)
{
    void *arguments[] = { &p };
    switch (which) {
    case 0: plain<<<1, 1025>>>(p); break;
    case 1: plain<<<1, dim3(32, 33)>>>(p); break;
    case 2: plain<<<0, 32>>>(p); break;
    case 3: plain<<<dim3(1, 65536), 32>>>(p); break;
    case 4: plain<<<1, dim3(1, 1, 65)>>>(p); break;
    case 5: plain<<<1, 64, 64 * 1024>>>(p); break;
    case 6: bounded<<<1, 512>>>(p); break;
    case 7: plain<<<which - 10, 32>>>(p); break;
    case 8: plain<<<dim3(1, 1, 65536), 32>>>(p); break;
    case 9: return cudaLaunchCooperativeKernel(meet, 5000, 256, arguments);
    case 10: return cudaLaunchKernel(plain, 1, 2048, arguments);
    case 11: return cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000), plain<<<1, 32, 100001>>>(p), cudaSuccess;
    }
    return cudaSuccess;
}

int main(int, char **words)
{
    int *p;
    cudaMalloc(&p, 4);
    for (int n = 0; n < atoi(words[3]); n++) {
        launch(atoi(words[1]), p);
        if (atoi(words[2])) cudaGetLastError();
    }
    cudaFree(p);
}
END
nvcc -std=c++17 -O2 -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -Xcompiler -g1 -o "$scratch/refused" \
    "$scratch/refused.cu" || exit 1

# told STATUS PROGRAM WORDS...: the run of the program, with its arguments, ends with that status, and its text has each of the words.
told() {
    due=$1 run=$2
    shift 2
    # shellcheck disable=SC2086
    simulator/run "$scratch"/$run >"$scratch/out" 2>&1
    status=$?
    tr -s ' \n' '  ' <"$scratch/out" >"$scratch/line"
    for words; do
        grep -qF -- "$words" "$scratch/line" || status="$status, without \"$words\""
    done
    holds "$run: status $status, not $due" [ "$status" = "$due" ]
}

# says N: the text has so many messages.
says() {
    holds "$run: not $1 messages" [ "$(grep -c '^warpwise:' "$scratch/out")" -eq "$1" ]
}

told 0 'refused 0 1 1' 'warpwise: launch refused, refused.cu:' 'its blocks have 1025 threads and may have 1024' 'next: Launch more blocks'
told 0 'refused 1 1 1' 'its blocks have 1056 threads and may have 1024'
told 0 'refused 2 1 1' 'a grid of 0x1x1 blocks of 32x1x1 threads has none'
told 0 'refused 3 1 1' 'more than 65535 of them in y'
told 0 'refused 4 1 1' 'its blocks of 1x1x65 threads have more than 64 of them in z'
told 0 'refused 5 1 1' 'wants 65536 bytes of shared memory and may have 49152' 'Ask for more, up to 232448: cudaFuncSetAttribute'
told 0 'refused 6 1 1' 'its blocks have 512 threads and may have 256'
told 0 'refused 7 1 1' 'a grid of 4294967293x1x1 blocks' 'a negative one becomes as large'
told 0 'refused 8 1 1' 'more than 65535 of them in z'
told 0 'refused 9 1 1' 'a cooperative grid of 5000x1x1 blocks is more than the 1056 that the device holds at once'
told 0 'refused 10 0 1' 'its blocks have 2048 threads and may have 1024'
told 0 'refused 11 1 1' 'wants 100001 bytes of shared memory and may have 100000'

# A loop of refused launches has one note, or one error.
told 0 'refused 0 1 100' 'launch refused'
says 1
told 1 'refused 0 0 100' 'misuse of the CUDA runtime, refused.cu:' 'here nobody asked' 'warpwise: 1 error: misuse of the CUDA runtime'
says 2

# ---- Handles that are no more

cat >"$scratch/destroyed.c" <<'END'
#include <cuda_runtime_api.h>

int main(void)
{
    cudaEvent_t there, gone;
    cudaStream_t stream;
    float ms;
    int *p;
    cudaMalloc((void **)&p, 4);
    cudaStreamCreate(&stream);
    cudaEventCreate(&there);
    cudaEventCreate(&gone);
    cudaStreamDestroy(stream);
    cudaEventDestroy(gone);

    for (int n = 0; n < 3; n++)
        cudaEventRecord(gone, 0);
    cudaEventSynchronize(gone);
    cudaEventElapsedTime(&ms, there, gone);
    cudaEventDestroy(gone);
    cudaStreamDestroy(stream);
    cudaStreamSynchronize(stream);
    cudaStreamWaitEvent(stream, there, 0);
    cudaMemcpyAsync(p, &ms, 4, cudaMemcpyHostToDevice, stream);
    cudaMemsetAsync(p, 0, 4, stream);
    cudaFreeAsync(p, stream);
    cudaFree(p);
    cudaEventDestroy(there);
    return 0;
}
END
gcc -g -isystem "${CUDA_HOME:-/usr/local/cuda}/include" -L"${CUDA_HOME:-/usr/local/cuda}/lib64" -o "$scratch/destroyed" "$scratch/destroyed.c" -lcudart || exit 1
told 0 destroyed 'warpwise: call refused, destroyed.c:17 ' 'cudaEventRecord was given an event that is no more' \
    'destroyed by: cudaEventDestroy, destroyed.c:14 ' 'cudaEventSynchronize was' 'cudaEventElapsedTime was' 'cudaEventDestroy was' \
    'cudaStreamDestroy was given a stream that is no more' 'destroyed by: cudaStreamDestroy, destroyed.c:13 ' \
    'cudaStreamSynchronize was' 'cudaStreamWaitEvent was' 'cudaMemcpyAsync was' 'cudaMemsetAsync was' 'cudaFreeAsync was'
says 10

echo "text: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
