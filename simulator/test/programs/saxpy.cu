// expect: exit 0
// prints: largest error 0.000000
// SAXPY over a large array with a template kernel, a grid-stride loop and events around it.
#include <cmath>
#include <cstdio>
#include <cstdlib>

template <typename T> __global__ void saxpy(int n, T a, const T *x, T *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

int main(void)
{
    const int N = 1 << 20;
    float *x = (float *)malloc(N * sizeof(float)), *y = (float *)malloc(N * sizeof(float)), *d_x, *d_y;
    for (int i = 0; i < N; i++) {
        x[i] = 1.0f + i % 7;
        y[i] = 2.0f;
    }
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMalloc(&d_y, N * sizeof(float));
    cudaMemcpy(d_x, x, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, y, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaEventRecord(start);
    saxpy<float><<<(N + 255) / 256 / 4, 256>>>(N, 2.0f, d_x, d_y);
    cudaEventRecord(stop);
    cudaMemcpy(y, d_y, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaEventSynchronize(stop);
    float milliseconds = 0, worst = 0;
    cudaEventElapsedTime(&milliseconds, start, stop);
    for (int i = 0; i < N; i++)
        worst = fmaxf(worst, fabsf(y[i] - (2.0f + 2.0f * (1 + i % 7))));
    printf("largest error %f\n", worst);
    cudaFree(d_x);
    cudaFree(d_y);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    free(x);
    free(y);
    return !(milliseconds > 0 && milliseconds < 1000 && worst == 0);
}
