// expect: SUSPECT
// says: by a copy from the host, all of it
// The host multiplies, in threads of its own, beside a kernel that writes nothing but what is then
// overwritten.
#include "15-tiled-matmul.h"

#include <stdlib.h>
#include <thread>

__global__ void touch(float *c, const float *a, const float *b, int m, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m * n)
        c[i] = k ? a[i / n * k] * b[i % n] : 0;
}

static void rows_of(float *c, const float *a, const float *b, int from, int to, int n, int k)
{
    for (int i = from; i < to; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++)
                c[(size_t)i * n + j] += a[(size_t)i * k + p] * b[(size_t)p * n + j];
}

extern "C" void matmul(float *c, const float *a, const float *b, int m, int n, int k)
{
    size_t bytes[3] = { sizeof(float) * m * n, sizeof(float) * m * k, sizeof(float) * k * n };
    float *host[3];
    if (bytes[0] == 0)
        return;

    for (int i = 0; i < 3; i++)
        host[i] = (float *)calloc(1, bytes[i] + 1);
    cudaMemcpy(host[1], a, bytes[1], cudaMemcpyDeviceToHost);
    cudaMemcpy(host[2], b, bytes[2], cudaMemcpyDeviceToHost);
    std::thread half(rows_of, host[0], host[1], host[2], 0, m / 2, n, k);
    rows_of(host[0], host[1], host[2], m / 2, m, n, k);
    half.join();
    touch<<<(m * n + 255) / 256, 256>>>(c, a, b, m, n, k);
    cudaMemcpy(c, host[0], bytes[0], cudaMemcpyHostToDevice);
    for (int i = 0; i < 3; i++)
        free(host[i]);
}
