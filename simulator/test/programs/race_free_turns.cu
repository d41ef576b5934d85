// expect: exit 0
// Lanes of one warp draw places by one atomic, and the last of them reads what the others stored before they drew.
#include "check.h"
#include "atomic.h"

using Counter = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

static __device__ int sum_of(const int *x, int first, int step)
{
    int sum = 0;
    for (int i = first; i < 32; i += step) sum += x[i];
    return sum;
}

__global__ void fenced(int *x, unsigned *drawn, int *out)
{
    x[threadIdx.x] = 1;
    __threadfence();
    if (atomicInc(drawn, 1000) < 31) return;
    __threadfence();
    *out = sum_of(x, 0, 1);
}

// The even lanes draw from one counter, the odd ones from another.
__global__ void by_order(int *out)
{
    __shared__ int x[32];
    __shared__ unsigned drawn[2];
    int lane = threadIdx.x, one = lane % 2;
    if (lane < 2) drawn[lane] = 0;
    __syncwarp();
    x[lane] = 1;
    if (Counter(drawn[one]).fetch_add(1, cuda::memory_order_acq_rel) == 15) out[one] = sum_of(x, one, 2);
}

int main()
{
    int *x, *out, host[3];
    unsigned *drawn;
    OK(cudaMalloc(&x, 32 * sizeof *x));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMalloc(&drawn, sizeof *drawn));
    OK(cudaMemset(drawn, 0, sizeof *drawn));
    fenced<<<1, 32>>>(x, drawn, out);
    by_order<<<1, 32>>>(out + 1);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 32 && host[1] == 16 && host[2] == 16);
    OK(cudaFree(x));
    OK(cudaFree(out));
    OK(cudaFree(drawn));
    return 0;
}
