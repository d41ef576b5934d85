// link: -lcublas
// Lesson 24's peer: attention with the matrix of scores in memory, as frameworks computed it before flash attention. cuBLAS
// makes both products on Tensor Cores, and a kernel between them makes weights of the scores. One head is done after the other,
// so that the matrix of one head is all that there must be room for.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 512 };

static void stop(const char *what, int length)
{
    fprintf(stderr, "%s failed, length = %d\n", what, length);
    exit(EXIT_FAILURE);
}

// The largest x of a block, or the sum, for all of its threads.
static __device__ float of_block(float x, bool largest)
{
    __shared__ float part[THREADS / 32];
    for (int apart = 16; apart; apart /= 2) {
        float other = __shfl_xor_sync(0xffffffff, x, apart);
        x = largest ? fmaxf(x, other) : x + other;
    }
    __syncthreads();
    part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
    for (int w = 1; w < THREADS / 32; w++)
        x = largest ? fmaxf(x, part[w]) : x + part[w];
    return x;
}

// A block makes weights of a row of scores.
static __global__ void softmax(__nv_bfloat16 *weights, const float *scores, int length, int causal)
{
    size_t row = (size_t)blockIdx.x * length;
    int seen = causal ? blockIdx.x + 1 : length;
    float m = -INFINITY, sum = 0;

    for (int j = threadIdx.x; j < seen; j += THREADS)
        m = fmaxf(m, scores[row + j]);
    m = of_block(m, true);
    for (int j = threadIdx.x; j < seen; j += THREADS)
        sum += __expf(scores[row + j] - m);
    sum = of_block(sum, false);
    for (int j = threadIdx.x; j < length; j += THREADS)
        weights[row + j] = j < seen ? __expf(scores[row + j] - m) / sum : 0;
}

extern "C" void attention_cublas(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                                 int heads, int length, int width, int causal)
{
    static cublasHandle_t handle;
    static float *scores;
    static __nv_bfloat16 *weights;
    static int room;
    float scale = 1 / sqrtf(width), one = 1, none = 0;
    size_t each = (size_t)length * width;

    if (!handle && cublasCreate(&handle))
        stop("cublasCreate", length);
    if (room < length) {
        if (cudaFree(scores) || cudaFree(weights) || cudaMalloc(&scores, (size_t)length * length * sizeof *scores)
            || cudaMalloc(&weights, (size_t)length * length * sizeof *weights))
            stop("cudaMalloc", length);
        room = length;
    }
    // cuBLAS's matrices are stored column by column. To it our rows are columns, so it is asked for the transposes.
    for (int head = 0; head < heads; head++, out += each, q += each, k += each, v += each) {
        if (cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, length, length, width, &scale, k, CUDA_R_16BF, width, q, CUDA_R_16BF,
                         width, &none, scores, CUDA_R_32F, length, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT))
            stop("cublasGemmEx of the scores", length);
        softmax<<<length, THREADS>>>(weights, scores, length, causal);
        if (cudaGetLastError())
            stop("the softmax", length);
        if (cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, width, length, length, &one, v, CUDA_R_16BF, width, weights,
                         CUDA_R_16BF, length, &none, out, CUDA_R_16BF, width, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT))
            stop("cublasGemmEx of the values", length);
    }
}
