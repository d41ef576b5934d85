#define _GNU_SOURCE
#include "sandbox.h"
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const denied[] = {
    // other processes
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "kcmp",
    "perf_event_open",
    "process_madvise",
    // namespaces and mounts
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "open_by_handle_at",
    "name_to_handle_at",
    // the kernel
    "bpf",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "syslog",
    "userfaultfd",
    "acct",
    "quotactl",
    "nfsservctl",
    "iopl",
    "ioperm",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    // keys are shared by all processes of a user
    "keyctl",
    "add_key",
    "request_key",
    // makes system calls that no filter sees
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
};

// What namespaces keep apart; where there are none, it is refused.
static const char *const shared[] = { "shmget", "semget", "msgget", "mq_open" };

static bool deny(scmp_filter_ctx filter, const char *const *calls, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        int call = seccomp_syscall_resolve_name(calls[n]);
        if (call == __NR_SCMP_ERROR) continue; // no call of this machine's
        if ((errno = -seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0))) return false;
    }
    return true;
}

static bool add_rules(scmp_filter_ctx filter)
{
    enum { NEW_USER = 0x10000000 }; // CLONE_NEWUSER of clone(2)
    if (!deny(filter, denied, sizeof denied / sizeof *denied)) return false;
    // The flags of clone3() are in memory, where no filter looks: the C library tries clone() then.
    errno = -seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (errno) return false;
    errno = -seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, NEW_USER, NEW_USER));
    return !errno;
}

int filter_open(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int file = filter ? memfd_create("filter", 0) : -1;
    bool good = file >= 0 && add_rules(filter) && !(errno = -seccomp_export_bpf(filter, file))
             && lseek(file, 0, SEEK_SET) == 0;
    if (filter) seccomp_release(filter);
    if (!good && file >= 0) close(file);
    return good ? file : -1;
}

// Sockets of this machine alone: the device's is one.
static bool add_rules_alone(scmp_filter_ctx filter)
{
    if (!add_rules(filter) || !deny(filter, shared, sizeof shared / sizeof *shared)) return false;
    errno = -seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
                              SCMP_A0(SCMP_CMP_NE, AF_UNIX));
    return !errno;
}

bool filter_load(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool good = filter && add_rules_alone(filter) && !(errno = -seccomp_load(filter));
    if (filter) seccomp_release(filter);
    return good;
}
