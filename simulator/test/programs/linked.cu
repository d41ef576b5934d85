// expect: bounds 26
// says: 128-byte allocation
// run: --devices 2
// build: -rdc=true simulator/test/programs/linked/other.cu
// Two translation units, linked on the device: each has functions, pointers to them, and variables of every kind that
// the other uses, and static ones of the same name. On each device the whole is linked anew.
#include "linked/common.h"

__device__ int table[3] = { 10, 20, 30 };

static __device__ __noinline__ int helper(int x) { return x + 1; }

__global__ void run(int *p)
{
    int mine = threadIdx.x;
    p[mine] = triple(helper(mine)) + scale[mine % 4] + pick(mine & 1)(mine) + fill_buffer(mine) + half(mine);
    if (mine == 0) {
        total += *target;
        everywhere++;
    }
}

__global__ void beyond(int *p) { p[threadIdx.x] = past_end(p, threadIdx.x + 32); }

static void use(int device)
{
    int *p, host[32];
    OK(cudaSetDevice(device));
    OK(cudaMalloc(&p, sizeof host));
    run<<<1, 32>>>(p);
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        CHECK(host[i] == 3 * (i + 1) + 7 + (i % 4 + 1) + (i & 1 ? 3 * i + 7 : -i) + 31 - i + i / 2);
    CHECK(everywhere == 8 + device);
    CHECK(launch_other(p) == 100 + 20 + 1);
    clear<<<1, 32>>>(p);
    OK(cudaFree(p));
}

int main()
{
    use(0);
    use(1);
    int *p;
    OK(cudaMalloc(&p, 128));
    OK(cudaMemset(p, 0, 128));
    beyond<<<1, 32>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
