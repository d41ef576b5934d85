// Lesson 23, the contract: what you write and the grader calls.
#pragma once

#include <cuda_bf16.h>

#ifdef __cplusplus
extern "C" {
#endif

// The forward pass of two layers of a network. `x` holds n pictures of height x width pixels, `y` n
// pictures of p x q pixels, without gaps. The channels of a pixel are neighbours (NHWC): channel ch
// of pixel (row, col) of picture b of x is
//
//     x[((b * height + row) * width + col) * c + ch]
//
// A filter of r x s pixels moves over x in steps of `stride` pixels. Its own pixels are `dilation`
// pixels of x apart. Around each picture are `pad` rows and columns of zeros, which are not in
// memory. So p is outputs(height, r, stride, pad, dilation), and q is outputs(width, s, stride,
// pad, dilation); both are at least 1.
//
// All pointers are device pointers, aligned to 256 bytes, to memory that does not overlap. Inputs
// must not be changed, and what y and the workspace hold before the call means nothing. Products of
// the 16-bit numbers are added in float, in any order, and a sum is rounded once, when it is stored
// in y.
//
// n is from 0 to 65,535; height and width are from 1 to 16,384; c and k are multiples of 8 from 8
// to 65,528; r and s are from 1 to 16; stride and dilation from 1 to 8, and pad from 0 to 64. x, w,
// y and the workspace have at most 2^31 - 1 numbers each. The functions launch their work and need
// not wait for it: the caller synchronises. If CUDA reports an error, they print the error and end
// the program.

// Each of k filters has r x s x c numbers, so `w` has k x r x s x c, and y has k channels:
//
//     y[b][i][j][f] = the sum over u < r, v < s and ch < c of
//         x[b][i * stride - pad + u * dilation][j * stride - pad + v * dilation][ch] *
//         w[f][u][v][ch]
//
// `workspace` has room for n * p * q * r * s * c numbers.
void convolve(__nv_bfloat16 *y, const __nv_bfloat16 *x, const __nv_bfloat16 *w,
              __nv_bfloat16 *workspace, int n, int height, int width, int c, int k, int r, int s,
              int stride, int pad, int dilation);

// Each channel has a filter of its own, so `w` has r x s x c numbers, and y has c channels:
//
//     y[b][i][j][ch] = the sum over u < r and v < s of
//         x[b][i * stride - pad + u * dilation][j * stride - pad + v * dilation][ch] * w[u][v][ch]
void convolve_depthwise(__nv_bfloat16 *y, const __nv_bfloat16 *x, const __nv_bfloat16 *w, int n,
                        int height, int width, int c, int r, int s, int stride, int pad,
                        int dilation);

// How many places a filter of so many pixels has along a side of so many.
static inline int outputs(int size, int filter, int stride, int pad, int dilation)
{
    return (size + 2 * pad - dilation * (filter - 1) - 1) / stride + 1;
}

#ifdef __cplusplus
}
#endif
