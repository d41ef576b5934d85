// expect: race 14, race 20, exit 0
// says: with a flag but no fence between
// says: and nothing puts the two operations in order
// Two kernels that run at the same time: a hand-off with no fence behind the data, and one with no flag at all.
#include "check.h"

__global__ void give(int *data, volatile int *flag)
{
    *data = 7;
    *flag = 1;
}

__global__ void take(volatile int *flag, int *data)
{   while (!*flag) {} if (*data != 7) __trap();
    __threadfence();
}

__global__ void look(int *data)
{
    if (data[1] != 1) printf("%d\n", data[1]);
}

__global__ void write(int *data) { data[1] = 2; }

int main()
{
    int *data;
    cudaStream_t one, two;
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreate(&two));
    OK(cudaMalloc(&data, 3 * sizeof *data));
    OK(cudaMemset(data, 0, 3 * sizeof *data));
    OK(cudaDeviceSynchronize());
    take<<<1, 1, 0, one>>>(data + 2, data);
    give<<<1, 1, 0, two>>>(data, data + 2);
    OK(cudaDeviceSynchronize());
    write<<<1, 1, 0, one>>>(data);
    look<<<1, 1, 0, two>>>(data);
    OK(cudaDeviceSynchronize());
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    OK(cudaFree(data));
}
