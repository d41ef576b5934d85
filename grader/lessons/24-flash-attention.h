// Lesson 24, the contract: what you write and the grader calls.
#pragma once

#include <cuda_bf16.h>

#ifdef __cplusplus
extern "C" {
#endif

// Attention. `q`, `k` and `v` hold `heads` matrices each, one after the other, of `length` rows of
// `width` numbers. A row of q is a query, a row of k a key, and a row of v a value. Each head is
// computed by itself. The score of query i and key j is
//
//     s[i][j] = (the sum over d of q[i][d] * k[j][d]) / sqrt(width)
//
// and row i of `out` is the mean of all values, weighed by the softmax of the query's scores:
//
//     out[i][d] = (the sum over j of exp(s[i][j]) * v[j][d]) / (the sum over j of exp(s[i][j]))
//
// If `causal` is 1, a query sees only keys that are not after it: j goes from 0 to i. If it is 0, j
// goes from 0 to length - 1.
//
// All pointers are device pointers, aligned to 256 bytes, to memory that does not overlap. `q`, `k`
// and `v` must not be changed. All of their numbers are finite, and scores may be as large as a
// few thousand, or as low. heads is from 0 to 65,535, length from 0 to 262,144, width is 64 or 128,
// and a matrix of all heads has at most 2^31 - 1 numbers. Scores and sums are floats. A weight may
// be rounded to 16 bits before a value is multiplied by it, whatever factor the weights of its row
// have in common by then. `out` is rounded once, when it is stored. What `out` holds before the
// call means nothing. The function launches its work and need not wait for it: the caller
// synchronises. If CUDA reports an error, it prints the error and ends the program.
void attention(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k,
               const __nv_bfloat16 *v, int heads, int length, int width, int causal);

#ifdef __cplusplus
}
#endif
