// Makes one system call that a sandbox refuses; status 0: it was not refused, 1: it was, 2: an
// unknown call. Or `calls contained COMMAND...`: runs a command with namespaces refused, as
// Docker's default profile refuses them; and `calls older COMMAND...`: and without Landlock, as
// kernels before 5.13 are. `calls landlock`: 0 if this kernel has it.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/keyctl.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int nothing(void *) { return 0; }
static void *thread(void *) { return NULL; }

// Refused by a filter: EPERM. Anything else, as an argument that makes no sense, came through.
static int came_through(long result) { return result >= 0 || errno != EPERM; }

static int spend(size_t megabytes)
{
    char *all = malloc(megabytes << 20);
    if (!all) return 0;
    memset(all, 1, megabytes << 20);
    return all[megabytes << 19];
}

static int contained(char **command, int older)
{
    static const char *const calls[] = { "unshare", "mount", "setns", "pivot_root" };
    enum { NEW = CLONE_NEWUSER | CLONE_NEWNS };
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++)
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), seccomp_syscall_resolve_name(calls[n]), 0);
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    for (unsigned bit = 1; bit; bit <<= 1)
        if (bit & NEW)
            seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                             SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit));
    if (older) seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_landlock_create_ruleset, 0);
    if (seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, getuid() != 0) || seccomp_load(filter))
        return 2;
    execvp(*command, command);
    return 2;
}

int main(int count, char **words)
{
    static char stack[1 << 16], here[8];
    const char *call = words[1];
    struct iovec part = { here, sizeof here };
    pthread_t t;
    if (!strcmp(call, "contained")) return contained(words + 2, 0);
    if (!strcmp(call, "older")) return contained(words + 2, 1);
    if (!strcmp(call, "landlock")) return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 1;
    errno = 0;
    if (!strcmp(call, "socket")) return !came_through(socket(AF_INET, SOCK_STREAM, 0));
    if (!strcmp(call, "shmget")) return !came_through(shmget(IPC_PRIVATE, 1, 0));
    if (!strcmp(call, "memory")) return !spend((size_t)atoi(words[count - 1]));
    if (!strcmp(call, "thread"))
        return pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL);
    if (!strcmp(call, "ptrace")) return !came_through(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    if (!strcmp(call, "process_vm_readv"))
        return !came_through(process_vm_readv(getpid(), &part, 1, &part, 1, 0));
    if (!strcmp(call, "unshare")) return !came_through(unshare(CLONE_NEWUTS));
    if (!strcmp(call, "mount")) return !came_through(mount("none", "/tmp", "tmpfs", 0, NULL));
    if (!strcmp(call, "keyctl"))
        return !came_through(
            syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0));
    if (!strcmp(call, "bpf")) return !came_through(syscall(SYS_bpf, 0, NULL, 0));
    if (!strcmp(call, "userfaultfd")) return !came_through(syscall(SYS_userfaultfd, 0));
    if (!strcmp(call, "io_uring")) return !came_through(syscall(SYS_io_uring_setup, 1, NULL));
    if (!strcmp(call, "clone_user"))
        return !came_through(clone(nothing, stack + sizeof stack, CLONE_NEWUSER | SIGCHLD, NULL));
    fprintf(stderr, "no such call: %s\n", call);
    return 2;
}
