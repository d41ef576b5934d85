// expect: race 21, race 22, race 23, race 24, race 25, race 26, exit 0
// says: of the 8-byte variable pair<int2>, by
// says: of the 4-byte variable here::b, by
// says: of the 4-byte variable here::c, by
// says: of the 4-byte variable (anonymous namespace)::d, by
// says: of the 4-byte variable e, by
// says: of the 4-byte variable store(int)::f, by
// build: -rdc=true
// Messages name variables as the program does, whatever nvcc makes of the name; of those of one file alone it makes most with -rdc.
#include "check.h"

#pragma nv_diag_suppress 550         // set, but never used
template <class T> __device__ T pair;
namespace here { __device__ int b; static __device__ int c; }
namespace { __device__ int d; }
static __device__ int e;

__global__ void store(int x)
{
    static __device__ int f;
    pair<int2>.x = threadIdx.x;
    here::b = threadIdx.x;
    here::c = threadIdx.x;
    d = threadIdx.x;
    e = threadIdx.x;
    f = threadIdx.x + x;
    __syncthreads();
    if (f == 0) __trap();
}

int main()
{
    store<<<1, 32>>>(1);
    OK(cudaDeviceSynchronize());
    return 0;
}
