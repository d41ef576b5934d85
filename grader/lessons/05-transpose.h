// Lesson 5, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Sets out[c][r] = in[r][c]: writes the transpose of `in`, a matrix of rows x cols floats, to
// `out`, one of cols x rows. Both are device pointers to rows * cols floats, row after row without
// gaps; each begins at a multiple of 256 bytes, as cudaMalloc's does, and they do not overlap; `in`
// must not be changed. rows and cols may be 0 and are at most 1,048,576 each; rows * cols fits an
// int. The function launches its work and need not wait for it: the caller synchronises. If CUDA
// reports an error, it prints the error and ends the program.
void transpose(float *out, const float *in, int rows, int cols);

#ifdef __cplusplus
}
#endif
