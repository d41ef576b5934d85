// expect: exit 0
// A forked child has neither the device nor its memory.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int *p, status;
    OK(cudaMallocManaged((void **)&p, 400, cudaMemAttachGlobal));
    p[0] = 7;
    pid_t child = fork();
    if (child == 0) {
        void *q;
        CHECK(cudaMallocManaged(&q, 4, cudaMemAttachGlobal) == cudaErrorInitializationError);
        p[0] = 8;
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == 11);
    CHECK(p[0] == 7);
    OK(cudaFree(p));
    return 0;
}
