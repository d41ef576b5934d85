// Lesson 6, the contract: what you mend and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum { RUN = 256 }; // numbers in a run: in[0] to in[255] are the first, the last one may be shorter

// For all: pointers are device pointers, aligned to 16 bytes; `out` overlaps no input, and inputs
// are not changed. n is from 0 to 2^30, and so is rows * cols. Work is launched and need not be
// waited for: the caller synchronises. All memory that a function allocates it frees. If CUDA
// reports an error, all but `gain` print it and end the program.

// out[i] = in[i + 1] - in[i]. `in` has n numbers, so `out` has n - 1 (none if n is 0 or 1).
void differences(float *out, const float *in, int n);

// Each run of n numbers on its own is smoothed `rounds` times (0 or more). In a round each number
// becomes (left + 2 * own + right) / 4 of what the round found; where there is no neighbour, the
// number itself stands for it.
void smooth(float *out, const float *in, int n, int rounds);

// Each run of n numbers is sorted on its own, the smallest first. None of the numbers is a NaN.
void sort_runs(float *out, const float *in, int n);

// out[c] = the mean of column c of a matrix of rows x cols numbers, row after row. rows is 1 or
// more.
void column_means(float *out, const float *in, int rows, int cols);

// out[i] = factor * in[i], by blocks of `threads` threads, 1 or more. Returns 0 if the work was
// launched. If the device does not allow so many threads, it returns CUDA's error number: nothing
// is written, and the next call does not find that error again.
int gain(float *out, const float *in, float factor, int n, int threads);

#ifdef __cplusplus
}
#endif
