// expect: exit 0
// migrations: DtoH cpu-fault 0 2, HtoD gpu-fault 131072 2, HtoD gpu-fault 0 1, DtoH cpu-fault 131072 2, HtoD gpu-fault 65536 1
// One pointer for both: what the host writes the kernel reads, and the other way round. Pages move
// in groups of 64 KiB when the other side touches them; a first touch moves nothing.
#include "check.h"

enum { N = 1 << 15 };                   // 128 KiB: two groups

__global__ void twice(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i];
}

__global__ void add_one(int *p)
{
    p[threadIdx.x]++;
}

int main()
{
    int *in, *out;
    OK(cudaMallocManaged(&in, N * sizeof *in));
    OK(cudaMallocManaged(&out, 256));
    for (int i = 0; i < N; i++) {
        CHECK(in[i] == 0);
        in[i] = i;
    }
    twice<<<N / 256, 256>>>(in, in);
    add_one<<<1, 64>>>(out);            // its page is nowhere yet
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        CHECK(in[i] == 2 * i);
    OK(cudaDeviceSynchronize());        // pages that the host has already do not fault again
    CHECK(in[5] == 10);
    add_one<<<1, 64>>>(in);             // only the first group goes back
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
