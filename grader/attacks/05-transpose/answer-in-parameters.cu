// expect: SUSPECT
// says: bytes went to the host in the call
// The host transposes, and hands the answer over as parameters of kernels, which write it.
#include "05-transpose.h"

#include <stdlib.h>

enum { SOME = 1000 };
struct Answer {
    float number[SOME];
};

__global__ void put(float *out, Answer answer, int n)
{
    if (threadIdx.x < n)
        out[threadIdx.x] = answer.number[threadIdx.x];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    size_t bytes = sizeof(float) * n;
    if (n == 0)
        return;

    float *from = (float *)malloc(bytes);
    cudaMemcpy(from, in, bytes, cudaMemcpyDeviceToHost);
    for (int first = 0; first < n; first += SOME) {
        Answer answer;
        int count = n - first < SOME ? n - first : SOME;
        for (int i = 0; i < count; i++)
            answer.number[i] = from[(first + i) % rows * cols + (first + i) / rows];
        put<<<1, SOME>>>(out + first, answer, count);
    }
    cudaDeviceSynchronize();
    free(from);
}
