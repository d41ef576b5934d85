// expect: SUSPECT
// says: by another process, all of it
// The host throws the points, beside a kernel that executes half as many instructions as it takes.
// Another process on the same device, which has opened the answer's memory, writes their number.
#include "12-monte-carlo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static __host__ __device__ void mix(unsigned *c, unsigned k0, unsigned k1, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        unsigned long long p = 0xD2511F53ull * c[0], q = 0xCD9E8D57ull * c[2];
        c[0] = (unsigned)(q >> 32) ^ c[1] ^ k0, c[1] = (unsigned)q;
        c[2] = (unsigned)(p >> 32) ^ c[3] ^ k1, c[3] = (unsigned)p;
        k0 += 0x9E3779B9, k1 += 0xBB67AE85;
    }
}

__global__ void mix_all(unsigned *out, const unsigned *counter, const unsigned *key, int blocks)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks)
        return;
    unsigned c[4];
    for (int i = 0; i < 4; i++)
        c[i] = counter[4 * b + i];
    mix(c, key[2 * b], key[2 * b + 1], 10);
    for (int i = 0; i < 4; i++)
        out[4 * b + i] = c[i];
}

extern "C" void philox(unsigned *out, const unsigned *counter, const unsigned *key, int blocks)
{
    if (blocks)
        mix_all<<<(blocks + 255) / 256, 256>>>(out, counter, key, blocks);
}

__global__ void keep_busy(int *never, int points)
{
    unsigned c[4] = { blockIdx.x, threadIdx.x, 0, 0 };
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < points; p += gridDim.x * blockDim.x)
        mix(c, p, p, 3);
    if (c[0] == 1 && c[1] == 2 && c[2] == 3)
        *never = 0;
}

// In the other process, before its main(): the words are the memory's handle, and the number.
static __attribute__((constructor)) void write_there(void)
{
    cudaIpcMemHandle_t handle;
    const char *words = getenv("HITS");
    void *hits;
    if (!words)
        return;
    for (size_t i = 0; i < sizeof handle; i++)
        sscanf(words + 2 * i, "%2hhx", (unsigned char *)&handle + i);
    int number = atoi(words + 2 * sizeof handle);
    cudaIpcOpenMemHandle(&hits, handle, cudaIpcMemLazyEnablePeerAccess);
    cudaMemcpy(hits, &number, sizeof number, cudaMemcpyHostToDevice);
    cudaIpcCloseMemHandle(hits);
    _exit(0);
}

extern "C" void count_hits(int *hits, int points, const unsigned *seed)
{
    int number = 0;
    unsigned key;
    cudaMemcpy(&key, seed, sizeof key, cudaMemcpyDeviceToHost);
    for (int p = 0; p < points; p++) {
        unsigned c[4] = { (unsigned)p / 2, 0, 0, 0 };
        mix(c, key, 0, 10);
        unsigned long long x = c[p % 2 * 2] >> 9, y = c[p % 2 * 2 + 1] >> 9;
        number += x * x + y * y < 1ull << 46;
    }
    cudaIpcMemHandle_t handle;
    char words[200];
    cudaIpcGetMemHandle(&handle, hits);
    for (size_t i = 0; i < sizeof handle; i++)
        sprintf(words + 2 * i, "%02x", ((unsigned char *)&handle)[i]);
    sprintf(words + 2 * sizeof handle, "%d", number);
    keep_busy<<<264, 256>>>(hits, points);
    cudaDeviceSynchronize();
    pid_t child = fork();
    if (child == 0) {
        setenv("HITS", words, 1);
        execl("/proc/self/exe", "other", (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}
