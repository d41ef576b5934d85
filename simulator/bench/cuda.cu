// The benchmark's kernels in CUDA. Usage: cuda KERNEL N (work.h).
#include <cuda_runtime.h>

#include "work.h"

#define CHECK(call)                                                                             \
    do {                                                                                        \
        cudaError_t error = (call);                                                             \
        if (error != cudaSuccess) {                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));      \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

__global__ void vector_add(float *out, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

__global__ void block_sum(float *out, const float *a, int n)
{
    __shared__ float sum[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, t = threadIdx.x;
    sum[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) sum[t] += sum[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sum[0];
}

__global__ void matmul_naive(float *out, const float *a, const float *b, int n)
{
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    out[row * n + column] = sum;
}

__global__ void matmul_tiled(float *out, const float *a, const float *b, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        tile_a[y][x] = a[row * n + first + x];
        tile_b[y][x] = b[(first + y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    out[row * n + column] = sum;
}

typedef struct { const char *name; float *out, *a, *b; int n; } Call;

static void launch(void *state)
{
    const Call *c = (const Call *)state;
    dim3 tile(TILE, TILE), tiles(c->n / TILE, c->n / TILE);
    int blocks = (c->n + BLOCK - 1) / BLOCK;
    if (!strcmp(c->name, "vector_add")) vector_add<<<blocks, BLOCK>>>(c->out, c->a, c->b, c->n);
    else if (!strcmp(c->name, "block_sum")) block_sum<<<blocks, BLOCK>>>(c->out, c->a, c->n);
    else if (!strcmp(c->name, "matmul_naive")) matmul_naive<<<tiles, tile>>>(c->out, c->a, c->b, c->n);
    else matmul_tiled<<<tiles, tile>>>(c->out, c->a, c->b, c->n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

static float *on_device(const float *from, size_t bytes)
{
    float *to;
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    const Work *work = work_find(argv[1]);
    int n = atoi(argv[2]), runs;
    size_t count = work->matrices ? (size_t)n * n : n, results = work->sums ? (count + BLOCK - 1) / BLOCK : count;
    float *numbers = (float *)calloc(count, sizeof *numbers);
    double median;
    Call call = { work->name, NULL, NULL, NULL, n };
    call.out = on_device(numbers, results * sizeof *numbers);
    work_fill(numbers, count, 5);
    call.a = on_device(numbers, count * sizeof *numbers);
    work_fill(numbers, count, 3);
    call.b = on_device(numbers, count * sizeof *numbers);
    work_measure(launch, &call, &median, &runs);
    CHECK(cudaMemcpy(numbers, call.out, results * sizeof *numbers, cudaMemcpyDeviceToHost));
    printf("%.6f %d %.0f\n", median, runs, work_sum(numbers, results));
    CHECK(cudaFree(call.out));
    CHECK(cudaFree(call.a));
    CHECK(cudaFree(call.b));
    free(numbers);
}
