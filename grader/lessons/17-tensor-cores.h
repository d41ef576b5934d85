// Lesson 17, the contract: what you write and the grader calls.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifdef __cplusplus
extern "C" {
#endif

// Set C to the matrix product A B: c[i][j] to the sum over p of a[i][p] * b[p][j]. `a` is a matrix
// of m x k numbers of 16 bits, `b` one of k x n, `c` one of m x n floats: device pointers, row
// after row, to memory that begins at a multiple of 256 bytes and does not overlap; `a` and `b`
// must not be changed. C's rows have no gaps. Those of A and B begin at multiples of 8 numbers (16
// bytes), `pitch(k)` and `pitch(n)` apart: what is in the gaps means nothing, and may be no number
// at all. m, n and k may be 0 and are at most 65,536 each, and each matrix, gaps included, has at
// most 2^31 - 1 numbers. Where k is 0 all of C is 0. What C holds before the call means nothing.
// Products are added in float, in any order: neither they nor any sum may be rounded to fewer bits.
// The functions launch their work and need not wait for it: the caller synchronises. If CUDA
// reports an error, they print the error and end the program.
void matmul_bf16(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k);
void matmul_f16(float *c, const __half *a, const __half *b, int m, int n, int k);

// Numbers from one row of so many to the next.
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline int
    pitch(int columns)
{
    return (columns + 7) / 8 * 8;
}

#ifdef __cplusplus
}
#endif
