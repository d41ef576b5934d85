// Adding vectors of 4 M numbers, and reading or writing alone.
#include "exercise.h"

enum { N = 1 << 22 };

KERNEL add_float(float *out, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}

KERNEL add_double(double *out, const double *a, const double *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}

KERNEL add_small_blocks(float *out, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}

KERNEL write_only(float *out, float value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = value;
}

KERNEL read_only(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] == -1)
        out[i] = 0;
}

static float *a, *b, *out;

int main(int count, char **arguments)
{
    a = numbers(2 * N);
    b = numbers(2 * N);
    out = output<float>(2 * N);
    return run_versions(count, arguments, {
        VERSION_OF("a sum", add_float, N / 256, 256, 0, out, a, b),
        VERSION(add_double, N / 256, 256, 0, (double *)out, (const double *)a, (const double *)b),
        VERSION_OF("a sum", add_small_blocks, N / 32, 32, 0, out, a, b),
        VERSION(write_only, 2 * N / 256, 256, 0, out, 1.0f),
        VERSION(read_only, 2 * N / 256, 256, 0, out, a),
    });
}
