// Lesson 9, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Sets out[i] to in[0] + in[1] + ... + in[i], for every i below n: the inclusive scan, of ints and
// of floats. `out` and `in` (n elements each) and `scratch` (n / 8 + 16384 bytes) are device
// pointers to the caller's memory. Each begins at a multiple of 256 bytes, as memory from
// cudaMalloc does, and they do not overlap. `in` must not be changed. `scratch` is for sums on the
// way: what it holds before the call means nothing, and what it holds afterwards is not read. n is
// from 0 to 1,073,741,824. The sum of any neighbours fits an int, and ints are exact. Floats may be
// added in any order, but not in a lower precision, and not by way of a sum that is subtracted
// again. The functions launch their work and need not wait for it: the caller synchronises. If CUDA
// reports an error, they print the error and end the program.
void scan_i32(int *out, const int *in, int n, void *scratch);
void scan_f32(float *out, const float *in, int n, void *scratch);

#ifdef __cplusplus
}
#endif
