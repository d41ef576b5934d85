// Lesson 15, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Sets C to the matrix product A B: c[i][j] to the sum over p of a[i][p] * b[p][j]. `a` is a matrix
// of m x k floats, `b` one of k x n, `c` one of m x n: device pointers, row after row without gaps,
// each to memory that begins at a multiple of 256 bytes, as cudaMalloc's does; they do not overlap,
// and `a` and `b` must not be changed. m, n and k may be 0 and are at most 1,000,000 each; m * k, k
// * n and m * n fit an int. Where k is 0 all of C is 0. What C holds before the call means nothing.
// Products may be added in any order, but in float: no input may be rounded to fewer bits first.
// The function launches its work and need not wait for it: the caller synchronises. If CUDA reports
// an error, it prints the error and ends the program.
void matmul(float *c, const float *a, const float *b, int m, int n, int k);

#ifdef __cplusplus
}
#endif
