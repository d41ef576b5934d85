// expect: SUSPECT
// says: bytes went to the host in the call
// The host transposes in pinned memory. A kernel's own copies, which are between arrays of the device for all that they say,
// take the matrix there and bring the answer back.
#include "05-transpose.h"

static const char program[] = R"(.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 result) __cudaCDP2MemcpyAsync
(.param .b64 to, .param .b64 from, .param .b64 bytes, .param .b32 kind, .param .b64 stream);
.visible .entry copy(.param .u64 to, .param .u64 from, .param .u64 bytes) {
.reg .b64 %d<4>;
ld.param.u64 %d1, [to];
ld.param.u64 %d2, [from];
ld.param.u64 %d3, [bytes];
.param .b64 a;
.param .b64 b;
.param .b64 c;
.param .b32 d;
.param .b64 e;
.param .b32 r;
st.param.b64 [a], %d1;
st.param.b64 [b], %d2;
st.param.b64 [c], %d3;
st.param.b32 [d], 3;
st.param.b64 [e], 0;
call.uni (r), __cudaCDP2MemcpyAsync, (a, b, c, d, e);
ret;
}
)";

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

static void copy(float *to, const float *from, size_t bytes)
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    void *arguments[] = { &to, &from, &bytes };
    cudaLibraryLoadData(&library, program, NULL, NULL, 0, NULL, NULL, 0);
    cudaLibraryGetKernel(&kernel, library, "copy");
    cudaLaunchKernel((const void *)kernel, 1, 1, arguments, 0, 0);
    cudaDeviceSynchronize();
    cudaLibraryUnload(library);
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    size_t bytes = n * sizeof(float);
    float *from, *to, *aside;
    if (n == 0)
        return;

    cudaMallocHost(&from, bytes);
    cudaMallocHost(&to, bytes);
    cudaMalloc(&aside, bytes);
    copy(from, in, bytes);
    for (int i = 0; i < n; i++)
        to[i % cols * rows + i / cols] = from[i];
    copy(aside, to, bytes);
    move<<<(n + 255) / 256, 256>>>(out, aside, n);
    cudaDeviceSynchronize();
    cudaFree(aside);
    cudaFreeHost(from);
    cudaFreeHost(to);
}
