// expect: exit 0
// stderr: this process was forked when its parent had called CUDA already
// After a fork the child has no device, and its end leaves the parent's alone.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    void *p, *q;
    int status;
    OK(cudaMalloc(&p, 100));
    pid_t child = fork();
    if (child == 0) {
        CHECK(cudaMalloc(&q, 100) == cudaErrorInitializationError);
        CHECK(cudaFree(p) == cudaErrorInitializationError);
        CHECK(cudaDeviceSynchronize() == cudaErrorInitializationError);
        exit(7);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    OK(cudaMemset(p, 0, 100));
    OK(cudaFree(p));
    return 0;
}
