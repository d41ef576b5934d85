// expect: invalid-free 45, leak 44, exit 0
// build: -rdc=true -lcudadevrt
// cudaMalloc and cudaFree in kernels, which take from malloc's heap: for children, for a later kernel, and more than there is.
#include "check.h"

enum { LINES = 40 };

struct Line { int count; int *points; };

__global__ void draw(Line *line)
{
    if (threadIdx.x < line->count)
        line->points[threadIdx.x] = line->count + threadIdx.x;
}

__global__ void make(Line *lines, int *codes)
{
    int l = threadIdx.x;
    if (l >= LINES)
        return;
    Line *mine = &lines[l];
    mine->count = l % 7 + 1;
    codes[l] = cudaMalloc(&mine->points, mine->count * sizeof(int));
    draw<<<1, 32>>>(mine);
}

__global__ void sum(Line *lines, int *sums)
{
    int l = threadIdx.x, total = 0;
    if (l >= LINES)
        return;
    for (int i = 0; i < lines[l].count; i++)
        total += lines[l].points[i];
    sums[l] = total + 1000 * cudaFree(lines[l].points);
}

__global__ void misuse(int *from_host, int *codes)
{
    void *p = from_host;
    codes[0] = cudaMalloc(&p, (size_t)1 << 40);
    codes[1] = p == nullptr;
    codes[2] = cudaGetLastError();
    codes[3] = cudaFree(nullptr);
    codes[4] = cudaMalloc(&p, 100);
    codes[5] = cudaFree(from_host);
}

int main()
{
    Line *lines;
    int *got, host[LINES];
    static const int due[] = { cudaErrorMemoryAllocation, 1, cudaErrorMemoryAllocation, 0, 0, cudaErrorInvalidValue };
    OK(cudaMalloc(&lines, LINES * sizeof *lines));
    OK(cudaMalloc(&got, sizeof host));
    make<<<1, 64>>>(lines, got);
    OK(cudaMemcpy(host, got, sizeof host, cudaMemcpyDeviceToHost));
    for (int l = 0; l < LINES; l++)
        CHECK(host[l] == 0);
    sum<<<1, 64>>>(lines, got);
    OK(cudaMemcpy(host, got, sizeof host, cudaMemcpyDeviceToHost));
    for (int l = 0; l < LINES; l++) {
        int n = l % 7 + 1;
        CHECK(host[l] == n * n + n * (n - 1) / 2);
    }
    misuse<<<1, 1>>>(got, got);
    OK(cudaMemcpy(host, got, sizeof due, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6; i++)
        CHECK(host[i] == due[i]);
    OK(cudaFree(lines));
    OK(cudaFree(got));
    return 0;
}
