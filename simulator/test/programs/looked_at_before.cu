// expect: uninitialized 14, uninitialized 29, uninitialized 46, bounds 37, exit 0
// says: of the 1320-byte allocation
// An instruction that comes again and again with the same shape is looked at all the same where it matters: when it comes to
// what nothing wrote, also where all was written a stretch before or behind, when it stores such a value over a good one, and when it leaves the array.
#include "check.h"

// Row after row; only the last is not written.
__global__ void last_row(int *out, const int *in, int rows)
{
    int sum = 0;
    for (int k = 0; k < rows; k++) {
        int x = in[k * 32 + threadIdx.x];
        sum += x;
        if (x > 5)
            out[32 + k] = x;
    }
    out[threadIdx.x] = sum;
}

// The second block's values nothing wrote; what they are stored over was written.
__global__ void copy(int *out, const int *in)
{
    for (int k = 0; k < 3; k++) out[blockIdx.x * 32 + threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
}

__global__ void decide(int *out, const int *in)
{
    out[threadIdx.x] = 1;
    if (in[32 + threadIdx.x] > 5)
        out[32 + threadIdx.x] = 2;
}

__global__ void beyond(float *out, const float *in, int rows)
{
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < rows; k++) sum += in[k * 32 + threadIdx.x];
    out[threadIdx.x] = sum;
}

// A row here, one far behind it, and the next one here.
__global__ void there_and_back(int *out, const int *in, int far)
{
#pragma unroll 1
    for (int k = 0; k < 3; k++)
        if (in[k % 2 * far + k / 2 * 32 + threadIdx.x] > 5)
            out[k] = 1;
}

static void look_far_away(int *out)
{
    enum { FAR = 256 << 10, BYTES = 8 * FAR };
    char *far;
    OK(cudaMalloc(&far, BYTES));
    OK(cudaMemset(far, 0, BYTES / 2 + 128));
    OK(cudaMemset(far + BYTES / 2 + 256, 0, BYTES / 2 - 256));
    there_and_back<<<1, 32>>>(out, (const int *)(far + BYTES / 2), FAR / 4);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(far));
}

int main()
{
    enum { BYTES = 330 * 4 };
    int *a, *b, *c;
    OK(cudaMalloc(&a, BYTES));
    OK(cudaMalloc(&b, BYTES));
    OK(cudaMalloc(&c, BYTES));
    OK(cudaMemset(a, 0, 9 * 128));
    OK(cudaMemset(b, 0, BYTES));
    last_row<<<1, 32>>>(b, a, 10);
    OK(cudaMemset(b, 0, BYTES));
    copy<<<2, 32>>>(b, a + 8 * 32);
    decide<<<1, 32>>>(c, b);
    beyond<<<1, 32>>>((float *)c, (const float *)b, 10);
    look_far_away(c);
    OK(cudaDeviceSynchronize());
    beyond<<<1, 32>>>((float *)c, (const float *)b, 11);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}
