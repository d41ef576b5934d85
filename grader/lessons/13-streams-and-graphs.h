// Lesson 13, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Mixes n numbers on the device, chunk by chunk. A chunk is `chunk` numbers, and the last one may
// be shorter. A table is 4,096 words, and serves four chunks: numbers 0 to 4 * chunk - 1 need the
// table at `tables`, the next 4 * chunk numbers need the table at tables + 4096, and so on. The
// function sets out[i], for every i below n, to
//
//     h = in[i] ^ table[in[i] % 4096]
//     256 times:  h ^= h >> 16;  h *= 0x85ebca6b;  h ^= h >> 13;  h *= 0xc2b2ae35;  h ^= h >> 16
//     out[i] = h
//
// out, in and tables are in the HOST's memory. It is pinned where time is measured, and may be
// pageable elsewhere. The arrays do not overlap, and in and tables must not be changed. All numbers
// and tables travel to the device by copies into `room`, and the answers come back by copies from
// there. room is device memory for 3 * chunk numbers and 2 tables (3 * chunk + 8192 words), aligned
// to 256 bytes. It is uninitialised, and it is yours until the function returns. n is from 0 to
// 2^30, and chunk is from 1 to 2^26. When the function returns, out is complete. If CUDA reports an
// error, the function prints the error and ends the program. Streams and events that the first call
// makes may be kept for later calls.
void stretch(unsigned *out, const unsigned *in, int n, int chunk, const unsigned *tables,
             unsigned *room);

// Lets n cells in a ring exchange heat, `steps` times, and leaves them in out. Each step is one
// launch of a kernel, or one kernel of a graph. It makes of all cells x
//
//     0.25 x[i - 1] + 0.5 x[i] + 0.25 x[i + 1]
//
// where cells 0 and n - 1 are neighbours. The first step reads `in`. out, spare and in are device
// pointers to n floats each, which do not overlap. in must not be changed, and what is left in
// spare does not matter. n is from 1 to 2^30, and steps from 0 to 2^20. The function need not wait
// for its work, because the caller does. Work that the caller put into the default stream comes
// before it.
void diffuse(float *out, float *spare, const float *in, int n, int steps);

#ifdef __cplusplus
}
#endif
