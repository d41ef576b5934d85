// expect: race 22, bounds 23, race 31, race 42, bounds 43, race 54, race 67, uninitialized 75, exit 0
// says: thread (0,0,0) reads what thread (95,0,0) writes in shared memory, with no barrier between
// says: Put a __syncthreads() that all threads reach between the two lines.
// says: The address was worked out from a value that was read before anything had written it.
// says: thread (0,0,0) of block (0,0,0) reads what thread (0,0,0) of block (3,0,0) writes
// says: do the second part in another launch
// says: a branch depends on a value that was read from memory that nothing wrote
// A value is read before another thread has written it, and its use would end the kernel before that: the race is told, and not that
// nothing wrote it. The user gives way to the writer.
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

// Another warp writes late.
__global__ void of_block(int *out)
{
    __shared__ int begin;
    int t = threadIdx.x;
    if (t == 95)
        begin = out[100];
    int first =
        begin;                                                  // 22
    out[first + t] = t;                                         // 23
}

// Another block writes late.
__global__ void of_grid(int *out, int *begin)
{
    if (blockIdx.x == 3) *begin = 0;
    int first =
        *begin;                                                 // 31
    out[first] = 1;                                             // 32
}

// The value goes astray in shared memory.
__global__ void in_window(int *out)
{
    __shared__ int begin, more[64];
    int t = threadIdx.x;
    if (t == 63) begin = out[100];
    int first =
        begin;                                                  // 42
    more[first + t] = 1;                                          // 43
    out[t] = more[t];
}

// It decides how often a loop runs.
__global__ void loop(int *out)
{
    __shared__ int rounds;
    int t = threadIdx.x, sum = 0;
    if (t == 63) rounds = out[100];
    int n =
        rounds;                                                 // 54
#pragma unroll 1
    for (int i = 0; i != (n & 3); i++) sum += i;
    out[t] = sum;
}

// It is stored, and copied to the host.
__global__ void stored(int *out)
{
    __shared__ int value;
    int t = threadIdx.x;
    if (t == 63) value = out[100];
    out[t] =
        value;                                                  // 67
}

// Nothing ever writes it.
__global__ void never(int *out)
{
    __shared__ int none[64];
    int t = threadIdx.x;
    if (none[t] == 7) out[t] = 1;                               // 75
}

int main()
{
    for (int which = 0; which < 4; which++) {
        int status, *x, host[64];
        pid_t child = fork();
        CHECK(child >= 0);
        if (child) {
            CHECK(waitpid(child, &status, 0) == child && status == 0);
            continue;
        }
        OK(cudaMalloc(&x, 1024));
        OK(cudaMemset(x, 0, 512));
        if (which == 0) of_block<<<1, 96>>>(x);
        if (which == 1) of_grid<<<4, 1>>>(x, x + 200);
        if (which == 2) in_window<<<1, 64>>>(x);
        if (which == 3) {
            loop<<<1, 64>>>(x), stored<<<1, 64>>>(x);
            OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
            never<<<1, 64>>>(x);
        }
        cudaDeviceSynchronize();
        _exit(0);
    }
    return 0;
}
