// expect: exit 0
// build: -rdc=true -lcudadevrt
// Kernels that ask, as libraries do before they launch, and launch by hand: parameters first, then kernel, grid and block.
#include "check.h"

__global__ void __launch_bounds__(256) put(int *p, int a, short b) { p[threadIdx.x] = a + b; }

__global__ void ask(int *p, int *codes)
{
    int n = 0, value = -1;
    codes[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
    codes[n++] = value;
    codes[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 0);
    codes[n++] = value;
    codes[n++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, put, 256, 0);
    codes[n++] = value;
    codes[n++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, put, 256, 40000);
    codes[n++] = value;
    if (value > 100)                            // what was asked counts as written
        codes[n++] = 0;
    char *room = (char *)cudaGetParameterBuffer(8, 14);
    *(int **)room = p;
    *(int *)(room + 8) = 40;
    *(short *)(room + 12) = 2;
    codes[n++] = cudaLaunchDevice((void *)put, room, dim3(1), dim3(32), 0, 0);
    codes[n++] = cudaLaunchDevice((void *)put, room, dim3(1), dim3(2048), 0, 0);
    codes[n++] = cudaGetLastError();
    codes[n++] = cudaLaunchDevice((void *)put, room + 1, dim3(1), dim3(32), 0, 0);
    codes[n++] = cudaGetParameterBuffer(8, 1 << 20) == NULL;
}

int main()
{
    int *p, *codes, host[32], got[13];
    static const int due[] = { 0, 132, 0, 49152, 0, 8, 0, 5, 0, cudaErrorInvalidConfiguration, cudaErrorInvalidConfiguration,
                               cudaErrorInvalidValue, 1 };
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaMalloc(&codes, sizeof got));
    ask<<<1, 1>>>(p, codes);
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(got, codes, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 13; i++) {
        if (got[i] != due[i])
            fprintf(stderr, "answer %d: %d, not %d\n", i, got[i], due[i]);
        CHECK(got[i] == due[i]);
    }
    CHECK(host[0] == 42 && host[31] == 42);
    OK(cudaFree(p));
    OK(cudaFree(codes));
    return 0;
}
