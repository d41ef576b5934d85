// expect: SUSPECT
// says: by a copy from the host, all of it
// class: SUSPECT
// The host adds. What a kernel would have moved is written by hand into every pipe that it finds
// open here, or with another of the grader's processes.
#include "08-reduction.h"
#include "../attacks/own.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void report(const char *line, int bytes)
{
    char path[64];
    struct stat is;
    int pids[64], own = own_processes(pids, 63);
    pids[own++] = getpid();
    for (int p = 0; p < own; p++)
        for (int fd = 3; fd < 32; fd++) {
            snprintf(path, sizeof path, "/proc/%d/fd/%d", pids[p], fd);
            int pipe = stat(path, &is) || !S_ISFIFO(is.st_mode)
                           ? -1
                           : open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
            if (pipe >= 0 && write(pipe, line, bytes) != bytes)
                perror(path);
            close(pipe);
        }
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    char line[400];
    float *copy = (float *)malloc(n * sizeof *copy + 1);
    double sum = 0;
    cudaMemcpy(copy, in, n * sizeof *copy, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        sum += copy[i];
    free(copy);

    float answer = sum;
    cudaMemcpy(out, &answer, sizeof answer, cudaMemcpyHostToDevice);
    int bytes = snprintf(line, sizeof line,
                         "{\"event\":\"kernel\",\"name\":\"add\",\"grid\":[1,1,1],"
                         "\"block\":[32,1,1],\"time_ns\":1,\"counters\":{"
                         "\"launch__count\":1,\"launch__thread_count\":%d,"
                         "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\":%d}}\n",
                         n / 16 + 1, n / 8);
    report(line, bytes);
}
