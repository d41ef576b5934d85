// What a program finds in a GPU's memory of the program before it:
//
//     leftovers leave    fills all memory that is free with a pattern, and ends without freeing it
//     leftovers kill     the same, and is killed by a signal
//     leftovers find     looks through all memory that is free, and prints how many of its bytes are the pattern's, and how
//                        many are others than 0
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static const uint64_t PATTERN = 0x5ca1ab1e0ddba11full;

__global__ void fill(uint64_t *words, size_t count, uint64_t pattern)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        words[i] = pattern;
}

__global__ void look(const uint64_t *words, size_t count, uint64_t pattern, unsigned long long *found)
{
    unsigned long long same = 0, other = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        same += words[i] == pattern;
        other += words[i] != 0;
    }
    atomicAdd(&found[0], same);
    atomicAdd(&found[1], other);
}

int main(int count, char **words)
{
    const char *what = count == 2 ? words[1] : "";
    bool finds = !strcmp(what, "find"), kills = !strcmp(what, "kill");
    unsigned long long found[2] = { 0 }, *total;
    size_t bytes = 0, piece, all;
    if ((!finds && !kills && strcmp(what, "leave")) || cudaMemGetInfo(&piece, &all) || cudaMallocManaged(&total, sizeof found)) {
        fprintf(stderr, "usage: %s leave|kill|find, where there is a GPU\n", words[0]);
        return 2;
    }
    total[0] = total[1] = 0;
    while (piece >= 2 << 20) { // a page of the driver's
        uint64_t *memory;
        if (cudaMalloc(&memory, piece)) {
            cudaGetLastError();
            piece /= 2;
            continue;
        }
        if (finds) look<<<2048, 256>>>(memory, piece / 8, PATTERN, total);
        else fill<<<2048, 256>>>(memory, piece / 8, PATTERN);
        bytes += piece / 8 * 8;
    }
    if (cudaDeviceSynchronize()) return 1;
    memcpy(found, total, sizeof found);
    if (kills) raise(SIGKILL);
    if (finds)
        printf("of %zu bytes %llu are the pattern's, and %llu are not 0\n", bytes, 8 * found[0], 8 * found[1]);
    else printf("%zu bytes of %zu filled\n", bytes, all);
    _Exit(0);
}
