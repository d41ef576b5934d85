// expect: SUSPECT
// says: or to memory that it sees
// A kernel brings the numbers to managed memory. The host adds them there through a second mapping, where no page is ever missing, and
// a kernel's parameter brings the sum.
#include "08-reduction.h"

#include <sys/mman.h>

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void put(float *out, float sum) { *out = sum; }

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    double sum = 0;
    if (n > 0) {
        float *there;
        size_t bytes = n * sizeof *in, pages = (bytes + 4095) / 4096 * 4096;
        cudaMallocManaged((void **)&there, bytes);
        move<<<(n + 255) / 256, 256>>>(there, in, n);
        cudaDeviceSynchronize();

        float *seen = (float *)mremap(there, 0, pages, MREMAP_MAYMOVE);
        mprotect(seen, pages, PROT_READ);
        for (int i = 0; i < n; i++)
            sum += seen[i];
        munmap(seen, pages);
        cudaFree(there);
    }
    put<<<1, 1>>>(out, sum);
}
