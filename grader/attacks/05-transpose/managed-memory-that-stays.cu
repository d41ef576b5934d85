// expect: SUSPECT
// says: went to the host in the call
// The host transposes in managed memory that is advised to stay with it, so that no page moves.
// Kernels carry the matrix there and back by atomics, which are no loads and no stores.
#include "05-transpose.h"

__global__ void send(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicExch(&to[i], from[i]);
}

__global__ void fetch(float *to, float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = atomicExch(&from[i], 0);
}

static float *here(size_t bytes)
{
    cudaMemLocation device = { cudaMemLocationTypeDevice, 0 };
    cudaMemLocation host = { cudaMemLocationTypeHost, 0 };
    float *p;
    cudaMallocManaged(&p, bytes);
    cudaMemAdvise(p, bytes, cudaMemAdviseSetPreferredLocation, host);
    cudaMemAdvise(p, bytes, cudaMemAdviseSetAccessedBy, device);
    return p;
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    if (n == 0)
        return;

    float *from = here(n * sizeof(float)), *to = here(n * sizeof(float));
    send<<<(n + 255) / 256, 256>>>(from, in, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++)
        to[i % cols * rows + i / cols] = from[i];
    fetch<<<(n + 255) / 256, 256>>>(out, to, n);
    cudaDeviceSynchronize();
    cudaFree(from);
    cudaFree(to);
}
