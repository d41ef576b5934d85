// Lesson 10, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Sets bins[v] to the number of bytes of `in` that are v, for each of the 256 values v. `in` (n
// bytes) and `bins` (256 ints) are device pointers to memory of the caller's; each begins at a
// multiple of 256 bytes, as cudaMalloc's does, and they do not overlap. What `bins` holds before
// the call means nothing. `in` must not be changed. n is at most 1,073,741,824, and may be 0. Calls
// come one after the other, in one stream; the function may keep memory of its own from call to
// call. It launches its work and need not wait for it: the caller synchronises. If CUDA reports an
// error, it prints the error and ends the program.
void histogram(int *bins, const unsigned char *in, int n);

#ifdef __cplusplus
}
#endif
