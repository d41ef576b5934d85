#!/bin/sh
# Where a person is sent: the statement in a line, and both sides of what host code does too early.
set -u
cd "$(dirname "$0")/../.."
. simulator/test/told

# ---- The statement in a long line

cat >"$scratch/long.cu" <<'END'
__global__ void wide(int *p, int n)
{
    int a = threadIdx.x;
	/* ünïcödé: a comment at the beginning of a long line, of some sixty letters */ p[a + n * n + 4000] = n; p[a] = n; p[a + 1] = n * a; p[a + 2] = 3 * n;
}

int main()
{
    int *p;
    cudaMalloc(&p, 256);
    wide<<<1, 1>>>(p, 8);
    cudaDeviceSynchronize();
    cudaFree(p);
}
END
builds_cuda long
told 1 long '...' ' p[a + n * n + 4000] = n;'
holds 'a line is longer than 80 columns' sh -c "! sed 's/[^ -~]//g' '$scratch/out' | grep -q '^.\{81\}'"
# points WORDS: the first caret points at these.
points() {
    holds "the caret is not under $1" awk -v words="$1" '
        / \| .*[^ ^]/ { source = $0; next }
        source && /\^$/ { gsub(/[^ -~][^ -~]/, "u", source); found = index(source, words) == length($0); exit }
        END { exit !found }' "$scratch/out"
}
points 'p[a + n * n'

cat >"$scratch/twice.c" <<'END'
#include <cuda_runtime_api.h>

int main(void)
{
    int *p;
    cudaMalloc((void **)&p, 4);
    if (p) cudaFree(p); if (p) cudaFree(p);
    return 0;
}
END
builds_c twice -w
told 1 twice 'invalid free, twice.c:7 '
holds 'the caret is not under the second call' grep -q '^ *| \{32\}^$' "$scratch/out"

# What host code touches too early: its line, the call, and the way to wait.
cat >"$scratch/early.c" <<'END'
#include <cuda_runtime_api.h>

int main(void)
{
    int *d, *h, status;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc((void **)&d, 64);
    cudaMallocHost((void **)&h, 64);
    cudaMemcpyAsync(d, h, 64, cudaMemcpyHostToDevice, s);
    h[1] = 2;
    cudaStreamSynchronize(s);
    cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);
    status = h[2];
    cudaFree(d);
    cudaFreeHost(h);
    cudaStreamDestroy(s);
    return status;
}
END
builds_c early
told 1 early 'warpwise: data race, early.c:11 ' 'h[1] = 2;' \
    'host code writes pinned memory that cudaMemcpyAsync may still be reading, at byte 4 of the 64-byte allocation made at early.c:9' \
    'the other access: cudaMemcpyAsync, early.c:10 ' 'warpwise: data race, early.c:14 ' \
    'host code reads pinned memory that cudaMemcpyAsync may still be writing, at byte 8 of' 'the other access: cudaMemcpyAsync, early.c:13 ' \
    'An asynchronous call returns at once' 'next: Wait between the two: call cudaStreamSynchronize() for the stream' \
    '2 errors: data race (2)'

done_with text_places
