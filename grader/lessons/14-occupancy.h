// Lesson 14, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// How many blocks of a kernel one multiprocessor of an H200 holds at the same time, if each has
// `threads` threads, each thread needs `registers` registers, and each block `shared` bytes of
// shared memory. It holds at most
//
//     32      blocks
//     64      warps; a block has whole warps, the last one perhaps with lanes to spare
//     65,536  registers, a quarter of them for each of its four schedulers; a warp stays with one
//             scheduler, and gets its
//             32 x registers in whole portions of 256
//     233,472 bytes of shared memory; a block gets 1,024 more than it asks for, the system's own,
//     in whole portions of 128
//
// and the answer is 0 where not even one block fits. threads is from 1 to 1,024, registers from 1
// to 255, shared from 0 to 232,448. A function of the host: no GPU is asked.
int resident_blocks(int threads, int registers, int shared);

// Calibrates the readings of a detector: out[i] is the value of a curve at raw[i], for each i below
// n. The curve is given by 8,193 points, table[k] at 8 k, with straight lines between them: raw = 8
// k + r, with r from 0 to 7, gives
//
//     table[k] + r / 8 * (table[k + 1] - table[k])
//
// raw[i] is from 0 to 65,535, n from 0 to 1,073,741,824. All are device pointers, aligned to 16
// bytes; `out` overlaps neither of the others, and only it is changed. The function launches its
// work and need not wait for it: the caller synchronises. If CUDA reports an error, it prints the
// error and ends the program.
void calibrate(float *out, const int *raw, const float *table, int n);

#ifdef __cplusplus
}
#endif
