// expect: exit 0
// A program that sends without end and reads no answers stops itself, not the device, which ends with it.
#include "check.h"
#include "../../wire.h"
#include <sys/socket.h>

int main(void)
{
    int device;
    WireRequest request = { .version = WIRE_VERSION, .op = WIRE_MEMORY_INFO };
    CHECK(sscanf(getenv(WIRE_ENVIRONMENT), "%d", &device) == 1);
    OK(cudaFree(NULL));
    for (int i = 0; i < 100000; i++)
        send(device, &request, sizeof request, MSG_DONTWAIT | MSG_NOSIGNAL);
    return 0;
}
