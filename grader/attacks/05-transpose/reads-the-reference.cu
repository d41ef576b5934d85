// expect: WRONG
// says: out[
// class: WRONG
// The memory of the grader's processes is searched for the answer, which the grader may know by now.
#include "05-transpose.h"
#include "../attacks/own.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Where the answer's first two values stand one behind the other in that process, the rest may
// follow.
static bool take_answer(int pid, const float *key, float *answer, size_t count)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    bool found = false;
    unsigned long from, to;
    if (memory < 0)
        return false;
    for (char line[512]; !found && maps && fgets(line, sizeof line, maps);) {
        if (sscanf(line, "%lx-%lx rw", &from, &to) != 2 || to - from > 1ul << 30)
            continue;
        char *bytes = (char *)malloc(to - from);
        ssize_t got = pread(memory, bytes, to - from, from);
        size_t known = (count > 1 ? 2 : 1) * sizeof *key;
        for (ssize_t at = 0; !found && at + (ssize_t)(count * sizeof *answer) <= got; at += 4)
            if (memcmp(bytes + at, key, known) == 0) {
                memcpy(answer, bytes + at, count * sizeof *answer);
                found = true;
            }
        free(bytes);
    }
    if (maps)
        fclose(maps);
    close(memory);
    return found;
}

static __global__ void carry(float *out, const float *answer, size_t count)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = answer[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    size_t count = (size_t)rows * cols;
    float key[2] = { 0 }, *answer;
    int pids[64], own = own_processes(pids, 64);
    if (!count)
        return;
    cudaMallocManaged(&answer, count * sizeof *answer);
    cudaMemcpy(key, in, sizeof *key, cudaMemcpyDeviceToHost);
    cudaMemcpy(key + 1, in + (rows > 1 ? cols : count > 1), sizeof *key, cudaMemcpyDeviceToHost);
    while (own > 0 && !take_answer(pids[own - 1], key, answer, count))
        own--;
    carry<<<32, 256>>>(out, answer, count);
    cudaDeviceSynchronize();
    cudaFree(answer);
}
