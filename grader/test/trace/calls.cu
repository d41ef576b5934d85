// Every kind of call that the trace has, but for graphs, prefetches and pools; and the loops that
// it makes short.
#include "01-first-kernel.h"

__constant__ float factors[2];

struct View { const float *at; int count; };

template <typename T> __global__ void add(T *c, const T *a, View b, int n, double scale, unsigned char zero)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] * factors[0] + b.at[i] * scale + zero;
}

extern "C" void vector_add(float *c, const float *a, const float *b, int n)
{
    size_t bytes = n * sizeof(float), row = bytes / 4;
    float *device_a, *pinned_b, *both_c, one[2] = {1, 1};
    cudaStream_t stream;
    cudaEvent_t copied;
    cudaStreamCreate(&stream);
    cudaEventCreate(&copied);
    cudaMalloc(&device_a, bytes + 256);
    cudaHostAlloc(&pinned_b, bytes, 0);
    cudaMallocManaged(&both_c, bytes);
    cudaMemcpyToSymbol(factors, one, sizeof one);
    for (int i = 0; i < n; i++) pinned_b[i] = b[i];

    cudaMemcpy2DAsync(device_a, row, a, row, row, 4, cudaMemcpyHostToDevice, stream);
    cudaEventRecord(copied, stream);
    cudaStreamWaitEvent(0, copied, 0);
    add<float><<<1, 2000>>>(both_c, device_a, View{pinned_b, n}, -n, 0.5, 200);
    cudaPeekAtLastError();
    add<float><<<1, 0>>>(both_c, device_a, View{pinned_b, n}, n, 1, 0);
    add<float><<<(n + 255) / 256, 256>>>(both_c, device_a, View{pinned_b, n}, n, 1, 0);
    for (int i = 0; i < 1000; i++) cudaMemset((char *)device_a + bytes, 7, 256);
    for (int i = 0; i < 300; i++) cudaMemset((char *)device_a + bytes, i & 1, 1 + (i & 127));
    cudaEventSynchronize(copied);
    cudaEventQuery(copied);
    cudaStreamSynchronize(0);
    for (int i = 0; i < n; i++) both_c[i] += 0;
    cudaMemcpy(c, both_c, bytes, cudaMemcpyDefault);
    cudaMemcpy(c, both_c, 2 * bytes, cudaMemcpyDefault);
    cudaMemcpy(both_c, c, bytes, cudaMemcpyDeviceToDevice);
    cudaGetLastError();

    cudaFree(device_a);
    cudaFree(device_a);
    cudaFreeHost(pinned_b);
    cudaFree(both_c);
    cudaEventDestroy(copied);
    cudaStreamDestroy(stream);
}
