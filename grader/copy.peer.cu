// The peer: a copy within the GPU's memory, against which submissions are timed. Each thread moves 16
// bytes at a time, and has four loads on their way before it stores the first.

enum { THREADS = 512, FLIGHT = 4 };

__global__ void copy_kernel(float4 *out, const float4 *in, long long n)
{
    long long first = (long long)blockIdx.x * THREADS * FLIGHT + threadIdx.x;
    float4 x[FLIGHT];
#pragma unroll
    for (int i = 0; i < FLIGHT; i++)
        if (first + i * THREADS < n)
            x[i] = in[first + i * THREADS];
#pragma unroll
    for (int i = 0; i < FLIGHT; i++)
        if (first + i * THREADS < n)
            out[first + i * THREADS] = x[i];
}

// n is a multiple of 4, and both are aligned to 16 bytes.
extern "C" void copy(float *out, const float *in, long long n)
{
    long long vectors = n / 4, each = THREADS * FLIGHT;
    copy_kernel<<<(vectors + each - 1) / each, THREADS>>>((float4 *)out, (const float4 *)in, vectors);
}
