// Lesson 4, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum memory {
    PAGEABLE, // of the host, as malloc gives it
    PINNED,   // of the host, page-locked: cudaMallocHost
    DEVICE,   // of the device: cudaMalloc
};

// Measures how fast cudaMemcpy copies `bytes` bytes from memory of the kind `from` to memory of the
// kind `to`. It allocates both (what is in them is of no interest, but it is defined), copies once
// without measuring, then `repeats` times between two events, and frees everything. Returns the
// rate of these copies in MB/s (10^6 bytes a second), rounded down. bytes is from 1 to 2^28,
// repeats from 1 to 100. If CUDA reports an error, it prints the error and ends the program.
int copy_rate(int to, int from, int bytes, int repeats);

// out[i] = c[0] + c[1] x + c[2] x^2 + ... + c[degree] x^degree, x being in[i], for every i from 0
// to n - 1. `out`, `in` and `c` are device pointers, aligned to 16 bytes, that do not overlap; only
// out is changed. degree is from 0 to 1,000, n from 0 to 2^30. The function launches its work and
// need not wait for it: the caller synchronises. If CUDA reports an error, it prints the error and
// ends the program.
void polynomial(float *out, const float *in, const float *c, int degree, int n);

#ifdef __cplusplus
}
#endif
