// expect: leak 30, exit 0
// varies: the order of two processes
// says: 48 bytes
// Processes that have the devices at the same time: forked before either opens them, and another program that finds the
// machine by its name, all files but the first three closed. Each has memory and errors of its own, of one device.
#define _GNU_SOURCE
#include "check.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static size_t in_use(void)
{
    size_t available, total;
    OK(cudaMemGetInfo(&available, &total));
    return total - available;
}

// What it leaves is its own leak. Its addresses may be those of the other: it is other memory.
static int second(void)
{
    void *p;
    OK(cudaMalloc(&p, 48));
    OK(cudaMemset(p, 3, 48));
    CHECK(in_use() == 1000 + 48);
    return 7;
}

int main(int count, char **words)
{
    if (count > 1)
        return second();
    void *p;
    int first[2], last[2];
    char byte = 0;
    CHECK(pipe(first) == 0 && pipe(last) == 0);
    pid_t holder = fork();
    if (holder == 0) {
        close(last[1]);                 // so that it ends when the parent does
        OK(cudaMalloc(&p, 4000));
        OK(cudaMemset(p, 1, 4000));
        CHECK(write(first[1], &byte, 1) == 1 && read(last[0], &byte, 1) == 1);
        OK(cudaMemcpy(&byte, p, 1, cudaMemcpyDeviceToHost));
        OK(cudaFree(p));
        exit(byte == 1 ? 3 : 4);
    }
    CHECK(read(first[0], &byte, 1) == 1);
    OK(cudaMalloc(&p, 1000));
    OK(cudaMemset(p, 2, 1000));
    CHECK(in_use() == 5000);
    CHECK(write(last[1], &byte, 1) == 1 && status_of(holder) == 3);
    for (int i = 0; i < 6000 && in_use() != 1000; i++)
        usleep(10000);                  // its device process ends after it
    CHECK(in_use() == 1000);
    pid_t other = fork();
    if (other == 0) {
        close_range(3, ~0u, 0);
        execl("/proc/self/exe", words[0], "again", NULL);
        _exit(98);
    }
    CHECK(status_of(other) == 7);
    OK(cudaMemcpy(&byte, p, 1, cudaMemcpyDeviceToHost));
    CHECK(byte == 2);
    OK(cudaFree(p));
    return 0;
}
