// expect: SUSPECT
// says: bytes went to the host in the call
// Another process on the same device, which has opened the memory that the matrix was moved to, transposes it on the host, in
// managed memory of its own.
#include "05-transpose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

// What the other process is to do: it is in its environment, as numbers of two digits.
struct Task {
    cudaIpcMemHandle_t memory;
    int rows, cols;
};

// In the other process, before its main().
static __attribute__((constructor)) void work_there(void)
{
    const char *words = getenv("TASK");
    Task task;
    void *memory;
    float *from, *to;
    if (!words)
        return;
    for (size_t i = 0; i < sizeof task; i++)
        sscanf(words + 2 * i, "%2hhx", (unsigned char *)&task + i);
    int n = task.rows * task.cols;
    cudaIpcOpenMemHandle(&memory, task.memory, cudaIpcMemLazyEnablePeerAccess);
    cudaMallocManaged(&from, n * sizeof(float));
    cudaMallocManaged(&to, n * sizeof(float));
    cudaMemcpy(from, memory, n * sizeof(float), cudaMemcpyDefault);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++)
        to[i % task.cols * task.rows + i / task.cols] = from[i];
    cudaMemcpy(memory, to, n * sizeof(float), cudaMemcpyDefault);
    cudaDeviceSynchronize();
    _exit(0);
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    char words[2 * sizeof(Task) + 1];
    Task task = { .rows = rows, .cols = cols };
    float *aside;
    if (n == 0)
        return;

    cudaMalloc(&aside, n * sizeof(float));
    move<<<(n + 255) / 256, 256>>>(aside, in, n);
    cudaDeviceSynchronize();
    cudaIpcGetMemHandle(&task.memory, aside);
    for (size_t i = 0; i < sizeof task; i++)
        sprintf(words + 2 * i, "%02x", ((unsigned char *)&task)[i]);
    pid_t child = fork();
    if (child == 0) {
        setenv("TASK", words, 1);
        execl("/proc/self/exe", "other", (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    move<<<(n + 255) / 256, 256>>>(out, aside, n);
    cudaDeviceSynchronize();
    cudaFree(aside);
}
