// expect: exit 0
// What a library has: its kernels, of which each can be launched, and a managed variable, which the host reads and writes.
#include "check.h"
#include <string.h>

static const char ptx[] = R"(
.version 9.0
.target sm_90
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 shared_by_both = 5;
.visible .global .align 4 .u32 device_only;
.visible .entry add_one()
{
    .reg .b32 %r<3>;
    ld.global.u32 %r1, [shared_by_both];
    add.u32 %r2, %r1, 1;
    st.global.u32 [shared_by_both], %r2;
    ret;
}
.visible .entry add_hundred()
{
    .reg .b32 %r<3>;
    ld.global.u32 %r1, [shared_by_both];
    add.u32 %r2, %r1, 100;
    st.global.u32 [shared_by_both], %r2;
    ret;
}
)";

int main()
{
    cudaLibrary_t library;
    cudaKernel_t kernels[3] = {}, by_name;
    unsigned count = 0;
    int *shared, *again;
    size_t bytes = 0;
    OK(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    OK(cudaLibraryGetKernelCount(&count, library));
    CHECK(count == 2);
    OK(cudaLibraryEnumerateKernels(kernels, 3, library));
    CHECK(kernels[0] && kernels[1] && kernels[0] != kernels[1] && !kernels[2]);
    OK(cudaLibraryGetKernel(&by_name, library, "add_one"));
    CHECK(by_name == kernels[0] || by_name == kernels[1]);
    OK(cudaLibraryGetManaged((void **)&shared, &bytes, library, "shared_by_both"));
    OK(cudaLibraryGetManaged((void **)&again, nullptr, library, "shared_by_both"));
    CHECK(bytes == 4 && shared == again && *shared == 5);
    for (int i = 0; i < 2; i++) OK(cudaLaunchKernel(kernels[i], dim3(1), dim3(1), nullptr, 0, 0));
    OK(cudaDeviceSynchronize());
    CHECK(*shared == 106);
    *shared = 1;
    OK(cudaLaunchKernel(by_name, dim3(1), dim3(1), nullptr, 0, 0));
    OK(cudaDeviceSynchronize());
    CHECK(*shared == 2);
    CHECK(cudaLibraryGetManaged((void **)&again, nullptr, library, "device_only") == cudaErrorSymbolNotFound);
    OK(cudaLibraryUnload(library));
    return 0;
}
