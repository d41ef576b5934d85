// expect: race 12, race 20, race 26, race 33, race 43, race 51, race 64, race 74, race 83, race 93, race 97, race 105, race 115, race 137, race 149, race 169, race 178, race 187, race 204, race 224, race 231, race 241, race 251, race 251, race 262
// says: thread (0,0,0) of block (1,0,0) reads what thread (63,0,0) of block (0,0,0) writes, at byte 252 of the 4096-byte allocation made at race_global.cu:273
// says: thread (32,0,0) also writes what thread (0,0,0) writes, at byte 0
// says: with a flag but no fence between
// says: thread (0,0,0) reads what thread (1,0,0) writes, at byte 4
// One race in each kernel: between blocks, between the warps of a block, within a warp, and for want of a fence.
#include "check.h"

// Blocks take their left neighbour's last value, which that block overwrites.
__global__ void in_place(int *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, left = i % 64 ? 0 : i ? a[i - 1] : 0;    // 12
    a[i] = left + 1;
}

// Each block's sum is kept in one place.
__global__ void overwritten(int *out)
{
    if (threadIdx.x) return;
    *out = 100 + blockIdx.x;                // 20
}

// No atomic.
__global__ void counted(int *count)
{
    *count += threadIdx.x == 0;             // 26
}

// Only whole warps are in step, if at all.
__global__ void of_warps(int *out)
{
    __syncthreads();
    if (threadIdx.x % 32 == 0) *out = threadIdx.x;  // 33
    __syncthreads();
}

// Lane after lane.
__global__ void within_warp(int *a)
{
    int i = threadIdx.x;
    a[i] = i;
    a[i + 64] = 0;
    a[i + 32] = a[i + 1 < 32 ? i + 1 : i];  // 43
}

// An atomic is no help to a thread that reads as if there were none.
__global__ void half_atomic(int *sum, int *out)
{
    if (blockIdx.x == 0)
        atomicAdd(sum, 1);
    else out[threadIdx.x] = *sum;           // 51
}

// The last block reads what the others wrote, but nothing makes them show the data before the count.
__global__ void no_fence(int *partial, unsigned *count, int *out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x + 1;
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    int sum = 0;
    for (int i = 0; last && i < gridDim.x; i++) sum += partial[i];  // 64
    if (last) out[threadIdx.x] = sum;
}

// A flag with a fence before it, and none behind the look at it.
__global__ void no_fence_behind(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x) {
        while (atomicAdd(flag, 0) == 0) continue;
        out[blockIdx.x] = *data;            // 74
        return;
    }
    *data = 7;
    __threadfence();
    atomicExch(flag, 1);
}

// An atomic of the block is none between blocks.
__global__ void block_atomic(int *sum)  { atomicAdd_block(sum, 1); } // 83

// All threads write, one of them fences for itself: the block's other warps are not waited for.
__global__ void no_barrier(int *data, int *flag, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        __threadfence();
        if (t == 0) atomicExch(flag, 1);
    } else if (atomicAdd(flag, 0) && (__threadfence(), true)) out[t] = data[63 - t];    // 93
}

// Lanes of one store that meet here and there.
__global__ void scattered(int *a) { a[threadIdx.x * 7 % 20] = threadIdx.x; }    // 97

// A __syncwarp() of half a warp says nothing of the other half.
__global__ void half_of_warp(int *a, int *out)
{
    int t = threadIdx.x;
    a[t] = t;
    if (t < 16) __syncwarp(0xffff);
    out[t] = t < 16 ? a[15 - t] + a[t + 16] : 0;                                // 105
}

// A fence of the block is none between blocks.
__global__ void near_fence(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x) {
        while (atomicAdd(flag, 0) == 0) continue;
        __threadfence();
        out[blockIdx.x] = *data;                                                // 115
        return;
    }
    *data = 7;
    __threadfence_block();
    atomicExch(flag, 1);
}

// A flag that another block sets anew says nothing of what the first one wrote.
__global__ void set_anew(int *data, volatile int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 7;
        __threadfence();
        *flag = 1;
    } else if (blockIdx.x == 1) {
        while (*flag == 0) continue;
        *flag = 2;
    } else {
        while (*flag != 2) continue;
        __threadfence();
        *out = *data;                                                           // 137
    }
}

// Written behind the flag.
__global__ void too_late(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x) {
        int seen;
        do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (!seen);
        *out = data[0] + data[1];                                               // 149
    } else {
        data[0] = 1;
        asm volatile("st.release.gpu.u32 [%0], 1;" :: "l"(flag) : "memory");
        data[1] = 1;
    }
}

// Blocks 0 and 2 tell that they are done, and block 1 does not.
__global__ void some_tell(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x < 3) {
        data[blockIdx.x] = 1;
        __threadfence();
        if (blockIdx.x != 1) atomicAdd(flag, 1);
    } else {
        while (atomicAdd(flag, 0) < 2) continue;
        __threadfence();
        *out = data[0] + data[2];
        *out = data[1];                                                         // 169
    }
}

// One block reads on and on, and the next overwrites what it read in between.
__global__ void read_on(int *a, int *out)
{
    int sum = 0;
#pragma unroll 1
    for (int i = 0; blockIdx.x == 0 && i < 32; i++) sum += a[i];                // 178
    if (blockIdx.x == 0) out[threadIdx.x] = sum;
    else if (threadIdx.x == 0) a[20] = 77;
}

// Blocks 0 and 1 read; block 2 has heard of the first of them only, and writes.
__global__ void unheard(int *a, int *flag, int *out)
{
    int sum = 0;
    if (blockIdx.x < 2) sum = a[threadIdx.x % 32];                              // 187
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    __threadfence();
    if (blockIdx.x == 0) atomicExch(flag, 1);
    if (blockIdx.x == 2) {
        while (atomicAdd(flag, 0) == 0) continue;
        __threadfence();
        a[5] = 78;
    }
}

// Blocks 0 and 1 read and tell; block 2 writes after them; block 3 reads and has heard nothing.
__global__ void heard(int *a, int *flag, int *out)
{
    int sum = 0;
    if (blockIdx.x != 2) sum = a[threadIdx.x];                                  // 204
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    __syncwarp();
    if (threadIdx.x) return;
    if (blockIdx.x < 2) {
        __threadfence();
        atomicAdd(flag, 1);
    } else if (blockIdx.x == 2) {
        while (atomicAdd(flag, 0) < 2) continue;
        __threadfence();
        a[5] = 79;
    }
}

// One block writes some odd places, one all the even, and the third reads.
__global__ void odd_and_even(int *a, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0 && t / 4 == 1) a[2 * t + 1] = t + 100;
    else if (blockIdx.x == 1) a[2 * t] = t + 100;
    else if (blockIdx.x == 2 && t % 2) out[t] = a[t];                                              // 224
}

// Many blocks write a word of a line; one reads some, and another overwrites them.
__global__ void in_parts(int *a, int *out)
{
    int b = blockIdx.x, t = threadIdx.x;
    if (b == 0 && t < 8) out[t] = a[t];                                         // 231
    else if (b == 4 && t == 0) a[3] = 80;
    else if (b && b < 4 && t == 0) a[8 + b] = b + 80;
}

// The report stands at the later line, whichever block came there first.
__global__ void two_lines(int *a)
{
    if (threadIdx.x) return;
    if (blockIdx.x) a[0] = 81;
    else a[0] = 82, a[1] = 83;                                                  // 241
}

// Neighbours in a word write bytes of their own, and one more block reads the first.
template <bool words_first> __global__ void bytes_of_word(unsigned char *p, int *out)
{
    int b = blockIdx.x;
    if (threadIdx.x) return;
    if (b < 3 && words_first) ((int *)p)[8 + b] = b + 90;
    else if (b >= 3 && b < 7) p[b - 3] = b + 90;
    else if (b == 7) out[0] = p[0];                                             // 251
}

// A load that neither barrier nor fence stands behind may come after the flag.
__global__ void late_load(int *a, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x) {
        while (atomicAdd(flag, 0) == 0) continue;
        a[6] = 84;
    } else {
        out[0] = a[6];                                                          // 262
        atomicExch(flag, 1);
    }
}

int main()
{
    int *a;
    unsigned *count;
    // The allocation that the first report names is made below.
    enum { BYTES = 4096 };
    OK(cudaMalloc(&a, BYTES));
    OK(cudaMalloc(&count, 4));
    OK(cudaMemset(a, 0, BYTES));
    OK(cudaMemset(count, 0, 4));
    in_place<<<2, 64>>>(a);
    overwritten<<<3, 32>>>(a);
    counted<<<2, 32>>>(a);
    of_warps<<<1, 64>>>(a);
    within_warp<<<1, 32>>>(a);
    half_atomic<<<2, 32>>>(a, a + 100);
    no_fence<<<4, 32>>>(a, count, a + 200);
    OK(cudaMemset(a, 0, BYTES));
    no_fence_behind<<<2, 32>>>(a, a + 32, a + 64);
    block_atomic<<<2, 32>>>(a);
    OK(cudaMemset(a, 0, BYTES));
    no_barrier<<<2, 64>>>(a, a + 100, a + 200);
    scattered<<<1, 32>>>(a);
    half_of_warp<<<1, 32>>>(a, a + 100);
    near_fence<<<2, 32>>>(a, a + 300, a + 400);
    set_anew<<<3, 32>>>(a, a + 301, a + 400);
    too_late<<<2, 32>>>(a, a + 302, a + 400);
    some_tell<<<4, 32>>>(a, a + 303, a + 400);
    read_on<<<2, 32>>>(a, a + 400);
    unheard<<<3, 64>>>(a, a + 304, a + 400);
    heard<<<4, 32>>>(a, a + 305, a + 400);
    odd_and_even<<<3, 32>>>(a, a + 400);
    in_parts<<<5, 32>>>(a, a + 400);
    two_lines<<<2, 32>>>(a);
    OK(cudaDeviceSynchronize());
    bytes_of_word<false><<<8, 32>>>((unsigned char *)a, a + 400);
    bytes_of_word<true><<<8, 32>>>((unsigned char *)a + 4, a + 400);
    late_load<<<2, 32>>>(a, a + 306, a + 400);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(a));
    OK(cudaFree(count));
    return 0;
}
