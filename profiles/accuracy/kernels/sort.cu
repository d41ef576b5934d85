// Sorting and scanning in shared memory: bitonic sort, odd-even sort of a few words a thread, and two scans (Hillis and
// Steele's, and Blelloch's), all of 512 words a block.
#include "exercise.h"

enum { THREADS = 256, WORDS = 512, MOST = 1 << 22 };

static __device__ __forceinline__ void bitonic(unsigned *out, const unsigned *in)
{
    __shared__ unsigned s[WORDS];
    for (int i = threadIdx.x; i < WORDS; i += THREADS)
        s[i] = in[(blockIdx.x * WORDS + i) % MOST];
    for (int size = 2; size <= WORDS; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            __syncthreads();
            int i = 2 * threadIdx.x - (threadIdx.x & (step - 1));
            unsigned a = s[i], b = s[i + step];
            if ((a > b) == !(i & size))
                s[i] = b, s[i + step] = a;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < WORDS; i += THREADS)
        out[(blockIdx.x * WORDS + i) % MOST] = s[i];
}

// Each thread sorts eight words in registers, many times.
static __device__ __forceinline__ void network(unsigned *out, const unsigned *in)
{
    unsigned v[8], i = (blockIdx.x * THREADS + threadIdx.x) % (MOST / 8);
    for (int n = 0; n < 8; n++)
        v[n] = in[n * (MOST / 8) + i];
#pragma unroll 1
    for (int round = 0; round < 16; round++) {
#pragma unroll
        for (int pass = 0; pass < 8; pass++)
#pragma unroll
            for (int n = pass % 2; n < 7; n += 2) {
                unsigned a = min(v[n], v[n + 1]), b = max(v[n], v[n + 1]);
                v[n] = a, v[n + 1] = b;
            }
        for (int n = 0; n < 8; n++)
            v[n] = v[n] * 1664525 + round;
    }
    for (int n = 0; n < 8; n++)
        out[n * (MOST / 8) + i] = v[n];
}

static __device__ __forceinline__ void hillis(float *out, const unsigned *in)
{
    __shared__ float s[2][WORDS];
    float all = 0;
#pragma unroll 1
    for (int again = 0; again < 2; again++) {
        int now = 0;
        for (int i = threadIdx.x; i < WORDS; i += THREADS)
            s[0][i] = in[(blockIdx.x * WORDS + i + again * 4096) % MOST];
        for (int step = 1; step < WORDS; step *= 2, now ^= 1) {
            __syncthreads();
            for (int i = threadIdx.x; i < WORDS; i += THREADS)
                s[!now][i] = s[now][i] + (i >= step ? s[now][i - step] : 0);
        }
        __syncthreads();
        all += s[now][threadIdx.x] + s[now][threadIdx.x + THREADS];
    }
    out[(blockIdx.x * THREADS + threadIdx.x) % MOST] = all;
}

static __device__ __forceinline__ void blelloch(float *out, const unsigned *in)
{
    __shared__ float s[WORDS + WORDS / 32];
    float all = 0;
    int t = threadIdx.x;
#pragma unroll 1
    for (int again = 0; again < 2; again++) {
        __syncthreads();
        for (int i = t; i < WORDS; i += THREADS)
            s[i + i / 32] = in[(blockIdx.x * WORDS + i + again * 4096) % MOST];
        int step = 1;
        for (int n = WORDS / 2; n; n /= 2, step *= 2) {
            __syncthreads();
            if (t < n) {
                int a = step * (2 * t + 1) - 1, b = a + step;
                s[b + b / 32] += s[a + a / 32];
            }
        }
        __syncthreads();
        if (t == 0)
            s[WORDS - 1 + (WORDS - 1) / 32] = 0;
        for (int n = 1; n < WORDS; n *= 2) {
            step /= 2;
            __syncthreads();
            if (t < n) {
                int a = step * (2 * t + 1) - 1, b = a + step;
                float kept = s[a + a / 32];
                s[a + a / 32] = s[b + b / 32];
                s[b + b / 32] += kept;
            }
        }
        __syncthreads();
        all += s[t + t / 32] + s[t + THREADS + (t + THREADS) / 32];
    }
    out[(blockIdx.x * THREADS + t) % MOST] = all;
}

IN_GRIDS(sort_bitonic, THREADS, (unsigned *out, const unsigned *in), bitonic(out, in))
IN_GRIDS(sort_network, THREADS, (unsigned *out, const unsigned *in), network(out, in))
IN_GRIDS(sort_hillis, THREADS, (float *out, const unsigned *in), hillis(out, in))
IN_GRIDS(sort_blelloch, THREADS, (float *out, const unsigned *in), blelloch(out, in))

static unsigned *in, *out;

int main(int count, char **arguments)
{
    in = words(MOST, 1 << 20);
    out = output<unsigned>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("", sort_bitonic, THREADS, 0, out, in),
        GRIDS_OF("", sort_network, THREADS, 0, out, in),
        GRIDS_OF("scans", sort_hillis, THREADS, 0, (float *)out, in),
        GRIDS_OF("scans", sort_blelloch, THREADS, 0, (float *)out, in),
    });
}
