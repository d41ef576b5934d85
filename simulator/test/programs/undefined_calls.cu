// expect: uninitialized 23, uninitialized 30, uninitialized 37, uninitialized 47, uninitialized 14, uninitialized 64, uninitialized 73, uninitialized 78
// says: a branch depends on a value that was read from memory that nothing wrote
// says: whether a store happens depends on a value that was read from memory that nothing wrote
// says: a branch depends on a value that was computed from memory that nothing wrote
// says: an address depends on a value that was read from memory that nothing wrote
// Undefined values through parameters and results of calls, parts of structures, memory, and a store's condition; and the
// same with what is defined beside them.
#include "check.h"

struct Three { int a, b; short c; };

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ Three turned(Three t) { return { t.b, t.a, t.c }; }
__device__ __noinline__ void put(int *out, int i) { out[i] = 1; }   // 14

__global__ void by_result(int *out, const int *unset, const int *set)
{
    int x = twice(unset[0]), y = twice(set[0]);
    if (y > 3) out[0] = y;
#pragma unroll 1
    for (int i = 0; i < y; i++) out[i] = x;
#pragma unroll 1
    for (int i = 0; i < (x & 1); i++) out[i] = i;       // 23
}

__global__ void by_part(int *out, const int *unset, const int *set)
{
    Three t = turned({ set[0], unset[0], (short)set[1] });
    if (t.b) out[t.c] = t.b;                            // b and c are set
    if (t.a > 0) __nanosleep(t.a & 1);                  // 30
}

// The condition of one store is no branch.
__global__ void guarded(int *out, const int *unset, const int *set)
{
    if (set[0]) out[1] = 2;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.u32 [%1], 3; }" :: "r"(unset[3]), "l"(out + 2) : "memory");
}

__global__ void through_shared(int *out, const int *set)
{
    __shared__ int tile[64], next[64];
    tile[threadIdx.x] = set[0];
    __syncthreads();
    next[threadIdx.x] = tile[threadIdx.x + 16] + 1;     // of 32 that were written
    __syncthreads();
    if (next[threadIdx.x] > 5) __nanosleep(20);         // 47
    if (next[threadIdx.x & 15] > 5) __nanosleep(20);
    out[threadIdx.x] = next[threadIdx.x & 15];
}

__global__ void by_address(int *out, const int *unset)
{
    put(out, unset[5] & 3);
}

// An array of a thread's own, half of it filled.
__global__ void by_local(int *out, const int *set)
{
    int own[8];
#pragma unroll 1
    for (int i = 0; i < 4; i++) own[i] = set[i];
    if (own[set[0] + 2] > 0) __nanosleep(20);
    if (own[set[0] + 3] > 0) __nanosleep(20);           // 64
    out[0] = own[1];
}

// The upper half of a double word, and a vote.
__global__ void halves(const long long *unset)
{
    int high;
    asm volatile("{ .reg .b32 low; mov.b64 {low, %0}, %1; }" : "=r"(high) : "l"(unset[0]));
    if (high > 0) __nanosleep(20);                      // 73
}

__global__ void voted(const int *unset)
{
    if (__any_sync(~0u, unset[0] > 0)) __nanosleep(20); // 78
}

int main()
{
    int *set, *unset, *out, host[64];
    for (int i = 0; i < 64; i++) host[i] = 1;
    OK(cudaMalloc(&set, sizeof host));
    OK(cudaMalloc(&unset, sizeof host));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMemcpy(set, host, sizeof host, cudaMemcpyHostToDevice));
    by_result<<<1, 1>>>(out, unset, set);
    by_part<<<1, 1>>>(out, unset, set);
    guarded<<<1, 1>>>(out, unset, set);
    through_shared<<<1, 32>>>(out, set);
    by_address<<<1, 1>>>(out, unset);
    by_local<<<1, 1>>>(out, set);
    halves<<<1, 1>>>((const long long *)unset);
    voted<<<1, 32>>>(unset);
    OK(cudaMemset(unset, 0, sizeof host));
    by_result<<<1, 1>>>(out, unset, set);
    by_part<<<1, 1>>>(out, unset, set);
    guarded<<<1, 1>>>(out, unset, set);
    by_address<<<1, 1>>>(out, unset);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(set));
    OK(cudaFree(unset));
    OK(cudaFree(out));
    return 0;
}
