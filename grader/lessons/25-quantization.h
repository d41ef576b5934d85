// Lesson 25, the contract: what you write and the grader calls.
#pragma once

#include <cuda_bf16.h>

#ifdef __cplusplus
extern "C" {
#endif

// A layer has a matrix W of rows x cols weights, row after row, and computes y = W x for up to 16
// vectors x at once. The weights are stored with fewer bits: in a format of your own. The grader
// asks for the format's size, lets quantize() make it once, and passes a copy of those bytes, and
// nothing else of the weights, to the other functions. Your program ends in between: dequantize()
// and multiply() run in another one.
//
// All pointers are device pointers to memory that begins at a multiple of 256 bytes and does not
// overlap; inputs must not be changed. What outputs and `scratch` hold before the call means
// nothing. rows is from 0 to 65,536, cols is a multiple of 64 from 64 to 65,536, and rows * cols is
// at most 2^30. Each weight is finite, and either 0 or at least 1e-30 large. Numbers of x are at
// most 1e30 large. The functions launch their work and need not wait for it: the caller
// synchronises. If CUDA reports an error, they print the error and end the program.

// Returns the bytes of the format for a matrix of this size, at most 2 * padded * cols + 65,536,
// where `padded` is rows, rounded up to a multiple of 64: the format may have rows that pad tiles.
int quantized_bytes(int rows, int cols);

// Writes the weights to `to`, quantized_bytes(rows, cols) bytes.
void quantize(void *to, const __nv_bfloat16 *w, int rows, int cols);

// Sets `w` to the weights that `from` holds, rounded to bf16. Each differs from the weight that
// quantize() was given by half a step at most, and by what rounding to bf16 adds. A step is the
// largest magnitude of the whole matrix, divided by 127, or by 7 if the format has less than 7 bits
// a weight. All of the format's steps may be smaller.
void dequantize(__nv_bfloat16 *w, const void *from, int rows, int cols);

// Sets y[b * rows + r] to the sum over c of w[r][c] * x[b * cols + c], for each b < batch, where w
// is what dequantize() returns; w may also be taken before it is rounded to bf16. Products are
// added in float, in any order. Up to 136 steps of its group may be added to each weight, and taken
// off the sum again. batch is from 1 to 16. `scratch` is memory for rows * cols bf16, for the
// function's own use.
void multiply(float *y, const void *from, const __nv_bfloat16 *x, int rows, int cols, int batch,
              __nv_bfloat16 *scratch);

#ifdef __cplusplus
}
#endif
