// expect: exit 0
// Heat in a cube: a seven-point stencil with planes in registers, in float, over pitched memory; two streams take halves.
#include "numbers.h"

enum { SIDE = 24, STEPS = 6 };

// Planes from `low` up to below `high`.
__global__ void step(float *out, const float *in, size_t pitch, int low, int high)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= SIDE || y >= SIDE) return;
    auto at = [&](const float *from, int px, int py, int pz) {
        return px < 0 || py < 0 || pz < 0 || px >= SIDE || py >= SIDE || pz >= SIDE
            ? 0.0f : ((const float *)((const char *)from + ((size_t)pz * SIDE + py) * pitch))[px];
    };
    float below = at(in, x, y, low - 1), here = at(in, x, y, low);
    for (int z = low; z < high; z++) {
        float above = at(in, x, y, z + 1);
        float around = below + above + at(in, x - 1, y, z) + at(in, x + 1, y, z) + at(in, x, y - 1, z) + at(in, x, y + 1, z);
        ((float *)((char *)out + ((size_t)z * SIDE + y) * pitch))[x] = here + 0.1f * (around - 6 * here);
        below = here, here = above;
    }
}

int main()
{
    std::vector<float> host = real_numbers<float>(SIDE * SIDE * SIDE, 201);
    std::vector<double> now(host.begin(), host.end()), next(host.size());
    float *a, *b;
    size_t pitch, row = SIDE * sizeof(float);
    cudaStream_t half[2];
    OK(cudaMallocPitch(&a, &pitch, row, SIDE * SIDE));
    OK(cudaMallocPitch(&b, &pitch, row, SIDE * SIDE));
    OK(cudaMemcpy2D(a, pitch, host.data(), row, row, SIDE * SIDE, cudaMemcpyHostToDevice));
    for (int h = 0; h < 2; h++) OK(cudaStreamCreate(&half[h]));
    for (int k = 0; k < STEPS; k++, std::swap(a, b), now.swap(next)) {
        for (int h = 0; h < 2; h++)
            step<<<dim3(2, 3), dim3(16, 8), 0, half[h]>>>(b, a, pitch, h * SIDE / 2, (h + 1) * SIDE / 2);
        OK(cudaDeviceSynchronize());
        for (int z = 0; z < SIDE; z++)
            for (int y = 0; y < SIDE; y++)
                for (int x = 0; x < SIDE; x++) {
                    int i = (z * SIDE + y) * SIDE + x;
                    double around = (x ? now[i - 1] : 0) + (x < SIDE - 1 ? now[i + 1] : 0) + (y ? now[i - SIDE] : 0)
                        + (y < SIDE - 1 ? now[i + SIDE] : 0) + (z ? now[i - SIDE * SIDE] : 0)
                        + (z < SIDE - 1 ? now[i + SIDE * SIDE] : 0);
                    next[i] = now[i] + 0.1 * (around - 6 * now[i]);
                }
    }
    OK(cudaMemcpy2D(host.data(), row, a, pitch, row, SIDE * SIDE, cudaMemcpyDeviceToHost));
    check_close(host, now, 1e-5);
    free_all(a, b);
    for (int h = 0; h < 2; h++) OK(cudaStreamDestroy(half[h]));
}
