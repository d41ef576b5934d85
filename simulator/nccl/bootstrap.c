// Registers a rank in the shared file, waits for other ranks, and notices when they have ended.
#define _GNU_SOURCE
#include "bootstrap.h"
#include "../wire/wire.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 100, WARN_AFTER_S = 10, ID_BYTES = 24 };

// ---- Waiting ----

void bootstrap_notify(Bootstrap *bootstrap)
{
    __atomic_add_fetch(&bootstrap->changed, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &bootstrap->changed, FUTEX_WAKE, ~0u >> 1, NULL, NULL, 0);
}

static bool has_ended(pid_t process)
{
    struct pollfd watched = { .fd = (int)syscall(SYS_pidfd_open, process, 0), .events = POLLIN };
    if (watched.fd < 0) return errno == ESRCH;
    bool ended = poll(&watched, 1, 0) > 0;
    close(watched.fd);
    return ended;
}

// The first rank that is awaited; -1: none.
static int awaited(const Bootstrap *bootstrap, BootstrapAwaits *awaits, const void *with)
{
    for (int r = 0; r < (int)bootstrap->ranks; r++)
        if (awaits(with, r)) return r;
    return -1;
}

static bool is_gone(const PeerInfo *peer)
{
    return __atomic_load_n(&peer->ready, __ATOMIC_ACQUIRE)
        && (__atomic_load_n(&peer->left, __ATOMIC_ACQUIRE) || has_ended(peer->process));
}

// The first awaited rank that has left or ended; -1: none.
static int missing(const Bootstrap *bootstrap, BootstrapAwaits *awaits, const void *with)
{
    for (int r = 0; r < (int)bootstrap->ranks; r++)
        if (is_gone(&bootstrap->peer[r]) && awaits(with, r)) return r;
    return -1;
}

bool bootstrap_wait(Bootstrap *bootstrap, BootstrapAwaits *awaits, const void *with,
                    const char *call, int rank)
{
    const struct timespec look = { .tv_nsec = POLL_MS * 1000000 };
    for (int looks = 1;;) {
        uint32_t seen = __atomic_load_n(&bootstrap->changed, __ATOMIC_SEQ_CST);
        int other = awaited(bootstrap, awaits, with);
        if (other < 0) return true;
        if (__atomic_load_n(&bootstrap->failed, __ATOMIC_ACQUIRE)) return false;
        if (syscall(SYS_futex, &bootstrap->changed, FUTEX_WAIT, seen, &look, NULL, 0) == 0
            || errno != ETIMEDOUT)
            continue;
        int gone = missing(bootstrap, awaits, with);
        if (gone >= 0) {
            nccl_fail(ncclRemoteError, "%s on rank %d: rank %d has %s", call, rank, gone,
                      bootstrap->peer[gone].left ? "given its communicator back" : "ended");
            return false;
        }
        if (looks++ == WARN_AFTER_S * 1000 / POLL_MS)
            fprintf(stderr, "nccl: rank %d waits in %s for rank %d, which does not call it\n", rank,
                    call, other);
    }
}

// ---- Registering ----

// The file's name is removed as soon as all ranks have mapped it.
static void name_of(const ncclUniqueId *id, char name[64])
{
    char *to = name + sprintf(name, "/warpwise-nccl-");
    for (int i = 0; i < ID_BYTES; i++) to += sprintf(to, "%02x", (unsigned char)id->internal[i]);
}

static Bootstrap *map(const char *name)
{
    int file = shm_open(name, O_RDWR | O_CREAT, 0600);
    void *bootstrap = MAP_FAILED;
    if (file >= 0 && ftruncate(file, sizeof(Bootstrap)) == 0)
        bootstrap = mmap(NULL, sizeof(Bootstrap), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    return bootstrap == MAP_FAILED ? NULL : bootstrap;
}

static ncclResult_t register_rank(Bootstrap *bootstrap, int ranks, int rank, const char *device)
{
    uint32_t none = 0;
    pid_t unregistered = 0;
    PeerInfo *peer = &bootstrap->peer[rank];
    if (!__atomic_compare_exchange_n(&bootstrap->ranks, &none, (uint32_t)ranks, false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
        && none != (uint32_t)ranks)
        return nccl_fail(ncclInvalidArgument, "one rank says that there are %u, another says %d",
                         none, ranks);
    if (!__atomic_compare_exchange_n(&peer->process, &unregistered, getpid(), false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return nccl_fail(ncclInvalidUsage, "there are two ranks %d", rank);
    const char *machine = getenv(WIRE_ENVIRONMENT), *found = machine ? strrchr(machine, ',') : NULL;
    snprintf(peer->machine, sizeof peer->machine, "%s", found ? found : "");
    snprintf(peer->device, sizeof peer->device, "%s", device);
    __atomic_store_n(&peer->ready, 1, __ATOMIC_RELEASE);
    bootstrap_notify(bootstrap);
    return ncclSuccess;
}

Bootstrap *bootstrap_join(const ncclUniqueId *id, int ranks, int rank, const char *device,
                          ncclResult_t *result)
{
    char name[64];
    name_of(id, name);
    Bootstrap *bootstrap = map(name);
    *result = bootstrap ? register_rank(bootstrap, ranks, rank, device)
                        : nccl_fail(ncclSystemError,
                                    "no memory to share with other processes: /dev/shm%s: %s", name,
                                    strerror(errno));
    if (!*result) {
        snprintf(bootstrap->name, sizeof bootstrap->name, "%s", name);
        return bootstrap;
    }
    if (bootstrap) {
        bootstrap_abort(bootstrap);
        munmap(bootstrap, sizeof *bootstrap);
    }
    return NULL;
}

void bootstrap_abort(Bootstrap *bootstrap)
{
    __atomic_store_n(&bootstrap->failed, 1, __ATOMIC_RELEASE);
    bootstrap_notify(bootstrap);
}

void bootstrap_leave(Bootstrap *bootstrap) { munmap(bootstrap, sizeof *bootstrap); }

static bool has_not_registered(const void *with, int rank)
{
    const Bootstrap *bootstrap = with;
    return !__atomic_load_n(&bootstrap->peer[rank].ready, __ATOMIC_ACQUIRE);
}

// The ranks must be on one simulated machine, with a device each, and with a process each where
// there are several processes.
static ncclResult_t check_peers(const Bootstrap *bootstrap, bool single_process)
{
    for (uint32_t r = 1; r < bootstrap->ranks; r++)
        for (uint32_t k = 0; k < r; k++) {
            const PeerInfo *a = &bootstrap->peer[k], *b = &bootstrap->peer[r];
            if (strcmp(a->machine, b->machine) != 0)
                return nccl_fail(
                    ncclInvalidUsage,
                    "ranks %u and %u are on simulated machines of their own: start both with one "
                    "simulator/run, as in simulator/run --devices 2 mpirun -np 2 PROGRAM",
                    k, r);
            if (strcmp(a->device, b->device) == 0)
                return nccl_fail(ncclInvalidUsage, "ranks %u and %u are both on the device at %s",
                                 k, r, a->device);
            if (!single_process && a->process == b->process)
                return nccl_fail(
                    ncclInvalidUsage,
                    "the simulated NCCL joins devices of one process, or processes of one "
                    "device each: ranks %u and %u are of one process, and others are not",
                    k, r);
        }
    return ncclSuccess;
}

ncclResult_t bootstrap_connect(Bootstrap *bootstrap, bool *single_process, int rank)
{
    bool all = bootstrap_wait(bootstrap, has_not_registered, bootstrap, "ncclCommInitRank", rank);
    shm_unlink(bootstrap->name);
    if (!all)
        return nccl_fail(ncclRemoteError,
                         "ncclCommInitRank on rank %d: another rank could not join", rank);
    *single_process = true;
    for (uint32_t r = 1; r < bootstrap->ranks; r++)
        *single_process &= bootstrap->peer[r].process == bootstrap->peer[0].process;
    return check_peers(bootstrap, *single_process);
}
