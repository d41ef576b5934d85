// expect: race 56, race 68, race 81, race 93, exit 0
// A lane stores what it has worked out from what other lanes have read and passed on: the store cannot come before the reads, though
// shuffles order nothing. What a lane stores from elsewhere can.
#include "check.h"

static const unsigned ALL = ~0u;

__global__ void sum(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, v;
    s[t] = t;
    __syncwarp();
    v = s[t];
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(ALL, v, o);
    s[0] = v;
    __syncwarp();
    out[t] = s[0];
}

// The place, and whether to store, are worked out.
__global__ void place(int *out)
{
    __shared__ int s[33];
    int t = threadIdx.x, v;
    s[t] = 31 - t;
    __syncwarp();
    v = s[t];
    unsigned high = __ballot_sync(ALL, v > 15);
    int first = __ffs(high) - 1;
    s[(first + t) % 32] = 7;
    __syncwarp();
    v = s[31 - t];
    if (__any_sync(ALL, v == 7)) s[t] = 8;
    __syncwarp();
    out[t] = s[t];
}

// In global memory, and by way of two lanes.
__global__ void neighbours(int *all)
{
    int t = threadIdx.x, v = all[t];
    v = __shfl_sync(ALL, v, (t + 1) % 32);
    v += __shfl_sync(ALL, v, (t + 1) % 32);
    all[(t + 2) % 32] = v;
}

// The sum comes to lane 0 alone.
__global__ void to_one(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, v;
    s[t] = t;
    __syncwarp();
    v =
        s[t];                                                   // 56: lane 31 does not know what lane 0 has read
    for (int o = 16; o; o /= 2) v += __shfl_down_sync(ALL, v, o);
    s[31 - t] = v;
    __syncwarp();
    out[t] = s[0];
}

__global__ void something_else(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, v = 1, u;
    s[t] = t; __syncwarp();
    u = s[t];                                                   // 68
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(ALL, v, o);
    s[31 - t] = v;
    __syncwarp();
    out[t] = s[0] + u;
}

// Another read than the one that is passed on.
__global__ void read_later(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, v, u;
    s[t] = t; __syncwarp();
    v = __shfl_xor_sync(ALL, s[t], 16), u = s[(t + 1) % 32];    // 81
    s[t] = v;
    __syncwarp();
    out[t] = s[0] + u;
}

// A reader of another warp.
__global__ void other_warp(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, v;
    if (t < 32) s[t] = t;
    __syncthreads(); v = s[t % 32];                             // 93
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(ALL, v, o);
    if (t < 32) s[t] = v;
    __syncthreads();
    out[t] = s[t % 32];
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 256));
    OK(cudaMemset(out, 0, 256));
    sum<<<1, 32>>>(out);
    place<<<1, 32>>>(out);
    neighbours<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    to_one<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    something_else<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    read_later<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    other_warp<<<1, 64>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
