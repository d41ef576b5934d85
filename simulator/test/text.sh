#!/bin/sh
# What a person reads of launches that the device refuses. A program that looks at the error is told why, once a line, and that is
# no error of the run; of one that does not, it is.
set -u
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

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

# told LAUNCH LOOKS TIMES STATUS WORDS...: the run ends with that status, and its text has each of the words.
told() {
    run="launch $1, looks $2, $3 times"
    simulator/run "$scratch/refused" "$1" "$2" "$3" >"$scratch/out" 2>&1
    status=$? due=$4
    shift 4
    tr -s ' \n' '  ' <"$scratch/out" >"$scratch/line"
    for words; do
        grep -qF -- "$words" "$scratch/line" || status="$status, without \"$words\""
    done
    if [ "$status" = "$due" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$run: status $status, not $due:"
        sed 's/^/    /' "$scratch/out"
    fi
}

told 0 1 1 0 'warpwise: launch refused, refused.cu:' 'its blocks have 1025 threads and may have 1024' 'next: Launch more blocks'
told 1 1 1 0 'its blocks have 1056 threads and may have 1024'
told 2 1 1 0 'a grid of 0x1x1 blocks of 32x1x1 threads has none'
told 3 1 1 0 'more than 65535 of them in y'
told 4 1 1 0 'its blocks of 1x1x65 threads have more than 64 of them in z'
told 5 1 1 0 'wants 65536 bytes of shared memory and may have 49152' 'Ask for more, up to 232448: cudaFuncSetAttribute'
told 6 1 1 0 'its blocks have 512 threads and may have 256'
told 7 1 1 0 'a grid of 4294967293x1x1 blocks' 'a negative one becomes as large'
told 8 1 1 0 'more than 65535 of them in z'
told 9 1 1 0 'a cooperative grid of 5000x1x1 blocks is more than the 1056 that the device holds at once'
told 10 0 1 0 'its blocks have 2048 threads and may have 1024'
told 11 1 1 0 'wants 100001 bytes of shared memory and may have 100000'

# Once, however often it was; and as an error if nobody looks.
told 0 1 100 0 'launch refused'
[ "$(grep -c '^warpwise:' "$scratch/out")" -eq 1 ] && passed=$((passed + 1)) || { failed=$((failed + 1)); cat "$scratch/out"; }
told 0 0 100 1 'misuse of the CUDA runtime, refused.cu:' 'here nobody asked' 'warpwise: 1 error: misuse of the CUDA runtime'
[ "$(grep -c '^warpwise:' "$scratch/out")" -eq 2 ] && passed=$((passed + 1)) || { failed=$((failed + 1)); cat "$scratch/out"; }

echo "text: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
