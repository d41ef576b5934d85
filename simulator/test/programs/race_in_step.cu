// expect: race 26, race 39
// says: volatile lets none wait for another: the value may not be there yet
// What a lane stores for another of its warp, by volatile accesses alone, is there if the warp runs in step, and nothing says that it does.
// With what makes lanes wait it is there: __syncwarp(), a barrier, a vote, or a flag.
#include "check.h"

enum { LANES = 32 };
enum how { IN_STEP, SYNCWARP, VOTE };

template <how HOW>
static __device__ void wait()
{
    if (HOW == SYNCWARP) __syncwarp();
    if (HOW == VOTE) __any_sync(~0u, threadIdx.x);
}

template <how HOW>
__global__ void sum(int *out)
{
    __shared__ volatile int sums[2 * LANES];
    int lane = threadIdx.x, mine = lane;
    sums[lane] = lane;
    sums[lane + LANES] = 0;
    for (int step = 16; step; step /= 2) {
        wait<HOW>();
        mine += sums[lane + step];
        wait<HOW>();
        sums[lane] = mine;
    }
    out[lane] = mine;
}

// The same in global memory.
template <how HOW>
__global__ void turn(volatile int *place, int *out)
{
    place[threadIdx.x] = threadIdx.x;
    wait<HOW>();
    out[threadIdx.x] = place[LANES - 1 - threadIdx.x];
}

// A lane waits for the flag of the lane before it, and reads what that has stored.
__global__ void hand_on(int *out)
{
    __shared__ volatile int flags[LANES], values[LANES];
    int lane = threadIdx.x;
    flags[lane] = lane == 0;
    values[lane] = 1;
    __syncwarp();
    if (lane) {
        while (!flags[lane - 1]) ;
        __threadfence_block();
        values[lane] = values[lane - 1] + 1;
        __threadfence_block();
        flags[lane] = 1;
    }
    out[lane] = values[lane];
}

// Each lane reads what it has stored itself.
__global__ void keep(int *out)
{
    __shared__ volatile int own[LANES];
    own[threadIdx.x] = 7;
    out[threadIdx.x] = own[threadIdx.x];
}

int main()
{
    int *out, *place, host[LANES];
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMalloc(&place, sizeof host));
    sum<IN_STEP><<<1, LANES>>>(out);
    turn<IN_STEP><<<1, LANES>>>(place, out);
    sum<SYNCWARP><<<1, LANES>>>(out);
    turn<SYNCWARP><<<1, LANES>>>(place, out);
    sum<VOTE><<<1, LANES>>>(out);
    turn<VOTE><<<1, LANES>>>(place, out);
    keep<<<1, LANES>>>(out);
    hand_on<<<1, LANES>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int n = 0; n < LANES; n++) CHECK(host[n] == n + 1);
    OK(cudaFree(out));
    OK(cudaFree(place));
    return 0;
}
