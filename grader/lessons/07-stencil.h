// Lesson 7, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_RADIUS = 4 }; // a filter has at most 9 x 9 weights

// Filters a picture: each pixel of `out` is a weighted sum of the pixels of `in` around it,
//
//     out[y][x] = sum of weights[dy + radius][dx + radius] * in[y + dy][x + dx]
//                 over all dy and dx from -radius to radius.
//
// Where y + dy or x + dx lies outside the picture, the nearest row or column of it counts instead
// (the border is clamped). Pixels outside of the window have no influence on the sum, be they
// infinite.
//
// `in` and `out` are device pointers to pictures of height rows of width floats, row after row
// without gaps, aligned to 16 bytes. They do not overlap, and `in` must not be changed. `weights`
// is a *host* pointer to (2 * radius + 1) rows of (2 * radius + 1) floats; it may be another filter
// in each call. radius is from 0 to MAX_RADIUS. width and height may be 0 and are at most 65,536
// each; width * height fits an int. The function launches its work and need not wait for it: the
// caller synchronises. If CUDA reports an error, it prints the error and ends the program.
void convolve(float *out, const float *in, int width, int height, const float *weights, int radius);

#ifdef __cplusplus
}
#endif
