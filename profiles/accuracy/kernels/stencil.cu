// Means of 5 x 5 neighbours in an image of 1024 x 2048 floats, whose edges stay as they are.
#include "exercise.h"

enum { WIDTH = 2048, HEIGHT = 1024, R = 2, TILE_X = 32, TILE_Y = 8 };

KERNEL stencil_naive(float *out, const float *in)
{
    int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    if (x < R || y < R || x >= WIDTH - R || y >= HEIGHT - R)
        return;
    float sum = 0;
    for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++)
            sum += in[(y + dy) * WIDTH + x + dx];
    out[y * WIDTH + x] = sum / 25;
}

KERNEL stencil_tiled(float *out, const float *in)
{
    __shared__ float tile[TILE_Y + 2 * R][TILE_X + 2 * R];
    int left = blockIdx.x * TILE_X - R, top = blockIdx.y * TILE_Y - R;
    for (int y = threadIdx.y; y < TILE_Y + 2 * R; y += TILE_Y)
        for (int x = threadIdx.x; x < TILE_X + 2 * R; x += TILE_X)
            tile[y][x] = in[min(max(top + y, 0), HEIGHT - 1) * WIDTH + min(max(left + x, 0), WIDTH - 1)];
    __syncthreads();
    int x = left + R + threadIdx.x, y = top + R + threadIdx.y;
    if (x < R || y < R || x >= WIDTH - R || y >= HEIGHT - R)
        return;
    float sum = 0;
    for (int dy = 0; dy <= 2 * R; dy++)
        for (int dx = 0; dx <= 2 * R; dx++)
            sum += tile[threadIdx.y + dy][threadIdx.x + dx];
    out[y * WIDTH + x] = sum / 25;
}

// A thread goes down a column and keeps the sums of five rows.
KERNEL stencil_rows(float *out, const float *in)
{
    enum { LONG = 16 };
    int x = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * LONG;
    if (x < R || x >= WIDTH - R)
        return;
    float row[5] = { 0 };
#pragma unroll
    for (int y = -R; y < LONG + R; y++) {
        int from = min(max(top + y, 0), HEIGHT - 1);
        float sum = 0;
        for (int dx = -R; dx <= R; dx++)
            sum += in[from * WIDTH + x + dx];
        row[(y + 5) % 5] = sum;
        int to = top + y - R;
        if (y >= R && to >= R && to < HEIGHT - R)
            out[to * WIDTH + x] = (row[0] + row[1] + row[2] + row[3] + row[4]) / 25;
    }
}

static float *in, *out;

int main(int count, char **arguments)
{
    in = numbers(WIDTH * HEIGHT);
    out = output<float>(WIDTH * HEIGHT);
    return run_versions(count, arguments, {
        VERSION_OF("stencil", stencil_naive, dim3(WIDTH / TILE_X, HEIGHT / TILE_Y), dim3(TILE_X, TILE_Y), 0, out, in),
        VERSION_OF("stencil", stencil_tiled, dim3(WIDTH / TILE_X, HEIGHT / TILE_Y), dim3(TILE_X, TILE_Y), 0, out, in),
        VERSION_OF("stencil", stencil_rows, dim3(WIDTH / 128, HEIGHT / 16), 128, 0, out, in),
    });
}
