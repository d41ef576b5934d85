// expect: SUSPECT
// says: bytes went to the host in the call
// A copy brings the matrix to managed memory, where the host looks at it through a second mapping, and no page moves. It transposes
// the matrix into pinned memory, and a kernel carries it from there.
#include "05-transpose.h"

#include <sys/mman.h>

__global__ void move(float *to, const float *from, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n)
        *(float4 *)&to[i] = *(const float4 *)&from[i];
    else
        for (; i < n; i++)
            to[i] = from[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    if (n == 0)
        return;

    float *there, *back;
    size_t bytes = sizeof *in * n, pages = (bytes + 4095) / 4096 * 4096;
    cudaMallocManaged((void **)&there, bytes);
    cudaMallocHost((void **)&back, bytes);
    cudaMemcpy(there, in, bytes, cudaMemcpyDeviceToDevice);
    cudaDeviceSynchronize();

    float *seen = (float *)mremap(there, 0, pages, MREMAP_MAYMOVE);
    mprotect(seen, pages, PROT_READ);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            back[col * rows + row] = seen[row * cols + col];
    munmap(seen, pages);
    move<<<(n + 1023) / 1024, 256>>>(out, back, n);
    cudaDeviceSynchronize();
    cudaFree(there);
    cudaFreeHost(back);
}
