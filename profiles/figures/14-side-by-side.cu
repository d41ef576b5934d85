// The launch of one version of lesson 14's solution, on each of eight sets of four million readings in turn, so that no cache
// holds what is read. Writes its microseconds between two events, the median. For 14-side-by-side.sh:
//
//     PROGRAM VERSION
static int version;
#define VERSION version
#include "../../solutions/14-occupancy.cu"

#include <algorithm>

enum { READINGS = 1 << 22, SETS = 8 };

__global__ void fill(int *raw)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < READINGS; i += gridDim.x * blockDim.x)
        raw[i] = i * 2654435761u >> 16;
}

int main(int argc, char **argv)
{
    int *raw[SETS];
    float *out[SETS], *table, milliseconds[SETS];
    cudaEvent_t start, stop;

    version = argc > 1 ? atoi(argv[1]) : 3;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMalloc(&table, POINTS * sizeof *table));
    CHECK(cudaMemset(table, 0, POINTS * sizeof *table));
    for (int s = 0; s < SETS; s++) {
        CHECK(cudaMalloc(&raw[s], READINGS * sizeof *raw[s]));
        CHECK(cudaMalloc(&out[s], READINGS * sizeof *out[s]));
        fill<<<1024, 256>>>(raw[s]);
        CHECK(cudaGetLastError());
    }
    for (int s = 0; s < SETS; s++) {
        CHECK(cudaEventRecord(start));
        calibrate(out[s], raw[s], table, READINGS);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&milliseconds[s], start, stop));
    }
    std::sort(milliseconds, milliseconds + SETS);
    printf("microseconds %.4g\n", (milliseconds[SETS / 2 - 1] + milliseconds[SETS / 2]) / 2 * 1e3);

    for (int s = 0; s < SETS; s++) {
        CHECK(cudaFree(raw[s]));
        CHECK(cudaFree(out[s]));
    }
    CHECK(cudaFree(table));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return EXIT_SUCCESS;
}
