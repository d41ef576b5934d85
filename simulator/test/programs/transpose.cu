// expect: exit 0
// Transposing a matrix by way of padded tiles of shared memory, in three types, with sides that are no multiples of a tile.
#include "numbers.h"

enum { TILE = 32, ROWS = 8 };

template <typename T> __global__ void transpose(T *out, const T *in, int height, int width)
{
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width) out[(size_t)(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T> void try_type(int height, int width)
{
    std::vector<T> host = real_numbers<T>((size_t)height * width, 7);
    std::vector<double> want(host.size());
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) want[(size_t)x * height + y] = host[(size_t)y * width + x];
    T *in = on_device(host), *out = room_for<T>(host.size());
    dim3 blocks((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), threads(TILE, ROWS);
    transpose<<<blocks, threads>>>(out, in, height, width);
    OK(cudaGetLastError());
    check_close(from_device(out, host.size()), want, 0);
    free_all(in, out);
}

int main()
{
    try_type<float>(64, 96);
    try_type<double>(45, 77);
    try_type<short>(1, 33);
}
