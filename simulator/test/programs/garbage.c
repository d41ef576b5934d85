// expect: exit 0
// The device is told nonsense by a program that speaks past the library: it answers on, and takes no harm.
#include "check.h"
#include "../../wire/row.h"
#include <string.h>
#include <sys/socket.h>

static int device;

static unsigned next(unsigned *state)
{
    return (*state = *state * 1664525u + 1013904223u) >> 8;
}

static void drain(void)
{
    static char reply[1 << 16];
    while (recv(device, reply, sizeof reply, MSG_DONTWAIT) > 0)
        ;
}

int main(void)
{
    static unsigned char bytes[sizeof(WireRequest) + 4096];
    unsigned state = 12345;
    void *p;
    CHECK(sscanf(getenv(WIRE_ENVIRONMENT), "%d", &device) == 1);
    OK(cudaMalloc(&p, 4096));
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(next(&state) & (round % 3 ? 255 : 3));
        WireRequest *request = (WireRequest *)bytes;
        size_t length = round % 5 ? sizeof bytes : next(&state) % sizeof bytes + 1;
        if (round % 7) {
            request->version = WIRE_VERSION;
            request->op = next(&state) % WIRE_OPERATION_COUNT;
            // Reports of misuse are not the point, and a reset would free p.
            if (request->op == WIRE_RESET || request->op == WIRE_MISUSE || request->op == WIRE_UNSUPPORTED
                || request->op == WIRE_FAULT || request->op == WIRE_FREE)
                request->op = WIRE_MODULE;
            // Copies with good addresses and bad sizes come close to harm.
            request->copy.device.address = (uintptr_t)p;
            if (strcmp(wire_row(request->op)->member, "copy") == 0 && round % 2 == 0)
                request->copy.width = ~0ull >> next(&state) % 64;
        }
        send(device, bytes, length, MSG_NOSIGNAL);
        drain();
    }
    // Some of it was launches that failed and that nobody asked about.
    WireRequest checked = { .version = WIRE_VERSION, .op = WIRE_CHECKED };
    send(device, &checked, sizeof checked, MSG_NOSIGNAL);
    // Whatever is still unanswered is answered before this.
    struct timeval wait = { 0, 300000 };
    setsockopt(device, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    while (recv(device, bytes, sizeof bytes, 0) > 0)
        ;
    wait.tv_usec = 0;
    setsockopt(device, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    OK(cudaMemset(p, 0, 4096));
    OK(cudaFree(p));
    return 0;
}
