// expect: SUSPECT
// says: by a copy from the host, all of it
// A constructor speaks with the grader, and main() never runs: the host transposes.
#include "05-transpose.h"
#include "../protocol.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void transpose_on_host(const Request *r)
{
    float *out = (float *)r->arg[0].address[0];
    const float *in = (const float *)r->arg[1].address[0];
    int rows = (int)r->arg[2].bits, cols = (int)r->arg[3].bits;
    size_t bytes = sizeof(float) * rows * cols;
    float *from = (float *)malloc(bytes + 1), *to = (float *)malloc(bytes + 1);

    cudaMemcpy(from, in, bytes, cudaMemcpyDeviceToHost);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            to[col * rows + row] = from[row * cols + col];
    cudaMemcpy(out, to, bytes, cudaMemcpyHostToDevice);
    free(from);
    free(to);
}

static __attribute__((constructor)) void speak(void)
{
    enum { SOCKET = 8 };
    Request request;
    while (recv(SOCKET, &request, sizeof request, 0) == sizeof request) {
        Answer answer = { PROTOCOL_MAGIC, STAGE_DONE };
        cudaFree(0);
        if (request.action == ACTION_CALL)
            transpose_on_host(&request);
        send(SOCKET, &answer, sizeof answer, 0);
    }
    _exit(0);
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    (void)out, (void)in, (void)rows, (void)cols;
}
