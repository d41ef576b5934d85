// Lesson 3, the contract: what you write and the grader calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Makes a stack of colour pictures grey. The stack has `count` pictures, one after the other, and
// each has `height` rows of `width` pixels. A pixel of rgb has three bytes, red, green and blue. A
// pixel of grey has one byte,
//
//     (77 * red + 150 * green + 29 * blue + 128) / 256
//
// Row y of picture z begins at byte (z * height + y) * rgb_pitch of rgb, and at byte (z * height +
// y) * grey_pitch of grey. The pitches are multiples of 4 and at least as large as a row, 3 * width
// or width bytes; the bytes between the end of a row and the next one have no meaning in rgb, and
// in grey they must stay as they are.
//
// grey and rgb are device pointers, aligned to 256 bytes and not overlapping; rgb must not be
// changed. width and height are at most 32,768, count at most 1,000,000; each may be 0. All rows of
// rgb together are shorter than 2 GiB. The caller synchronises. If CUDA reports an error, the
// function prints it and ends the program.
void make_grey(unsigned char *grey, int grey_pitch, const unsigned char *rgb, int rgb_pitch,
               int width, int height, int count);

// Draws the Mandelbrot set. Pixel x of row y stands for the point (left + x * step, top + y * step)
// of the plane, and out[y * pitch + x] gets its number of steps, 0 to 255, as steps_to_escape() in
// the exercise counts them: in floats, each operation rounded by itself.
//
// out is a device pointer; pitch is a multiple of 4 and at least width, and the bytes between rows
// must stay as they are. width and height are at most 32,768, and may be 0. Errors and
// synchronising are as above.
void mandelbrot(unsigned char *out, int pitch, int width, int height, float left, float top,
                float step);

#ifdef __cplusplus
}
#endif
