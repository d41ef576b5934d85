// The peers of lesson 11: CUB's sort and CUB's selection, as they come with the toolkit. What they need of memory is the
// same scratch memory as the student's functions have.
#include <cub/cub.cuh>
#include <cstdio>
#include <cstdlib>

static void check(cudaError_t error, const char *where)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}

static void fits(size_t bytes, int n, const char *where)
{
    check(bytes > 8ull * n + 65536 ? cudaErrorMemoryAllocation : cudaSuccess, where);
}

extern "C" void sort_cub(unsigned *out, const unsigned *in, int n, int first, int end, void *scratch)
{
    size_t bytes = 0;

    check(cub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, n, first, end), __func__);
    fits(bytes, n, __func__);
    check(cub::DeviceRadixSort::SortKeys(scratch, bytes, in, out, n, first, end), __func__);
}

struct Above {
    int limit;
    __host__ __device__ bool operator()(int x) const { return x > limit; }
};

extern "C" void keep_cub(int *out, int *kept, const int *in, int n, int limit, void *scratch)
{
    size_t bytes = 0;
    Above above = { limit };

    check(cub::DeviceSelect::If(nullptr, bytes, in, out, kept, n, above), __func__);
    fits(bytes, n, __func__);
    check(cub::DeviceSelect::If(scratch, bytes, in, out, kept, n, above), __func__);
}
