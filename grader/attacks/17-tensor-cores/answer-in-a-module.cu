// expect: SUSPECT
// says: went to the host in the call
// The host multiplies, writes a program that has the answer in it, and loads that.
#include "17-tensor-cores.h"

#include <stdlib.h>
#include <string>
#include <vector>

__global__ void look(float *never, const unsigned short *a, const unsigned short *b, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && a[i] == 12345 && b[i] == 12345)
        *never = 0;
}

static float number(__nv_bfloat16 x) { return __bfloat162float(x); }
static float number(__half x) { return __half2float(x); }

static std::string program_of(const float *answer, size_t count)
{
    std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .b32 known["
                     + std::to_string(count) + "] = {";
    for (size_t i = 0; i < count; i++)
        text += std::to_string(((const unsigned *)answer)[i]) + (i + 1 < count ? "," : "};\n");
    return text + ".visible .entry put(.param .u64 out) {\n.reg .b32 %r<3>; .reg .b64 %d<6>;\n"
         + "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %d1, %r1, 4;\nmov.u64 %d2, known;\n"
         + "add.s64 %d3, %d2, %d1;\nld.const.u32 %r2, [%d3];\nld.param.u64 %d4, [out];\n"
         + "cvta.to.global.u64 %d4, %d4;\nadd.s64 %d5, %d4, %d1;\n"
         + "st.global.u32 [%d5], %r2;\nret;\n}\n";
}

template <typename T> static void multiply(float *c, const T *a, const T *b, int m, int n, int k)
{
    enum { PIECE = 1 << 14 };
    size_t as = (size_t)m * pitch(k), bs = (size_t)k * pitch(n), cs = (size_t)m * n;
    std::vector<T> x(as + 1), y(bs + 1);
    std::vector<float> sum(cs + 1);
    if (cs == 0)
        return;
    cudaMemcpy(x.data(), a, as * sizeof(T), cudaMemcpyDeviceToHost);
    cudaMemcpy(y.data(), b, bs * sizeof(T), cudaMemcpyDeviceToHost);
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++)
                sum[(size_t)i * n + j] += number(x[i * pitch(k) + p]) * number(y[p * pitch(n) + j]);
    if (as && as == bs)
        look<<<(as + 255) / 256, 256>>>(c, (const unsigned short *)a, (const unsigned short *)b,
                                        as);
    for (size_t at = 0; at < cs; at += PIECE) {
        size_t count = cs - at < PIECE ? cs - at : PIECE;
        float *out = c + at;
        void *arguments[] = { &out };
        cudaLibrary_t library;
        cudaKernel_t kernel;
        std::string text = program_of(&sum[at], count);
        cudaLibraryLoadData(&library, text.c_str(), NULL, NULL, 0, NULL, NULL, 0);
        cudaLibraryGetKernel(&kernel, library, "put");
        cudaLaunchKernel((const void *)kernel, count, 1, arguments, 0, 0);
        cudaDeviceSynchronize();
        cudaLibraryUnload(library);
    }
}

extern "C" void matmul_bf16(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                            int k)
{
    multiply(c, a, b, m, n, k);
}

extern "C" void matmul_f16(float *c, const __half *a, const __half *b, int m, int n, int k)
{
    multiply(c, a, b, m, n, k);
}
