// Lesson 14, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Returns how many blocks of a kernel one multiprocessor of an H200 holds at the same time. Each
// block has `threads` threads, each thread needs `registers` registers, and each block asks for
// `shared` bytes of shared memory. A multiprocessor holds at most
//
//     32      blocks
//     64      warps. A block has whole warps; the last warp may have unused lanes.
//     65,536  registers, a quarter of them for each of its four schedulers. A warp stays with one
//             scheduler, and gets its 32 x registers in whole portions of 256.
//     233,472 bytes of shared memory. A block gets 1,024 bytes more than it asks for, which the
//             system uses, in whole portions of 128.
//
// The answer is 0 if not even one block fits. threads is from 1 to 1,024, registers from 1 to 255,
// shared from 0 to 232,448. This is host code, which computes the answer without CUDA.
int resident_blocks(int threads, int registers, int shared);

// Calibrates the readings of a detector: out[i] becomes the value of a curve at raw[i], for each i
// below n. The curve has 8,193 points, table[k] at 8 k, with straight lines between them. For raw =
// 8 k + r, with r from 0 to 7, the value is
//
//     table[k] + r / 8 * (table[k + 1] - table[k])
//
// raw[i] is from 0 to 65,535, and n from 0 to 1,073,741,824. All pointers are device pointers,
// aligned to 16 bytes. `out` overlaps neither of the others, and only `out` is changed. The
// function launches its work and need not wait for it: the caller synchronises. If CUDA reports an
// error, the function prints it and ends the program.
void calibrate(float *out, const int *raw, const float *table, int n);

#ifdef __cplusplus
}
#endif
