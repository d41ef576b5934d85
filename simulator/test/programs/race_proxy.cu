// expect: race 14
// says: copy in bulk of shared memory that was stored to, with no fence.proxy.async between
// Between stores and a copy in bulk of what they have stored stands a proxy fence: what is only read behind it, or stored right behind
// what is copied, needs none; the last word of what is copied does. What is copied may be read beside that.
#include "check.h"

static __device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void copy(int *to, const int *from)
{
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;"
                 "cp.async.bulk.commit_group;" :: "l"(to), "r"(at(from)) : "memory");           // 14
    to[64] = from[5];
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

template <int again> __global__ void kernel(int *out)
{
    __shared__ alignas(128) int s[64];
    int t = threadIdx.x;
    s[t] = t;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    s[32 + t] = s[31 - t];
    __syncwarp();
    if (t == 31 && again < 64) s[again] = 7;
    copy(out, s);
    out[32 + t] = s[63 - t];
}

int main()
{
    int *out, host[65];
    OK(cudaMalloc(&out, sizeof host));
    kernel<64><<<1, 32>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) CHECK(host[i] == i && host[32 + i] == i);
    CHECK(host[64] == 5);
    kernel<31><<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
