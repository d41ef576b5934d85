// expect: unsupported 39
// PTX that the program brings itself; then PTX that is none.
#include "check.h"

static const char ptx[] =
    ".version 9.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 bias = 5;\n"
    ".visible .entry plus(.param .u64 p, .param .u32 n)\n"
    "{\n"
    "    .reg .b32 %r<4>;\n"
    "    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [p];\n"
    "    ld.param.u32 %r1, [n];\n"
    "    ld.global.u32 %r2, [bias];\n"
    "    add.u32 %r3, %r1, %r2;\n"
    "    cvta.to.global.u64 %rd2, %rd1;\n"
    "    st.global.u32 [%rd2], %r3;\n"
    "    ret;\n"
    "}\n";

int main(void)
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    unsigned *p, value = 0, n = 37;
    OK(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&kernel, library, "plus"));
    CHECK(cudaLibraryGetKernel(&kernel, library, "minus") == cudaErrorSymbolNotFound);
    OK(cudaLibraryGetKernel(&kernel, library, "plus"));
    OK(cudaMalloc((void **)&p, sizeof *p));
    void *arguments[] = { &p, &n };
    dim3 one = { 1, 1, 1 };
    OK(cudaLaunchKernel(kernel, one, one, arguments, 0, 0));
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 42);
    OK(cudaLibraryUnload(library));
    CHECK(cudaLibraryLoadData(&library, "no PTX", NULL, NULL, 0, NULL, NULL, 0) == cudaErrorInvalidPtx);
    OK(cudaFree(p));
    return 0;
}
