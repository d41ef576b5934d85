// expect: SUSPECT
// says: went to the host in the call
// Kernels carry readings and curve to memory of the program's that it has registered, the host
// calibrates, and a kernel fetches the values.
#include "14-occupancy.h"

#include <stdlib.h>

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

static int least(int a, int b) { return a < b ? a : b; }

extern "C" int resident_blocks(int threads, int registers, int shared)
{
    int warps = (threads + 31) / 32, portions = (registers * 32 + 255) / 256;
    int held = 16384 / (portions * 256) * 4 / warps, room = (shared + 1024 + 127) / 128 * 128;
    return least(least(32, 64 / warps), least(held, 233472 / room));
}

extern "C" void calibrate(float *out, const int *raw, const float *table, int n)
{
    enum { POINTS = 8193 };
    size_t bytes = (n + POINTS) * sizeof(float);
    float *there, *host = (float *)aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (n == 0)
        return;

    cudaHostRegister(host, bytes, cudaHostRegisterMapped);
    cudaHostGetDevicePointer((void **)&there, host, 0);
    move<<<(POINTS + 255) / 256, 256>>>(there + n, table, POINTS);
    move<<<(n + 1023) / 1024, 1024>>>(there, (const float *)raw, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) {
        int k = ((int *)host)[i] / 8, r = ((int *)host)[i] % 8;
        float from = host[n + k], to = host[n + k + 1];
        host[i] = from + r / 8.0f * (to - from);
    }
    move<<<(n + 1023) / 1024, 1024>>>(out, there, n);
    cudaDeviceSynchronize();
    cudaHostUnregister(host);
    free(host);
}
