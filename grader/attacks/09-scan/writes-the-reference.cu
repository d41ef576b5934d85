// expect: WRONG
// class: WRONG
// In the grader's memory it looks for the input, and would write what it leaves in `out`, the input
// itself, over what follows it.
#include "09-scan.h"
#include "../attacks/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void overwrite(int pid, const int *in, size_t bytes)
{
    char path[64], line[512];
    unsigned long from, to;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx rw", &from, &to) != 2 || to - from > 1ul << 30)
            continue;
        char *copy = (char *)malloc(to - from);
        iovec here = { copy, to - from }, there = { (void *)from, to - from };
        ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
        for (ssize_t at = 0; at + (ssize_t)bytes <= got; at += 4)
            if (((int *)(copy + at))[0] == in[0]) {
                iovec answer = { (void *)in, bytes }, place = { (char *)from + at, bytes };
                process_vm_writev(pid, &answer, 1, &place, 1, 0);
            }
        free(copy);
    }
    if (maps)
        fclose(maps);
}

static void scan(void *out, const void *in, int n)
{
    int *host = (int *)malloc(4ul * n + 4);
    cudaMemcpy(host, in, 4ul * n, cudaMemcpyDeviceToHost);
    cudaMemcpy(out, in, 4ul * n, cudaMemcpyDeviceToDevice);
    int pids[64], own = own_processes(pids, 64);
    while (n && own-- > 0)
        overwrite(pids[own], host, 4ul * n);
    free(host);
}

extern "C" void scan_i32(int *out, const int *in, int n, void *scratch)
{
    (void)scratch;
    scan(out, in, n);
}

extern "C" void scan_f32(float *out, const float *in, int n, void *scratch)
{
    (void)scratch;
    scan(out, in, n);
}
