// expect: exit 0
// Pitched memory: rows of 1500 bytes, more than a chunk of them, and a window out of the middle.
#include "check.h"
#include <string.h>

enum { WIDTH = 1500, HEIGHT = 1000 };
static unsigned char from[HEIGHT][WIDTH], to[HEIGHT][WIDTH];

int main(void)
{
    unsigned char *p;
    size_t pitch;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            from[y][x] = (unsigned char)(y * 7 + x);
    OK(cudaMallocPitch((void **)&p, &pitch, WIDTH, HEIGHT));
    CHECK(pitch >= WIDTH && pitch % 256 == 0);
    OK(cudaMemcpy2D(p, pitch, from, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(to, WIDTH, p, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    CHECK(memcmp(from, to, sizeof from) == 0);
    OK(cudaMemset2D(p + 10, pitch, 5, 100, 3));
    OK(cudaMemcpy2D(to, WIDTH, p, pitch, 200, 4, cudaMemcpyDeviceToHost));
    CHECK(to[2][9] == from[2][9] && to[2][10] == 5 && to[2][109] == 5 && to[2][110] == from[2][110]);
    CHECK(to[3][50] == from[3][50]);
    OK(cudaMemcpy2D(p, pitch, &from[500][700], WIDTH, 300, 100, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(to, WIDTH, p, pitch, 301, 101, cudaMemcpyDeviceToHost));
    CHECK(memcmp(to[99], &from[599][700], 300) == 0 && to[99][300] == from[99][300]);
    CHECK(to[100][299] == from[100][299]);
    CHECK(cudaMemcpy2D(p, WIDTH - 1, from, WIDTH, WIDTH, 2, cudaMemcpyHostToDevice)
          == cudaErrorInvalidPitchValue);
    OK(cudaFree(p));
    return 0;
}
