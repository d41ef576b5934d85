// expect: SUSPECT
// says: bytes went to the host in the call
// The host transposes. What its copies tell the device is a word more than they bring, so that none of them ends.
#include "05-transpose.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of a request: the bytes of a row, and those of the copy.
enum { CALL = 8, WIDTH = 176, TOTAL = 200, PIECE = 1 << 18 };

static bool more;

extern "C" ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
    char *request = (char *)message->msg_iov[0].iov_base;
    if (more && strcmp(request + CALL, "cudaMemcpy") == 0) {
        *(size_t *)(request + WIDTH) += 4;
        *(size_t *)(request + TOTAL) += 4;
    }
    return syscall(SYS_sendmsg, socket, message, flags);
}

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

static void copy(float *to, const float *from, int n, cudaMemcpyKind kind)
{
    more = true;
    for (int i = 0; i < n; i += PIECE)
        cudaMemcpy(to + i, from + i, (n - i < PIECE ? n - i : PIECE) * sizeof(float), kind);
    more = false;
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    size_t bytes = n * sizeof(float);
    if (n == 0)
        return;

    float *from = (float *)malloc(bytes), *to = (float *)malloc(bytes), *aside;
    cudaMalloc(&aside, bytes + sizeof(float));
    cudaMemset(aside, 0, bytes + sizeof(float));
    move<<<(n + 255) / 256, 256>>>(aside, in, n);
    copy(from, aside, n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        to[i % cols * rows + i / cols] = from[i];
    copy(aside, to, n, cudaMemcpyHostToDevice);
    move<<<(n + 255) / 256, 256>>>(out, aside, n);
    cudaDeviceSynchronize();
    cudaFree(aside);
    free(from);
    free(to);
}
