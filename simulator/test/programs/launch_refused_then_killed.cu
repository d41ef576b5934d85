// expect: exit 134
// As launch_refused_in_a_shell.cu, but the process is killed after it has looked at the error: its death has reasons of its own.
#include <cuda_runtime.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void nothing() {}

int main()
{
    int status = 0;
    if (fork() == 0) {
        nothing<<<0, 32>>>();
        if (cudaGetLastError() == cudaErrorInvalidValue) abort();
        _exit(4);
    }
    wait(&status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
