// Reading and writing where other data say: from 16 MB, from 64 KB, and to 16 MB.
#include "exercise.h"

enum { N = 1 << 21, LARGE = 1 << 22, SMALL = 1 << 14 };

KERNEL gather_large(float *out, const float *in, const unsigned *where)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[where[i]];
}

KERNEL gather_small(float *out, const float *in, const unsigned *where)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[where[i] % SMALL];
}

KERNEL scatter_large(float *out, const float *in, const unsigned *where)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[where[i]] = in[i];
}

static float *in, *out;
static unsigned *where;

int main(int count, char **arguments)
{
    in = numbers(LARGE);
    out = output<float>(LARGE);
    where = words(N, LARGE);
    return run_versions(count, arguments, {
        VERSION(gather_large, N / 256, 256, 0, out, in, where),
        VERSION(gather_small, N / 256, 256, 0, out, in, where),
        VERSION(scatter_large, N / 256, 256, 0, out, in, where),
    });
}
