// expect: exit 0
// Streams' priorities on the clock: work of a greater priority does not wait for blocks of a lesser one that have not begun,
// which end that much later; of equal ones the later waits. Small copies take their time too.
#include "check.h"

enum { ROUNDS = 200 };

__global__ void heavy(float *out, int rounds)
{
    float x = threadIdx.x;
    for (int n = 0; n < rounds; n++)
        x = x * 0.5f + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static float *out;

// Microseconds from the beginning to the end of both kernels.
static void run(cudaStream_t one, cudaStream_t two, float *first, float *second)
{
    cudaEvent_t at[3];
    for (int i = 0; i < 3; i++)
        OK(cudaEventCreate(&at[i]));
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(at[0], one));
    heavy<<<132 * 64, 256, 0, one>>>(out, ROUNDS);
    OK(cudaEventRecord(at[1], one));
    if (two) {
        heavy<<<132, 256, 0, two>>>(out + 132 * 64 * 256, ROUNDS);
        OK(cudaEventRecord(at[2], two));
    }
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(first, at[0], at[1]));
    if (two)
        OK(cudaEventElapsedTime(second, at[0], at[2]));
    for (int i = 0; i < 3; i++)
        OK(cudaEventDestroy(at[i]));
}

static float each(int bytes, cudaMemcpyKind kind, void *to, const void *from)
{
    enum { MANY = 10 };
    float ms;
    cudaEvent_t start, stop;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    heavy<<<132 * 64, 256>>>(out, ROUNDS);  // the device is busy until all have been issued
    OK(cudaEventRecord(start));
    for (int i = 0; i < MANY; i++)
        OK(cudaMemcpyAsync(to, from, bytes, kind));
    OK(cudaEventRecord(stop));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventElapsedTime(&ms, start, stop));
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
    return ms / MANY * 1000;
}

int main()
{
    int least, greatest;
    float alone, first, second, *pinned;
    cudaStream_t low, same, high;
    OK(cudaMalloc(&out, (132 * 64 + 132) * 256 * sizeof *out));
    OK(cudaMallocHost(&pinned, 4096));
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    OK(cudaStreamCreateWithPriority(&same, cudaStreamNonBlocking, least));
    OK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    run(low, 0, &alone, 0);
    run(low, same, &first, &second);
    CHECK(first == alone && second > first);
    run(low, high, &first, &second);
    CHECK(second < alone / 2 && first > alone && first < alone + second);
    OK(cudaMemset(out, 0, 4096));
    CHECK(each(4, cudaMemcpyHostToDevice, out, pinned) > 2 && each(4, cudaMemcpyHostToDevice, out, pinned) < 3);
    CHECK(each(4, cudaMemcpyDeviceToHost, pinned, out) > 1 && each(4, cudaMemcpyDeviceToHost, pinned, out) < 2);
    CHECK(each(4096, cudaMemcpyDeviceToDevice, out, out + 1024) > 1.5f);
    OK(cudaStreamDestroy(low));
    OK(cudaStreamDestroy(same));
    OK(cudaStreamDestroy(high));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(out));
}
