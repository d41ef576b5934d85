// expect: exit 0
// A process that has not touched the device may fork a child that does.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    void *p;
    int status;
    pid_t child = fork();
    if (child == 0) {
        OK(cudaMalloc(&p, 100));
        OK(cudaFree(p));
        exit(7);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    return 0;
}
