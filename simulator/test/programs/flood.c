// expect: exit 0
// A program that sends without end and reads no answers holds up itself, not the device: that ends with it,
// although a child of the program's keeps the socket open.
#include "check.h"
#include "../../wire/wire.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
    int device;
    WireRequest request = { .version = WIRE_VERSION, .op = WIRE_MEMORY_INFO };
    CHECK(sscanf(getenv(WIRE_ENVIRONMENT), "%d", &device) == 1);
    OK(cudaFree(NULL));
    if (fork() == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(nowhere, fd);
        sleep(150);
        _exit(0);
    }
    for (int i = 0; i < 100000; i++)
        send(device, &request, sizeof request, MSG_DONTWAIT | MSG_NOSIGNAL);
    return 0;
}
