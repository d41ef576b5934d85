// Lesson 22, the contract: what you write and the grader calls.
#pragma once

#include <cuda_bf16.h>

#ifdef __cplusplus
extern "C" {
#endif

// All pointers are device pointers, aligned to 16 bytes, to memory that does not overlap. Numbers
// of 16 bits are read and written; everything between is computed in float, and rounded once, when
// it is stored. Inputs must not be changed, and what outputs hold before the call means nothing.
// The functions launch their work and need not wait for it: the caller synchronises. If CUDA
// reports an error, they print the error and end the program.

// The softmax of each row of `x`. If m is the largest number of row r, then
//
//     out[r][c] = exp(x[r][c] - m) / (the sum of exp(x[r][j] - m) over all j < cols)
//
// Each number of x is finite or -infinity. A -infinity is masked: its weight is 0. If a row holds
// nothing else, all of its weights are 0. A weight below 1e-30 may be 0.
//
// Both matrices have rows * stride numbers: row r begins at number r * stride, and stride, at least
// cols, is a multiple of 8, so each row is aligned to 16 bytes. The stride - cols numbers after
// each row of x may be anything, also NaN, and those after each row of out must not be written.
// rows is from 0 to 65,535, cols from 1 to 262,144, and rows * stride fits an int.
void softmax(__nv_bfloat16 *out, const __nv_bfloat16 *x, int rows, int cols, int stride);

// The gradients of a layer norm. Its forward pass, which was computed before, gives each row of `x`
// a mean and a variance (the mean of the squares of x - mean), and computes h = (x - mean) /
// sqrt(variance + 1e-5) and y = h * gamma + beta. `dy` is the gradient of y. With g = dy * gamma,
// the gradients are
//
//     dx        = (g - mean(g) - h * mean(g * h)) / sqrt(variance + 1e-5)
//
//     dgamma[c] = the sum of dy[r][c] * h[r][c] over all rows r
//
//     dbeta[c]  = the sum of dy[r][c] over all rows r
//
// where mean(g) and mean(g * h) are the means over a row.
//
// `dx`, `dy` and `x` are matrices of rows x cols numbers without gaps; gamma, dgamma and dbeta have
// cols floats each. rows is from 0 to 65,535, cols from 1 to 4,096, and rows * cols fits an int.
// Without rows, dgamma and dbeta are 0. The sums may be added up in any order, in float.
void layer_norm_backward(__nv_bfloat16 *dx, float *dgamma, float *dbeta, const __nv_bfloat16 *dy,
                         const __nv_bfloat16 *x, const float *gamma, int rows, int cols);

#ifdef __cplusplus
}
#endif
