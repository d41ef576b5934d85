// expect: exit 0
// One device, one process at a time: a second one is refused while the first lives, and let in after it.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

int main(void)
{
    void *p;
    int first[2], second[2];
    char byte = 0;
    CHECK(pipe(first) == 0 && pipe(second) == 0);
    pid_t holder = fork();
    if (holder == 0) {
        close(second[1]);               // so that it ends when the parent does
        OK(cudaMalloc(&p, 4));
        OK(cudaFree(p));
        CHECK(write(first[1], &byte, 1) == 1 && read(second[0], &byte, 1) == 1);
        _exit(0);
    }
    CHECK(read(first[0], &byte, 1) == 1);
    pid_t other = fork();
    if (other == 0)
        _exit(cudaMalloc(&p, 4) == cudaErrorDevicesUnavailable ? 7 : 8);
    CHECK(status_of(other) == 7);
    CHECK(write(second[1], &byte, 1) == 1 && status_of(holder) == 0);
    OK(cudaMalloc(&p, 4));
    OK(cudaFree(p));
    return 0;
}
