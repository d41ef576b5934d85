// expect: exit 0
// migrations: DtoH cpu-fault 0 1, HtoD gpu-fault 4096 1, HtoD gpu-fault 4096 1, HtoD gpu-fault 0 1, DtoH cpu-fault 4096 1, HtoD gpu-fault 0 1, DtoH cpu-fault 0 1
// What advice changes: read-mostly pages lie on both sides until somebody writes, preferred ones stay on the host,
// and those that the device accesses by mapping do not fault.
#include "check.h"

__device__ int sink;

__global__ void read(const int *p)
{
    if (p[threadIdx.x] == -1)
        sink = 1;
}

__global__ void write(int *p)
{
    p[threadIdx.x] = 7;
}

static int *fresh()
{
    int *p;
    OK(cudaMallocManaged(&p, 4096));
    return p;
}

int main()
{
    cudaMemLocation device = { cudaMemLocationTypeDevice, 0 }, host = { cudaMemLocationTypeHost, 0 };
    int *p = fresh();
    p[0] = 1;                                   // the first fault
    OK(cudaMemAdvise(p, 4096, cudaMemAdviseSetReadMostly, device));
    read<<<1, 32>>>(p);                         // copied: on both sides now
    OK(cudaDeviceSynchronize());
    CHECK(p[0] == 1);                           // so neither faults
    read<<<1, 32>>>(p);
    OK(cudaDeviceSynchronize());
    p[0] = 2;                                   // drops the device's copy
    read<<<1, 32>>>(p);                         // copied again
    OK(cudaDeviceSynchronize());
    write<<<1, 32>>>(p);                        // drops the host's copy: a fault, nothing moves
    OK(cudaDeviceSynchronize());
    CHECK(p[0] == 7);                           // copied to the host
    int value;
    OK(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, p, 4096));
    CHECK(value == 1);

    int *q = fresh();
    OK(cudaMemAdvise(q, 4096, cudaMemAdviseSetPreferredLocation, host));
    write<<<1, 32>>>(q);                        // a fault maps it; it stays on the host
    OK(cudaDeviceSynchronize());
    CHECK(q[31] == 7);
    write<<<1, 32>>>(q);
    OK(cudaDeviceSynchronize());
    OK(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributePreferredLocation, q, 4096));
    CHECK(value == cudaCpuDeviceId);

    int *r = fresh();
    OK(cudaMemAdvise(r, 4096, cudaMemAdviseSetAccessedBy, device));
    r[0] = 1;                                   // the last fault
    write<<<1, 32>>>(r);
    OK(cudaDeviceSynchronize());
    CHECK(r[0] == 7);
    CHECK(cudaMemAdvise(r, 4096, (enum cudaMemoryAdvise)99, device) == cudaErrorInvalidValue);
    OK(cudaFree(p));
    OK(cudaFree(q));
    OK(cudaFree(r));
    return 0;
}
