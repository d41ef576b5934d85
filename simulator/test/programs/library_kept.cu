// expect: exit 0
// run: --devices 2
// prints: here 5 there 5
// A program may change an image, or free it, once the library is loaded: the library has the image as it was, on
// a device that comes to it later, too.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static char image[] = ".version 7.8\n"
                      ".target sm_90\n"
                      ".address_size 64\n"
                      ".visible .entry put(.param .u64 to)\n"
                      "{\n"
                      "    .reg .u64 %a;\n"
                      "    ld.param.u64 %a, [to];\n"
                      "    st.global.u32 [%a], 5;\n"
                      "    ret;\n"
                      "}\n";

static int put(cudaLibrary_t library, int device)
{
    cudaKernel_t kernel = NULL;
    int *to, value = -1;
    void *arguments[] = { &to };
    cudaSetDevice(device);
    cudaMalloc(&to, sizeof *to);
    if (cudaLibraryGetKernel(&kernel, library, "put") == cudaSuccess)
        cudaLaunchKernel((void *)kernel, dim3(1), dim3(1), arguments, 0, NULL);
    cudaMemcpy(&value, to, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(to);
    return value;
}

int main()
{
    cudaLibrary_t library;
    if (cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0)) return 1;
    *strchr(image, '5') = '6';
    memset(image, ' ', sizeof image - 1);
    int here = put(library, 0), there = put(library, 1);
    printf("here %d there %d\n", here, there);
    cudaLibraryUnload(library);
}
