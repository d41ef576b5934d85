// expect: exit 0
// All shortest paths, by Floyd and Warshall in tiles of 16: the tile on the diagonal, then its row and column, then the rest.
#include <algorithm>

#include "numbers.h"

enum { TILE = 16, TILES = 4, N = TILE * TILES, FAR = 1 << 20 };

__device__ void relax(int *own, const int *row, const int *column, int x, int y)
{
    for (int k = 0; k < TILE; k++) {
        int through = row[y * TILE + k] + column[k * TILE + x];
        __syncthreads();
        if (through < own[y * TILE + x]) own[y * TILE + x] = through;
        __syncthreads();
    }
}

// phase 0: the diagonal tile; 1: its row (blockIdx.y 0) and its column; 2: all others
__global__ void tiles(int *distance, int step, int phase)
{
    __shared__ int own[TILE * TILE], row[TILE * TILE], column[TILE * TILE];
    int x = threadIdx.x, y = threadIdx.y, tx = step, ty = step;
    if (phase == 1) (blockIdx.y ? ty : tx) = blockIdx.x;
    if (phase == 2) tx = blockIdx.x, ty = blockIdx.y;
    if ((phase == 1 && tx == ty) || (phase == 2 && (tx == step || ty == step))) return;
    own[y * TILE + x] = distance[(ty * TILE + y) * N + tx * TILE + x];
    row[y * TILE + x] = distance[(ty * TILE + y) * N + step * TILE + x];
    column[y * TILE + x] = distance[(step * TILE + y) * N + tx * TILE + x];
    __syncthreads();
    relax(own, phase == 0 || (phase == 1 && blockIdx.y) ? own : row, phase == 0 || (phase == 1 && !blockIdx.y) ? own : column, x, y);
    distance[(ty * TILE + y) * N + tx * TILE + x] = own[y * TILE + x];
}

int main()
{
    std::vector<int> d(N * N, FAR);
    unsigned seed = 211;
    for (int i = 0; i < N; i++) {
        d[i * N + i] = 0;
        for (int k = 0; k < 3; k++) d[i * N + (int)(next_number(&seed) % N)] = 1 + (int)(next_number(&seed) % 100);
    }
    for (int i = 0; i < N; i++) d[i * N + i] = 0;
    int *device = on_device(d);
    dim3 threads(TILE, TILE);
    for (int step = 0; step < TILES; step++) {
        tiles<<<1, threads>>>(device, step, 0);
        tiles<<<dim3(TILES, 2), threads>>>(device, step, 1);
        tiles<<<dim3(TILES, TILES), threads>>>(device, step, 2);
    }
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) d[i * N + j] = std::min(d[i * N + j], d[i * N + k] + d[k * N + j]);
    CHECK(from_device(device, N * N) == d);
    free_all(device);
}
