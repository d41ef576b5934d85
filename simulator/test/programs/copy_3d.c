// expect: exit 0
// Boxes of memory are copied and filled, and nothing beside them.
#include "check.h"
#include <string.h>

enum { WIDTH = 5, HEIGHT = 4, DEPTH = 3, PAD = 2 };

int main(void)
{
    static unsigned char host[DEPTH][HEIGHT][WIDTH], back[DEPTH + 1][HEIGHT + 1][WIDTH + PAD];
    struct cudaPitchedPtr p;
    struct cudaExtent whole = { WIDTH, HEIGHT, DEPTH };
    for (int i = 0; i < DEPTH * HEIGHT * WIDTH; i++)
        ((unsigned char *)host)[i] = (unsigned char)(i + 1);
    OK(cudaMalloc3D(&p, whole));
    CHECK(p.pitch >= WIDTH && p.pitch % 32 == 0 && p.xsize == WIDTH && p.ysize == HEIGHT);
    OK(cudaMemset3D(p, 9, whole));
    struct cudaMemcpy3DParms in = { .srcPtr = { host, WIDTH, WIDTH, HEIGHT }, .dstPtr = p, .extent = whole,
                                    .kind = cudaMemcpyHostToDevice };
    OK(cudaMemcpy3D(&in));
    // A part of it, into a part of something larger.
    struct cudaMemcpy3DParms out = { .srcPtr = p, .srcPos = { 1, 2, 1 },
        .dstPtr = { back, WIDTH + PAD, WIDTH + PAD, HEIGHT + 1 }, .dstPos = { 2, 1, 1 },
        .extent = { 3, 2, 2 }, .kind = cudaMemcpyDeviceToHost };
    OK(cudaMemcpy3DAsync(&out, 0));
    OK(cudaDeviceSynchronize());
    for (int z = 0; z <= DEPTH; z++)
        for (int y = 0; y <= HEIGHT; y++)
            for (int x = 0; x < WIDTH + PAD; x++) {
                int inside = x >= 2 && x < 5 && y >= 1 && y < 3 && z >= 1 && z < 3;
                CHECK(back[z][y][x] == (inside ? host[z][y + 1][x - 1] : 0));
            }
    // Within the device, and a fill of a part.
    struct cudaPitchedPtr q;
    OK(cudaMalloc3D(&q, whole));
    struct cudaMemcpy3DParms on = { .srcPtr = p, .dstPtr = q, .extent = whole, .kind = cudaMemcpyDefault };
    OK(cudaMemcpy3D(&on));
    OK(cudaMemset3DAsync(q, 7, (struct cudaExtent){ 2, 3, 1 }, 0));
    struct cudaMemcpy3DParms home = { .srcPtr = q, .dstPtr = { back, WIDTH, WIDTH, HEIGHT }, .extent = whole,
                                      .kind = cudaMemcpyDeviceToHost };
    OK(cudaMemcpy3D(&home));
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                CHECK(((unsigned char *)back)[(z * HEIGHT + y) * WIDTH + x]
                      == (x < 2 && y < 3 && z < 1 ? 7 : host[z][y][x]));
    home.dstPtr.pitch = WIDTH - 1;
    CHECK(cudaMemcpy3D(&home) == cudaErrorInvalidPitchValue);
    home.extent.depth = 0;
    home.dstPtr.pitch = WIDTH;
    OK(cudaMemcpy3D(&home));                                    // nothing to do
    OK(cudaFree(p.ptr));
    OK(cudaFree(q.ptr));
    return 0;
}
