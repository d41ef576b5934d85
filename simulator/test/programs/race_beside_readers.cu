// expect: race 25, race 25, race 25, race 25
// run: --threads 4 --spread 1
// A fill beside a kernel whose blocks all read the same, so that nobody need look at who reads on there. But what it fills one block
// alone reads, behind that, before it or between it; or all do, in a launch that comes later.
#include "check.h"

enum place { BEHIND, BEFORE, BETWEEN, LATER };
enum { CHUNKS = 4, LINES = 64, BYTES = LINES * 128, BLOCKS = 64 };      // lines are looked at by the chunk

__host__ __device__ constexpr int line_of(enum place place)
{
    return place == BEHIND ? CHUNKS * LINES : place == BEFORE ? -1 : LINES + 5;
}

template <enum place PLACE> __global__ void read(const float *x, float *out)
{
    const int t = threadIdx.x, all = CHUNKS * LINES, line = line_of(PLACE);
    const bool alone = PLACE != LATER && blockIdx.x == BLOCKS - 1;
    float sum = 0;
    for (int again = 0; again < 2; again++)
#pragma unroll 1
        for (int n = 0; n < all + alone; n++) {     // one instruction reads all of it
            int at = n == all ? line : n;
            if (PLACE != LATER && n < all && n == line) at = 0;
            sum += x[32 * at + t];
        }
    out[32 * blockIdx.x + t] = sum;
}

template <enum place PLACE> static void race(float *x, float *out, cudaStream_t a, cudaStream_t b)
{
    if (PLACE == LATER) read<PLACE><<<BLOCKS, 32, 0, a>>>(x, out);
    OK(cudaDeviceSynchronize());
    read<PLACE><<<BLOCKS, 32, 0, a>>>(x, out);
    OK(cudaMemsetAsync(x + 32 * line_of(PLACE), 0, 128, b));
    OK(cudaDeviceSynchronize());
}

int main()
{
    char *room;
    float *out;
    cudaStream_t a, b;
    OK(cudaMalloc(&room, (CHUNKS + 3) * BYTES));
    OK(cudaMalloc(&out, BLOCKS * 128));
    OK(cudaMemset(room, 0, (CHUNKS + 3) * BYTES));
    float *x = (float *)(((size_t)room + 2 * BYTES - 1) / BYTES * BYTES);
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    race<BEHIND>(x, out, a, b);
    race<BEFORE>(x, out, a, b);
    race<BETWEEN>(x, out, a, b);
    race<LATER>(x, out, a, b);
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFree(room));
    OK(cudaFree(out));
    return 0;
}
