// expect: MEMORY
// says: never freed
// Its call of cudaMalloc() returns by way of the harness, whose memory is not the student's.
#include "08-reduction.h"

extern "C" const unsigned char harness_begin[];

__global__ void add(float *out, const float *in, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, away);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

static void lose(void)
{
    const unsigned char *ret = harness_begin + 1;
    while (*ret != 0xc3)
        ret++;
    void *lost;
    cudaError_t (*allocate)(void **, size_t) = cudaMalloc;
    asm volatile("mov %%rsp, %%rbx\n\tand $-16, %%rsp\n\tsub $136, %%rsp\n\t"
                 "lea 1f(%%rip), %%rax\n\tpush %%rax\n\tpush %0\n\tjmp *%1\n"
                 "1:\n\tmov %%rbx, %%rsp"
                 :
                 : "r"(ret), "r"(allocate), "D"(&lost), "S"((size_t)1 << 20)
                 : "rax", "rbx", "memory", "cc");
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    lose();
    cudaMemsetAsync(out, 0, sizeof *out);
    add<<<264, 256>>>(out, in, n);
}
