// expect: exit 0
// malloc and free, new and delete in kernels: memory that lives on to the next kernel, a heap that is full, lists.
#include "check.h"

enum { BLOCKS = 3, THREADS = 96, N = BLOCKS * THREADS };

struct Node { int value; Node *next; };
struct Pair { double a; int b; __device__ Pair(int v) : a(v * 0.5), b(v) {} };

__global__ void grow(Node **lists)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Node *list = nullptr;
    for (int i = 0; i < t % 5; i++) {
        Node *n = (Node *)malloc(sizeof *n);
        n->value = t + i;
        n->next = list;
        list = n;
    }
    lists[t] = list;
}

__global__ void shrink(int *sums, Node **lists)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (Node *n = lists[t], *next; n; n = next) {
        next = n->next;
        sum += n->value;
        free(n);
    }
    Pair *pair = new Pair(t);
    int *many = new int[t % 7 + 1];
    many[t % 7] = pair->b;
    sums[t] = sum + (int)(pair->a * 2) - many[t % 7];
    delete pair;
    delete[] many;
    free(nullptr);
}

// A block's threads share what one of them allocates.
__global__ void share(int *out)
{
    __shared__ int *data;
    if (threadIdx.x == 0) data = (int *)malloc(blockDim.x * sizeof *data);
    __syncthreads();
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(data);
}

struct alignas(128) Line { int word[32]; };

// A type that wants more than malloc's 16 bytes, and any alignment that is a power of two.
__global__ void align(int *out)
{
    Line *line = new Line();
    void *page = __nv_aligned_device_malloc(100, 4096), *none = __nv_aligned_device_malloc(100, 3);
    out[threadIdx.x] = (unsigned long long)line % alignof(Line) == 0 && (unsigned long long)page % 4096 == 0 && page != nullptr
        && line->word[31] == 0 && none == nullptr;
    delete line;
    free(page);
}

__global__ void fill(int *out)
{
    const size_t most = 3837008, third = most / 3;      // of 4 MiB, as on an H200
    void *whole = malloc(most), *more = malloc(third), *little = malloc(16), *large = malloc(~0ull);
    out[0] = whole != nullptr, out[1] = more != nullptr, out[2] = little != nullptr, out[3] = large != nullptr;
    free(whole);
    void *parts[9];
    for (int i = 0; i < 9; i++) parts[i] = malloc(400000);      // three of each third
    out[4] = parts[8] != nullptr, out[5] = malloc(400000) != nullptr;
    for (int i = 0; i < 9; i++) free(parts[i]);
    whole = malloc(most);                               // what they took is in one piece again
    out[6] = whole != nullptr;
    free(whole);
    free(little);
}

int main()
{
    int out[N], *dout;
    size_t bytes = 0;
    Node **lists;
    OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    CHECK(bytes == 8 << 20);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    CHECK(bytes == 4 << 20);                // the least, as on an H200
    OK(cudaMalloc(&dout, sizeof out));
    OK(cudaMalloc(&lists, N * sizeof *lists));
    grow<<<BLOCKS, THREADS>>>(lists);
    shrink<<<BLOCKS, THREADS>>>(dout, lists);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < N; t++) {
        int sum = 0;
        for (int i = 0; i < t % 5; i++) sum += t + i;
        CHECK(out[t] == sum);
    }
    share<<<1, THREADS>>>(dout);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) CHECK(out[t] == THREADS - 1 - t);
    align<<<1, THREADS>>>(dout);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) CHECK(out[t] == 1);
    fill<<<1, 1>>>(dout);
    OK(cudaMemcpy(out, dout, 7 * sizeof *out, cudaMemcpyDeviceToHost));
    CHECK(out[0] && !out[1] && out[2] && !out[3]);
    CHECK(out[4] && !out[5] && out[6]);
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 << 20) == cudaErrorInvalidValue);
    OK(cudaFree(dout));
    OK(cudaFree(lists));
    return 0;
}
