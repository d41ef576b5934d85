// Lesson 1, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Sets c[i] = a[i] + b[i] for every i from 0 to n - 1. All three pointers are host pointers to n
// floats, allocated by the caller and not overlapping; a and b must not be changed. n may be 0.
// The function allocates the device memory that it needs, and frees it; c is complete when it
// returns. If CUDA reports an error, it prints the error and ends the program.
void vector_add(float *c, const float *a, const float *b, int n);

#ifdef __cplusplus
}
#endif
