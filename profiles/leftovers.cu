// What a program finds in a GPU's memory of the program before it:
//
//     leftovers leave    fills all memory that is free with a pattern, and ends without freeing it
//     leftovers kill     the same, and is killed by a signal
//     leftovers find     looks through all memory that is free, and prints how many of its bytes are the pattern's, and how
//                        many are others than 0
//
// Managed memory would be out of place here: once all memory is taken, no page of it can come to the GPU.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                      \
    do {                                                                                                 \
        cudaError_t error = (call);                                                                      \
        if (error != cudaSuccess) {                                                                      \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
            exit(EXIT_FAILURE);                                                                          \
        }                                                                                                \
    } while (0)

static const uint64_t PATTERN = 0x5ca1ab1e0ddba11full;

__global__ void fill(uint64_t *words, size_t count, uint64_t pattern)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        words[i] = pattern;
}

// found[0]: how many are the pattern; found[1]: how many are not 0.
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

// Takes all memory that is free, in pieces that get smaller until there is no page of the driver's (2 MiB) left, and fills it or
// looks at it. Returns its bytes.
static size_t take_all(bool finds, unsigned long long *found)
{
    size_t bytes = 0, piece, all;
    CHECK(cudaMemGetInfo(&piece, &all));
    while (piece >= 2 << 20) {
        uint64_t *memory;
        if (cudaMalloc(&memory, piece)) {
            cudaGetLastError();
            piece /= 2;
            continue;
        }
        if (finds) look<<<2048, 256>>>(memory, piece / 8, PATTERN, found);
        else fill<<<2048, 256>>>(memory, piece / 8, PATTERN);
        CHECK(cudaGetLastError());
        bytes += piece / 8 * 8;
    }
    CHECK(cudaDeviceSynchronize());
    return bytes;
}

int main(int count, char **words)
{
    const char *what = count == 2 ? words[1] : "";
    bool finds = !strcmp(what, "find"), kills = !strcmp(what, "kill");
    unsigned long long *found, counts[2];
    if (!finds && !kills && strcmp(what, "leave")) {
        fprintf(stderr, "usage: %s leave|kill|find\n", words[0]);
        return 2;
    }
    CHECK(cudaMalloc(&found, sizeof counts));
    CHECK(cudaMemset(found, 0, sizeof counts));
    size_t bytes = take_all(finds, found);
    CHECK(cudaMemcpy(counts, found, sizeof counts, cudaMemcpyDeviceToHost));
    if (finds) printf("of %zu bytes %llu are the pattern's, and %llu are not 0\n", bytes, 8 * counts[0], 8 * counts[1]);
    else printf("%zu bytes filled%s\n", bytes, kills ? ", and killed" : "");
    fflush(stdout);
    if (kills) raise(SIGKILL);
    _Exit(0);
}
