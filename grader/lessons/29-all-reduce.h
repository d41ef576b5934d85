// Lesson 29, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Sets out[d][i], on every device d below `devices` and for every i below n, to in[0][i] + in[1][i]
// + ... + in[devices - 1][i]: every device gets all the sums, and the same ones to the last bit.
// `out` and `in` are arrays on the host of `devices` device pointers; out[d] and in[d] point to n
// floats on device d, begin at a multiple of 256 bytes, and do not overlap. `in` must not be
// changed. n is at most 268,435,456, and may be 0; `devices` is from 1 to 8, and at most what the
// machine has. The floats may be added in any order.
//
// On each device the call takes its place in the default stream: what the caller issued there
// before is done before the function's work touches that device's in[d] or out[d], and what the
// caller issues there afterwards begins when out[d] is complete and nobody reads in[d] any more.
// Beyond that the function need not wait for its work, and the next call may come before it is
// done, with other arrays. Afterwards the current device may be any. If CUDA reports an error, it
// prints the error and ends the program.
void all_reduce(float *const *out, const float *const *in, int n, int devices);

#ifdef __cplusplus
}
#endif
