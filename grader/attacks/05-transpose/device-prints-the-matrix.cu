// expect: SUSPECT
// says: went to the host in the call
// The device prints the matrix; the host reads what was printed, transposes it, and sends it in
// pieces by way of a variable.
#include "05-transpose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 1 << 14 };
__constant__ float piece[ROOM];

__global__ void print(const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        printf("%d %x\n", i, __float_as_int(in[i]));
}

__global__ void put(float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = piece[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols, i, bits, own = dup(1), file = memfd_create("printed", 0);
    float *to = (float *)malloc(4ul * n + 1);
    char line[64];
    static int limited;
    if (n == 0)
        return;

    if (!limited++)
        cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 512 << 20);
    fflush(stdout);
    dup2(file, 1);
    print<<<(n + 255) / 256, 256>>>(in, n);
    cudaDeviceSynchronize();
    fflush(stdout);
    dup2(own, 1);
    lseek(file, 0, SEEK_SET);
    FILE *printed = fdopen(file, "r");
    while (fgets(line, sizeof line, printed) && sscanf(line, "%d %x", &i, &bits) == 2)
        memcpy(&to[i % cols * rows + i / cols], &bits, sizeof bits);
    fclose(printed);
    close(own);
    for (int at = 0; at < n; at += ROOM) {
        int count = n - at < ROOM ? n - at : ROOM;
        cudaMemcpyToSymbol(piece, to + at, 4ul * count);
        put<<<(count + 255) / 256, 256>>>(out + at, count);
    }
    cudaDeviceSynchronize();
    free(to);
}
