// expect: exit 0
// More blocks than the device holds at once, that share what the caches keep, one launch after another and with copies
// between: api.c has its counters and times from one thread and from several.
#include "check.h"

enum { N = 1 << 19, BLOCK = 128, TABLE = 1 << 13 };

__global__ void look_up(float *out, const float *in, const float *table)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = in[i] + table[(unsigned)i * 2654435761u % TABLE];
}

int main()
{
    float *host = (float *)calloc(N, sizeof *host), *in, *out, *table;
    OK(cudaMalloc(&in, N * sizeof *in));
    OK(cudaMalloc(&out, N * sizeof *out));
    OK(cudaMalloc(&table, TABLE * sizeof *table));
    OK(cudaMemcpy(in, host, N * sizeof *in, cudaMemcpyHostToDevice));
    for (int round = 0; round < 3; round++) {
        OK(cudaMemcpy(table, host, TABLE * sizeof *table, cudaMemcpyHostToDevice));
        look_up<<<N / BLOCK, BLOCK>>>(out, in, table);
        look_up<<<N / BLOCK, BLOCK>>>(in, out, table);
        OK(cudaMemcpy(host, in, N * sizeof *in, cudaMemcpyDeviceToHost));
    }
    free(host);
    OK(cudaFree(in));
    OK(cudaFree(out));
    OK(cudaFree(table));
    return 0;
}
