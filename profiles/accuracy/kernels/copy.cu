// Copying 8 M floats: the accesses alone differ.
#include "exercise.h"

enum { N = 1 << 23, STRIDE = 8 };

KERNEL copy_float(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

KERNEL copy_float4(float4 *out, const float4 *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

// One past each sector: five sectors a request.
KERNEL copy_shifted(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + 1];
}

// A sector for each lane. The next lines of the same sectors are read by blocks far away.
KERNEL copy_strided(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[(size_t)i * STRIDE % N + i / (N / STRIDE)];
}

KERNEL copy_grid_stride(float *out, const float *in)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)
        out[i] = in[i];
}

static float *in, *out;

int main(int count, char **arguments)
{
    in = numbers(N + 1);
    out = output<float>(N);
    return run_versions(count, arguments, {
        VERSION_OF("copy", copy_float, N / 256, 256, 0, out, in),
        VERSION_OF("copy", copy_float4, N / 4 / 256, 256, 0, (float4 *)out, (const float4 *)in),
        VERSION_OF("copy", copy_shifted, N / 256, 256, 0, out, in),
        VERSION_OF("copy", copy_strided, N / 256, 256, 0, out, in),
        VERSION_OF("copy", copy_grid_stride, 132 * 4, 512, 0, out, in),
    });
}
