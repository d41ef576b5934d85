// expect: uninitialized 177
// says: was computed from memory that nothing wrote
// Half of what CUB sorts was written by nobody. It puts them into shared memory and compares them there.
#include <cub/device/device_merge_sort.cuh>

#include "check.h"

struct Less { __device__ bool operator()(int a, int b) const { return a < b; } };

int main()
{
    const int N = 1000;
    int *keys;
    void *room = NULL;
    size_t bytes = 0;
    OK(cudaMalloc(&keys, N * sizeof *keys));
    OK(cudaMemset(keys, 0, N / 2 * sizeof *keys));
    OK(cub::DeviceMergeSort::SortKeys(room, bytes, keys, N, Less()));
    OK(cudaMalloc(&room, bytes));
    OK(cub::DeviceMergeSort::SortKeys(room, bytes, keys, N, Less()));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(room));
    OK(cudaFree(keys));
}
