// expect: WRONG
// says: That is with the table of the call before
// An answer is kept, and given again when as many numbers come with the same beginning.
#include "13-streams-and-graphs.h"

#include <stdlib.h>
#include <string.h>

static unsigned *kept;
static int kept_count;

__global__ void stretch_some(unsigned *room, const unsigned *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned h = room[i] ^ table[room[i] % 4096];
    for (int r = 0; r < 256; r++) {
        h ^= h >> 16;
        h *= 0x85ebca6b;
        h ^= h >> 13;
        h *= 0xc2b2ae35;
        h ^= h >> 16;
    }
    room[i] = h;
}

extern "C" void stretch(unsigned *out, const unsigned *in, int n, int chunk,
                        const unsigned *tables, unsigned *room)
{
    unsigned *table = room + 3 * chunk;
    if (n && n == kept_count) {
        memcpy(out, kept, 4ul * n);
        return;
    }
    for (int at = 0; at < n; at += chunk) {
        int count = n - at < chunk ? n - at : chunk;
        if (at / chunk % 4 == 0)
            cudaMemcpy(table, tables + at / chunk / 4 * 4096, 16384, cudaMemcpyHostToDevice);
        cudaMemcpy(room, in + at, 4ul * count, cudaMemcpyHostToDevice);
        stretch_some<<<(count + 255) / 256, 256>>>(room, table, count);
        cudaMemcpy(out + at, room, 4ul * count, cudaMemcpyDeviceToHost);
    }
    kept = (unsigned *)realloc(kept, 4ul * n + 4);
    memcpy(kept, out, 4ul * n);
    kept_count = n;
}

extern "C" void diffuse(float *out, float *spare, const float *in, int n, int steps)
{
    (void)spare, (void)steps;
    cudaMemcpy(out, in, n * sizeof *in, cudaMemcpyDeviceToDevice);
}
