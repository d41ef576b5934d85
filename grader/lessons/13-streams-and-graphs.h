// Lesson 13, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Sets out[i], for every i below n, to what becomes of in[i] when the 256 words of `table` and 256
// rounds of mixing have been at it:
//
//     h = in[i] ^ table[in[i] % 256]
//     256 times:  h ^= h >> 16;  h *= 0x85ebca6b;  h ^= h >> 13;  h *= 0xc2b2ae35;  h ^= h >> 16
//     out[i] = h
//
// out, in and table are in the HOST's memory, which is pinned when it matters, but need not be;
// they do not overlap, and in and table must not be changed. The work is done on the device, and
// all numbers travel there and back by copies, into and out of `room`: device memory of `words`
// words, in which nothing is yet, and which is yours until the function returns. words is at least
// 1024; n may be many times as large, up to 2^30, or 0. When the function returns, out is complete.
// If CUDA reports an error, it prints the error and ends the program. What the first call makes,
// streams and events, may be kept for the next.
void stretch(unsigned *out, const unsigned *in, int n, const unsigned *table, unsigned *room,
             int words);

// Lets n cells in a ring exchange heat, `steps` times, and leaves them in out. A step is a kernel:
// it makes of all cells x
//
//     0.25 x[i - 1] + 0.5 x[i] + 0.25 x[i + 1]
//
// where 0 and n - 1 are neighbours; the first step begins with `in`. out, spare and in are device
// pointers to n floats each, which do not overlap; in must not be changed, and what is left in
// spare does not matter. n is from 1 to 2^30, steps from 0 to 2^20. The function need not wait for
// its work; the caller does. Work of the caller in the default stream comes before it.
void diffuse(float *out, float *spare, const float *in, int n, int steps);

#ifdef __cplusplus
}
#endif
