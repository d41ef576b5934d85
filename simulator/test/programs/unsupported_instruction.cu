// expect: unsupported 11, unsupported 18, exit 0
// says: fma.rn.oob.f16 (it has fma.rn.f16)
// says: '.reg .v4 .u32 several' (PTX line
// An instruction that the simulated device has not learnt is refused by name, at its line, with what comes nearest; what it
// cannot read at all is shown as it stands. The program's other kernels run.
#include "check.h"

__global__ void forget(float *out)
{
    unsigned short h = 0;
    asm("fma.rn.oob.f16 %0, %0, %0, %0;" : "+h"(h));
    out[0] = h;
}

__global__ void vectors(float *out)
{
    int x;
    asm("{ mov.u32 %0, 5;\n"
        ".reg .v4 .u32 several; }" : "=r"(x));
    out[0] = x;
}

__global__ void plain(float *out) { out[0] = 3; }

int main()
{
    float *out, back;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    forget<<<1, 32>>>(out);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    vectors<<<1, 32>>>(out);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    plain<<<1, 1>>>(out);
    OK(cudaMemcpy(&back, out, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back == 3);
    OK(cudaFree(out));
    return 0;
}
