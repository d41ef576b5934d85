// Lesson 8, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Sets out[0] to the sum of the n floats of `in`, to 0 where n is 0. `in`, `out` (one float) and
// `scratch` (n / 256 + 1024 floats) are device pointers to memory of the caller's; each begins at a
// multiple of 256 bytes, as cudaMalloc's does, and they do not overlap. `scratch` is for partial
// sums: what it holds before the call means nothing, and what it holds afterwards nobody reads.
// `in` must not be changed. n is at most 1,073,741,824. Floats may be added in any order, but not
// in a lower precision, nor all in one long chain, whose rounding errors pile up. The function
// launches its work and need not wait for it: the caller synchronises. If CUDA reports an error, it
// prints the error and ends the program.
void reduce(float *out, const float *in, int n, float *scratch);

#ifdef __cplusplus
}
#endif
