// Lesson 10, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Sets bins[v] to the number of bytes of `in` that are v, for each of the 256 values v. `in` (n
// bytes) and `bins` (256 ints) are device pointers to memory of the caller. Each begins at a
// multiple of 256 bytes, as memory from cudaMalloc does, and they do not overlap. bins is
// uninitialised, and in must not be changed. n is from 0 to 1,073,741,824. The caller makes one
// call after the other, in one stream, and the function may keep memory of its own from call to
// call. The function launches its work and need not wait for it, because the caller synchronises.
// If CUDA reports an error, the function prints the error and ends the program.
void histogram(int *bins, const unsigned char *in, int n);

#ifdef __cplusplus
}
#endif
