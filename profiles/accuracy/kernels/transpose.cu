// Transposing a matrix of 2048 x 2048 floats.
#include "exercise.h"

enum { SIDE = 2048, TILE = 32, ROWS = 8 };

KERNEL transpose_naive(float *out, const float *in)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[x * SIDE + y + j] = in[(y + j) * SIDE + x];
}

template <int WIDTH>
static __device__ void by_tile(float *out, const float *in)
{
    __shared__ float tile[TILE][WIDTH];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * SIDE + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * SIDE + x] = tile[threadIdx.x][threadIdx.y + j];
}

KERNEL transpose_tile(float *out, const float *in) { by_tile<TILE>(out, in); }
KERNEL transpose_padded(float *out, const float *in) { by_tile<TILE + 1>(out, in); }

static float *in, *out;

int main(int count, char **arguments)
{
    in = numbers(SIDE * SIDE);
    out = output<float>(SIDE * SIDE);
    return run_versions(count, arguments, {
        VERSION_OF("transpose", transpose_naive, dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, ROWS), 0, out, in),
        VERSION_OF("transpose", transpose_tile, dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, ROWS), 0, out, in),
        VERSION_OF("transpose", transpose_padded, dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, ROWS), 0, out, in),
    });
}
