// expect: race 29, race 41, race 50, race 63, exit 0
// says: host code writes pinned memory that cudaMemcpyAsync may still be reading, at byte 20 of
// says: host code writes pinned memory that cudaMemcpy2DAsync may still be reading, at byte 256 of
// says: host code writes pinned memory that cudaMemcpyToSymbolAsync may still be reading
// What a copy reads in pinned memory may be read at any time until the host has waited: what the host writes there too early
// arrives as well.
#include "check.h"

enum { N = 256 };

__device__ int variable[N];

__global__ void add(int *p) { p[threadIdx.x]++; }

static int *in, *d;
static cudaStream_t s;

static int arrived(const void *from, int i)
{
    int all[N];
    OK(cudaMemcpy(all, from, sizeof all, cudaMemcpyDeviceToHost));
    return all[i];
}

static void plain()
{
    OK(cudaMemcpyAsync(d, in, N * sizeof *d, cudaMemcpyHostToDevice, s));
    CHECK(in[5] == 1);                  // to read it is right
    in[5] = 2;
    OK(cudaStreamSynchronize(s));
    CHECK(arrived(d, 5) == 2 && arrived(d, 6) == 1);
    in[5] = 1;
}

static void rows()
{
    OK(cudaMemset(d, 0, N * sizeof *d));
    OK(cudaMemcpy2DAsync(d, 4, in, 128, 4, 8, cudaMemcpyHostToDevice, s));
    for (int i = 1; i < 64; i++)
        if (i % 32) in[i] = 4;          // between the rows
    in[64] = 3;
    OK(cudaDeviceSynchronize());
    CHECK(arrived(d, 2) == 3 && arrived(d, 1) == 1);
}

static void to_variable(cudaEvent_t event)
{
    OK(cudaMemcpyToSymbolAsync(variable, in, N * sizeof *in, 0, cudaMemcpyHostToDevice, s));
    OK(cudaEventRecord(event, s));
    in[200] = 9;
    OK(cudaEventSynchronize(event));
    int there;
    OK(cudaMemcpyFromSymbol(&there, variable, sizeof there, 200 * sizeof there));
    CHECK(there == 9);
}

static void filled_again()
{
    for (int round = 0; round < 3; round++) {
        size_t free, total;
        OK(cudaMemGetInfo(&free, &total));      // a call that waits for nothing
        for (int i = 0; i < N; i++)
            in[i] = round;
        OK(cudaMemcpyAsync(d, in, N * sizeof *d, cudaMemcpyHostToDevice, s));
        add<<<1, N, 0, s>>>(d);
    }
    OK(cudaStreamSynchronize(s));
    CHECK(arrived(d, 0) == 3);
}

int main()
{
    cudaEvent_t event;
    OK(cudaStreamCreate(&s));
    OK(cudaEventCreate(&event));
    OK(cudaMallocHost(&in, N * sizeof *in));
    OK(cudaMalloc(&d, N * sizeof *d));
    for (int i = 0; i < N; i++)
        in[i] = 1;
    plain();
    rows();
    to_variable(event);
    filled_again();
    OK(cudaStreamDestroy(s));
    OK(cudaEventDestroy(event));
    OK(cudaFreeHost(in));
    OK(cudaFree(d));
    return 0;
}
