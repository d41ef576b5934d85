// expect: exit 0
// Atomics of each kind and type, in global and in shared memory: counts that no lost update may spoil.
#include "check.h"

struct Sums {
    int add, sub, low, high;
    unsigned inc, dec, bits, toggled, seen;
    unsigned long long wide, wide_high;
    float f;
    double d;
    int swaps, shared;
};

__global__ void kernel(Sums *s)
{
    __shared__ int inside;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) inside = 0;
    __syncthreads();
    atomicAdd(&s->add, i);
    atomicSub(&s->sub, 2);
    atomicMin(&s->low, -i);
    atomicMax(&s->high, i);
    atomicInc(&s->inc, 99);
    atomicDec(&s->dec, 99);
    atomicOr(&s->bits, 1u << i % 32);
    atomicXor(&s->toggled, 1u << i % 3);
    atomicAnd(&s->seen, ~(1u << i % 5));
    atomicAdd(&s->wide, 1ull << 33);
    atomicMax(&s->wide_high, (unsigned long long)i << 20);
    atomicAdd(&s->f, 0.5f);
    atomicAdd(&s->d, 0.25);
    int old = s->swaps, seen;
    do {
        seen = old;
        old = atomicCAS(&s->swaps, seen, seen + 3);
    } while (old != seen);
    atomicAdd(&inside, 1);
    __syncthreads();
    if (t == 0) atomicAdd(&s->shared, atomicExch(&inside, 0));
}

int main()
{
    enum { N = 512 };
    Sums *s, host = {};
    host.seen = 0xffu;
    OK(cudaMalloc(&s, sizeof host));
    OK(cudaMemcpy(s, &host, sizeof host, cudaMemcpyHostToDevice));
    kernel<<<4, N / 4>>>(s);
    OK(cudaMemcpy(&host, s, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host.add == N * (N - 1) / 2 && host.sub == -2 * N);
    CHECK(host.low == 1 - N && host.high == N - 1);
    CHECK(host.inc == N % 100 && host.dec == (100 - N % 100) % 100);
    CHECK(host.bits == ~0u && host.seen == 0xe0u && host.toggled == 3);
    CHECK(host.wide == (unsigned long long)N << 33 && host.wide_high == (unsigned long long)(N - 1) << 20);
    CHECK(host.f == N / 2 && host.d == N / 4 && host.swaps == 3 * N && host.shared == N);
    OK(cudaFree(s));
    return 0;
}
