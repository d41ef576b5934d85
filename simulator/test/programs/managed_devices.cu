// expect: exit 0
// run: --devices 2
// migrations: HtoD gpu-fault 0 1, HtoD gpu-fault 0 1, DtoD gpu-fault 65536 0, DtoD prefetch 65536 0, HtoD gpu-fault 0 1, DtoH cpu-fault 65536 1, HtoD gpu-fault 65536 1, HtoD gpu-fault 0 1, DtoD gpu-fault 65536 0, HtoD gpu-fault 0 1
// counts: write nvltx__bytes.sum 65536
// counts: read nvlrx__bytes.sum 0
// Managed memory of two devices: pages follow the kernels over the link, stay where they are advised to, are reached
// there, and lie on both where they are only read.
#include "check.h"

enum { BYTES = 64 << 10, N = BYTES / 4 };

__global__ void write(int *p) { p[threadIdx.x + blockIdx.x * blockDim.x] = threadIdx.x; }
__global__ void read(const int *p, int *sum)
{
    if (p[threadIdx.x + blockIdx.x * blockDim.x] == -1)
        *sum = 1;
}

static cudaMemLocation device(int id)
{
    cudaMemLocation at = {};
    at.type = cudaMemLocationTypeDevice;
    at.id = id;
    return at;
}

static void use(int id, int *p, int *sum)
{
    OK(cudaSetDevice(id));
    if (sum)
        read<<<N / 1024, 1024>>>(p, sum);
    else
        write<<<N / 1024, 1024>>>(p);
    OK(cudaDeviceSynchronize());
}

int main()
{
    int *p, *sum, list[3], where;
    OK(cudaMallocManaged(&p, BYTES));
    use(0, p, NULL);                    // a first touch
    use(1, p, NULL);                    // from device 0
    OK(cudaMemPrefetchAsync(p, BYTES, device(0), 0, 0));
    OK(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributeLastPrefetchLocation, p, BYTES));
    CHECK(where == 0);
    OK(cudaMemAdvise(p, BYTES, cudaMemAdviseSetPreferredLocation, device(0)));
    OK(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributePreferredLocation, p, BYTES));
    CHECK(where == 0);
    use(1, p, NULL);                    // faults once, and writes over the link
    use(1, p, NULL);                    // no fault
    CHECK(p[0] == 0);                   // the host takes it from wherever it lies
    use(0, p, NULL);
    OK(cudaMemAdvise(p, BYTES, cudaMemAdviseUnsetPreferredLocation, device(0)));
    OK(cudaMalloc(&sum, 4));
    OK(cudaMemAdvise(p, BYTES, cudaMemAdviseSetReadMostly, device(0)));
    use(1, p, sum);                     // the page is copied
    use(0, p, sum);
    use(1, p, sum);                     // both have it
    OK(cudaMemAdvise(p, BYTES, cudaMemAdviseUnsetReadMostly, device(0)));
    use(0, p, NULL);                    // the other copy is gone
    OK(cudaMemAdvise(p, BYTES, cudaMemAdviseSetAccessedBy, device(1)));
    OK(cudaMemRangeGetAttribute(list, sizeof list, cudaMemRangeAttributeAccessedBy, p, BYTES));
    CHECK(list[0] == 1 && list[1] == cudaInvalidDeviceId && list[2] == cudaInvalidDeviceId);
    use(1, p, NULL);                    // over the link, without a fault
    CHECK(cudaMemAdvise(p, BYTES, cudaMemAdviseSetAccessedBy, device(2)) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(p, BYTES, device(-1), 0, 0) == cudaErrorInvalidDevice);
    cudaGetLastError();
    OK(cudaFree(sum));
    OK(cudaFree(p));
    return 0;
}
