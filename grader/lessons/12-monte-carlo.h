// Lesson 12, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Sets the 4 words out[4 b] ... out[4 b + 3] to what Philox 4x32-10 makes of the counter counter[4
// b] ... counter[4 b + 3] and the key key[2 b], key[2 b + 1], for each b below `blocks`. Words have
// 32 bits and no sign. blocks is from 0 to 16,777,216. All are device pointers, `out` overlaps
// neither of the others, and only it is changed.
void philox(unsigned *out, const unsigned *counter, const unsigned *key, int blocks);

// Throws `points` points into the square from (0,0) to (1,1) and sets *hits to how many lie inside
// the quarter circle, x x + y y < 1, so that 4 * hits / points is about pi. The points are
// always these: point p takes words 2 (p mod 2) and 2 (p mod 2) + 1 of the block with the
// counter { p / 2, 0, 0, 0 } and the key { *seed, 0 }; the upper 23 bits of a word are x and y, in
// units of 1 / 2^23. `hits` and `seed` are device pointers, each to one word, and only *hits is
// changed. points is from 0 to 1,073,741,824. x x + y y may be rounded to a float: of a million
// points one may then be counted wrong. The host needs no word of the device's memory, so nothing
// is copied to it; at most two kernels are launched.
void count_hits(int *hits, int points, const unsigned *seed);

// Both functions launch their work and need not wait for it: the caller synchronises. If CUDA
// reports an error, they print the error and end the program.

#ifdef __cplusplus
}
#endif
