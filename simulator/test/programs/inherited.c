// expect: exit 0
// Of the device's files the program has its socket and the staging memory, and programs that it starts have none.
#include "check.h"
#include "../../wire/wire.h"
#include <fcntl.h>
#include <unistd.h>

int main(int count, char **words)
{
    int socket, memory;
    CHECK(sscanf(getenv(WIRE_ENVIRONMENT), "%d,%d", &socket, &memory) == 2);
    for (int fd = 3; fd < 256; fd++)
        CHECK(fcntl(fd, F_GETFD) < 0 || (count == 1 && (fd == socket || fd == memory)));
    if (count > 1)
        return 0;
    OK(cudaFree(NULL));
    execl("/proc/self/exe", words[0], "again", NULL);
    return 98;
}
