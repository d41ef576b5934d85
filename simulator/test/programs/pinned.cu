// expect: exit 0
// Pinned memory: kernels reach it in place, and copies of it run faster than those of pageable memory.
#include "check.h"
#include <vector>

enum { N = 1 << 20 };

__global__ void add(int *p, int *q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] += q[i];
}

static float copy_time(void *device, void *host)
{
    cudaEvent_t from, to;
    float time;
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventRecord(from));
    OK(cudaMemcpyAsync(device, host, N * sizeof(int), cudaMemcpyHostToDevice));
    OK(cudaEventRecord(to));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&time, from, to));
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    return time;
}

int main()
{
    int *p, *q, *d, *mapped;
    unsigned flags;
    std::vector<int> pageable(N, 9);
    OK(cudaMallocHost(&p, N * sizeof *p));
    OK(cudaHostAlloc(&q, N * sizeof *q, cudaHostAllocMapped));
    OK(cudaMalloc(&d, N * sizeof *d));
    for (int i = 0; i < N; i++) {
        CHECK(p[i] == 0);
        p[i] = i;
        q[i] = 2 * i;
    }
    OK(cudaHostGetDevicePointer(&mapped, q, 0));
    OK(cudaHostGetFlags(&flags, q));
    add<<<N / 256, 256>>>(p, mapped);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        CHECK(p[i] == 3 * i);

    OK(cudaMemcpy(d, p, N * sizeof *d, cudaMemcpyHostToDevice));
    OK(cudaMemset(p, 0, N * sizeof *p));
    CHECK(p[77] == 0);
    OK(cudaMemcpy(p, d, N * sizeof *d, cudaMemcpyDefault));
    CHECK(p[77] == 231);

    float slow = copy_time(d, pageable.data()), fast = copy_time(d, p);
    OK(cudaHostRegister(pageable.data(), N * sizeof(int), cudaHostRegisterDefault));
    float registered = copy_time(d, pageable.data());
    CHECK(slow > 5 * fast && registered == fast);
    CHECK(cudaHostRegister(pageable.data(), 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostUnregister(pageable.data()));
    CHECK(cudaHostUnregister(pageable.data()) == cudaErrorHostMemoryNotRegistered);

    cudaPointerAttributes of;
    OK(cudaPointerGetAttributes(&of, q + 3));
    CHECK(of.type == cudaMemoryTypeHost && of.devicePointer == q + 3 && of.hostPointer == q + 3);
    OK(cudaFreeHost(p));
    OK(cudaFreeHost(q));
    OK(cudaFree(d));
    OK(cudaFreeHost(NULL));
    return 0;
}
