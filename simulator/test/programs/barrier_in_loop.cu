// expect: barrier 20, barrier 34
// says: 8 of 32 threads of a warp reach this barrier once more than the others
// says: some have left the loop in an earlier round
// says: 16 of 32 threads of a warp reach this barrier; the others do not
// The threads of a warp reach a barrier in a loop a different number of times: because some leave the loop earlier, or because it is
// in a condition there.
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

__global__ void sums(int *out, const int *in, int n)
{
    __shared__ int row[32];
    int t = threadIdx.x, sum = 0;
#pragma unroll 1
    for (int i = t; i < n; i += blockDim.x) {
        row[t] = in[i];
        __syncwarp(__activemask());
        sum += row[t];
        __syncthreads();                                        // 20
    }
    out[t] = sum;
}

__global__ void in_condition(int *out, int n)
{
    __shared__ int row[32];
    int t = threadIdx.x;
    row[t] = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        if (t < out[i]) {
            row[t] += i;
            __syncthreads();                                    // 34
        }
    out[t] = row[t];
}

int main()
{
    for (int which = 0; which < 2; which++) {
        int status, *x;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child) {
            CHECK(waitpid(child, &status, 0) == child && status == 0);
            continue;
        }
        OK(cudaMalloc(&x, 512));
        OK(cudaMemset(x, 0, 512));
        OK(cudaMemset(x, 16, 1));
        if (which == 0) sums<<<1, 32>>>(x, x + 32, 64);
        OK(cudaDeviceSynchronize());
        if (which == 0) sums<<<1, 32>>>(x, x + 32, 72);
        else in_condition<<<1, 32>>>(x, 4);
        cudaDeviceSynchronize();
        _exit(0);
    }
    return 0;
}
