// expect: exit 0
// build: -gencode arch=compute_90,code=[compute_90,sm_90]
// counts: copies bound:memory 1
// counts: multiplies bound:compute 1
// counts: adds_to_one_word bound:atomics 1
// counts: follows bound:latency 1
// counts: reads_from_the_host bound:transfers 1
//
// What bounds the predicted time of a kernel, where nothing else comes near.
#include <cuda_runtime.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != cudaSuccess) return __LINE__;                                                \
    } while (0)

enum { COUNT = 1 << 22, ON_HOST = 1 << 18, LINKS = 1 << 10, THREADS = 256 };

static __device__ int index() { return blockIdx.x * THREADS + threadIdx.x; }

__global__ void copies(float4 *out, const float4 *in) { out[index()] = in[index()]; }

__global__ void multiplies(float *out, float x)
{
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 16
    for (int k = 0; k < 512; k++) a = a * x + x, b = b * x + x, c = c * x + x, d = d * x + x;
    out[index()] = a + b + c + d;
}

__global__ void adds_to_one_word(float *sum) { atomicAdd(sum, (float)threadIdx.x); }

__global__ void follows(int *links)
{
    int at = 0;
    for (int k = 0; k < LINKS; k++) at = links[at];
    links[LINKS] = at;
}

__global__ void reads_from_the_host(int *out, const int *in) { out[index()] = in[index()]; }

int main()
{
    float4 *in, *out;
    int *host, *links;
    static int next[LINKS + 1];
    for (int k = 0; k < LINKS; k++) next[k] = (k + 97) % LINKS;
    OK(cudaMalloc(&in, COUNT * sizeof *in));
    OK(cudaMalloc(&out, COUNT * sizeof *out));
    OK(cudaMalloc(&links, sizeof next));
    OK(cudaMallocHost(&host, ON_HOST * sizeof *host));
    OK(cudaMemset(in, 0, COUNT * sizeof *in));
    OK(cudaMemset(out, 0, COUNT * sizeof *out));
    OK(cudaMemcpy(links, next, sizeof next, cudaMemcpyHostToDevice));
    for (int k = 0; k < ON_HOST; k++) host[k] = k;
    copies<<<COUNT / THREADS, THREADS>>>(out, in);
    multiplies<<<8 * 132, THREADS>>>((float *)out, 0.5f);
    adds_to_one_word<<<1024, THREADS>>>((float *)out);
    follows<<<1, 1>>>(links);
    reads_from_the_host<<<ON_HOST / THREADS, THREADS>>>((int *)out, host);
    OK(cudaDeviceSynchronize());
    OK(cudaFreeHost(host));
    OK(cudaFree(links));
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
