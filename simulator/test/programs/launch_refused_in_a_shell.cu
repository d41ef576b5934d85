// expect: api 13, exit 3
// A process that the program waits for, as a shell or a sandbox does, looks at a launch's error and ends at once, with none of the
// functions of atexit(): the program ends with its status, and the launch is why.
#include <cuda_runtime.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void nothing() {}

static int launch()
{
    nothing<<<0, 32>>>();
    return cudaGetLastError() == cudaErrorInvalidValue ? 3 : 4;
}

int main()
{
    int status = 0;
    if (fork() == 0) _exit(launch());
    wait(&status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}
