// expect: exit 5
// A forked child that lives on and keeps the socket does not keep the device.
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
    OK(cudaFree(NULL));
    if (fork() == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(nowhere, fd);
        sleep(150);
        _exit(0);
    }
    return 5;
}
