// expect: exit 0
// build: -G
// Without optimisation CUB's arrays lie in local memory. Its threads add up what some of them were never given, and take it off again.
#include <cub/device/device_segmented_radix_sort.cuh>
#include "check.h"

enum { N = 500, SEGMENTS = 3 };

int main()
{
    static const int ends[SEGMENTS + 1] = { 0, 100, 100, N };
    unsigned host[N], *in, *out;
    int *bounds;
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMalloc(&bounds, sizeof ends));
    for (int i = 0; i < N; i++) host[i] = i * 7919u % 1009;
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    OK(cudaMemcpy(bounds, ends, sizeof ends, cudaMemcpyDefault));
    void *room = NULL;
    size_t bytes = 0;
    for (int pass = 0; pass < 2; pass++) {
        OK(cub::DeviceSegmentedRadixSort::SortKeys(room, bytes, in, out, N, SEGMENTS, bounds, bounds + 1));
        if (!room) OK(cudaMalloc(&room, bytes));
    }
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDefault));
    for (int i = 1; i < N; i++) CHECK(i == 100 || host[i - 1] <= host[i]);
    OK(cudaFree(room));
    OK(cudaFree(in));
    OK(cudaFree(out));
    OK(cudaFree(bounds));
    return 0;
}
