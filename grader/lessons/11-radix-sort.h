// Lesson 11, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// For all four functions: pointers are device pointers to memory that the caller allocated. `in`
// and `scratch` begin at multiples of 256 bytes, as what cudaMalloc returns does, and no two arrays
// overlap. `in` must not change. `scratch` has 8 n + 65536 bytes: what it holds before the call
// means nothing, and what it holds after the call is not read. n is from 0 to 536,870,912. Calls
// come one after the other, in one stream. The functions launch their work and need not wait for
// it: the caller synchronises. If CUDA reports an error, they print the error and end the program.

// Copies those of the n elements of `in` that are greater than `limit` to out[0], out[1] ..., in
// the order that they have in `in`, and sets *kept to their number. Nothing may be written past the
// last of them: the array may end there.
void keep_above(int *out, int *kept, const int *in, int n, int limit, void *scratch);

// Copies `in` to `out` (n elements each), sorted from the smallest up by the bits `first` to `end`
// - 1 of the elements, as if all others were 0; bit 0 is the lowest, and 0 <= first < end <= 32.
// The sort is stable: elements that agree in those bits keep the order that they have in `in`.
void sort_u32(unsigned *out, const unsigned *in, int n, int first, int end, void *scratch);

// Copy `in` to `out` (n elements each), sorted from the smallest up. No float is a NaN; -0 and 0
// may come in any order.
void sort_i32(int *out, const int *in, int n, void *scratch);
void sort_f32(float *out, const float *in, int n, void *scratch);

#ifdef __cplusplus
}
#endif
