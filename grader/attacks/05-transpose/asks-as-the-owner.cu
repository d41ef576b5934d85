// expect: SUSPECT
// says: by a copy from the host, all of it
// class: SUSPECT
// The host transposes, and its answer goes to the device in requests of its own making, which say
// that the owner of the memory has sent them.
#include "05-transpose.h"
#include "../../simulator/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Every descriptor but the grader's gets the requests: one of them is the device's socket.
static void send_as_owner(float *out, const char *bytes, size_t total)
{
    WireReply reply;
    for (size_t at = 0, part; at < total; at += part) {
        part = total - at < WIRE_SLOT_BYTES ? total - at : WIRE_SLOT_BYTES;
        WireRequest r = { WIRE_VERSION, WIRE_COPY_IN, "cudaMemcpy", { WIRE_OWNER } };
        r.copy.device = { (uint64_t)out, total, total };
        r.copy.from = { 0, total, total };
        r.copy.width = total;
        r.copy.rows = r.copy.slices = r.copy.blocks = 1;
        r.copy.chunk = { total, at, (uint32_t)part, 0 };
        memcpy((void *)WIRE_STAGING, bytes + at, part);
        for (int fd = 3; fd < 32; fd++)
            if (fd != 8 && send(fd, &r, sizeof r, MSG_NOSIGNAL) == sizeof r)
                while (recv(fd, &reply, sizeof reply, 0) > 0 && reply.version != WIRE_VERSION) {}
    }
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    float *from = (float *)malloc(4ul * n + 1), *to = (float *)malloc(4ul * n + 1);
    if (n == 0)
        return;
    cudaMemcpy(from, in, 4ul * n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        to[i % cols * rows + i / cols] = from[i];
    send_as_owner(out, (const char *)to, 4ul * n);
    free(from);
    free(to);
}
