// Lesson 2, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Lets heat spread along a rod of n cells for `steps` steps, from the temperatures in[] to those in
// out[]. In each step every cell gets, from the temperatures before the step,
//
//     1/4 of its left neighbour's + 1/2 of its own + 1/4 of its right neighbour's
//
// where an end of the rod is its own missing neighbour; and the middle cell, number n / 2, gets the
// power of its heater on top: what thermostat() says to the middle cell's temperature before the
// step, 0.5 * (1 - temperature). The device computes the steps, the host the power.
//
// in and out are host pointers to n floats, allocated by the caller and not overlapping; in must
// not be changed. n and steps may be 0; n is at most 2^24, steps at most 1000. The function keeps
// the rod in memory that it allocates and frees itself; out is complete when it returns. If CUDA
// reports an error, it prints the error and ends the program.
void heat(float *out, const float *in, int n, int steps);

#ifdef __cplusplus
}
#endif
