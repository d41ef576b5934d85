// expect: exit 0
// What NVIDIA's headers write with the modifiers in another order: cuRAND's Poisson numbers, whose mean and variance are
// the parameter, and __vimin3_s32_relu and its like.
#include <curand_kernel.h>
#include <math.h>
#include "check.h"

enum { THREADS = 128, DRAWS = 64, N = THREADS * DRAWS };

__global__ void poisson(unsigned *out, double mean)
{
    curandStatePhilox4_32_10_t state;
    curand_init(1234, threadIdx.x, 0, &state);
    for (int i = 0; i < DRAWS; i++) out[i * THREADS + threadIdx.x] = curand_poisson(&state, mean);
}

__global__ void extremes(const int *in, int *out)
{
    int a = in[threadIdx.x], b = in[threadIdx.x + 1], c = in[threadIdx.x + 2];
    out[threadIdx.x] = __vimin3_s32_relu(a, b, c);
    out[32 + threadIdx.x] = __vimax3_s32_relu(a, b, c);
    out[64 + threadIdx.x] = (int)__vimin_s16x2_relu(a, b);
    out[96 + threadIdx.x] = (int)__vimax_s16x2_relu(a, b);
}

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }
static int not_negative(int a) { return most(a, 0); }

static int pairs(int (*op)(int, int), int a, int b)
{
    return (int)((unsigned)not_negative(op((short)a, (short)b)) | (unsigned)not_negative(op((short)(a >> 16), (short)(b >> 16))) << 16);
}

static void check_poisson(unsigned *device, double mean)
{
    static unsigned out[N];
    double sum = 0, squares = 0;
    poisson<<<1, THREADS>>>(device, mean);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) sum += out[i], squares += (out[i] - mean) * (out[i] - mean);
    CHECK(fabs(sum / N - mean) < 5 * sqrt(mean / N));                           // five standard errors
    CHECK(fabs(squares / N - mean) < 5 * sqrt((mean + 2 * mean * mean) / N));
}

int main()
{
    int in[34], out[128], *d_in, *d_out;
    unsigned *numbers;
    OK(cudaMalloc(&numbers, N * sizeof *numbers));
    check_poisson(numbers, 0.5);
    check_poisson(numbers, 20);
    check_poisson(numbers, 300);
    check_poisson(numbers, 5000);
    for (unsigned i = 0; i < 34; i++) in[i] = (int)(i * 2654435761u + 0x12345678u);
    OK(cudaMalloc(&d_in, sizeof in));
    OK(cudaMalloc(&d_out, sizeof out));
    OK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    extremes<<<1, 32>>>(d_in, d_out);
    OK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        CHECK(out[i] == not_negative(least(least(in[i], in[i + 1]), in[i + 2])));
        CHECK(out[32 + i] == not_negative(most(most(in[i], in[i + 1]), in[i + 2])));
        CHECK(out[64 + i] == pairs(least, in[i], in[i + 1]));
        CHECK(out[96 + i] == pairs(most, in[i], in[i + 1]));
    }
    OK(cudaFree(numbers));
    OK(cudaFree(d_in));
    OK(cudaFree(d_out));
    return 0;
}
