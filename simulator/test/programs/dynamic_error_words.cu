// expect: exit 0
// build: -rdc=true -lcudadevrt
// prints: cudaErrorInvalidConfiguration: invalid configuration argument
// Kernels get the same names and words of errors as the host: of their own launches, of all others, and of what is no error.
#include "check.h"
#include <string.h>

enum { CODES = 1002, ROOM = 400 };

__global__ void child() {}

__global__ void launch()
{
    child<<<1, 2048>>>();
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
}

__device__ void copy(char *to, const char *from)
{
    while ((*to++ = *from++)) continue;
}

__global__ void all(char *names, char *words)
{
    int code = blockIdx.x * blockDim.x + threadIdx.x;
    if (code >= CODES) return;
    copy(names + code * ROOM, cudaGetErrorName((cudaError_t)code));
    copy(words + code * ROOM, cudaGetErrorString((cudaError_t)code));
}

int main()
{
    static char host[2][CODES][ROOM];
    char *device;
    OK(cudaMalloc(&device, sizeof host));
    OK(cudaMemset(device, 0, sizeof host));
    launch<<<1, 1>>>();
    all<<<(CODES + 255) / 256, 256>>>(device, device + sizeof host[0]);
    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    for (int code = 0; code < CODES; code++) {
        CHECK(!strcmp(host[0][code], cudaGetErrorName((cudaError_t)code)));
        CHECK(!strcmp(host[1][code], cudaGetErrorString((cudaError_t)code)));
    }
    OK(cudaFree(device));
    return 0;
}
