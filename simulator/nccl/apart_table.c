// Sitting down, waiting for others, and noticing that they will not come.
#define _GNU_SOURCE
#include "apart_table.h"
#include "../wire.h"
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

enum { LOOK_MS = 100, PATIENCE_S = 10, ID_BYTES = 24 };

// ---- Waiting ----

void table_change(Table *table)
{
    __atomic_add_fetch(&table->changed, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &table->changed, FUTEX_WAKE, ~0u >> 1, NULL, NULL, 0);
}

static bool has_ended(pid_t process)
{
    struct pollfd watched = { .fd = (int)syscall(SYS_pidfd_open, process, 0), .events = POLLIN };
    if (watched.fd < 0) return errno == ESRCH;
    bool ended = poll(&watched, 1, 0) > 0;
    close(watched.fd);
    return ended;
}

// The first that is awaited; -1: none.
static int awaited(const Table *table, table_awaits *awaits, const void *with)
{
    for (int r = 0; r < (int)table->ranks; r++)
        if (awaits(with, r)) return r;
    return -1;
}

static bool is_gone(const Seat *seat)
{
    return __atomic_load_n(&seat->ready, __ATOMIC_ACQUIRE)
        && (__atomic_load_n(&seat->left, __ATOMIC_ACQUIRE) || has_ended(seat->process));
}

// An awaited one that is no more; -1: none.
static int missing(const Table *table, table_awaits *awaits, const void *with)
{
    for (int r = 0; r < (int)table->ranks; r++)
        if (is_gone(&table->seat[r]) && awaits(with, r)) return r;
    return -1;
}

bool table_wait(Table *table, table_awaits *awaits, const void *with, const char *call, int rank)
{
    const struct timespec look = { .tv_nsec = LOOK_MS * 1000000 };
    for (int looks = 1;;) {
        uint32_t seen = __atomic_load_n(&table->changed, __ATOMIC_SEQ_CST);
        int other = awaited(table, awaits, with);
        if (other < 0) return true;
        if (__atomic_load_n(&table->failed, __ATOMIC_ACQUIRE)) return false;
        if (syscall(SYS_futex, &table->changed, FUTEX_WAIT, seen, &look, NULL, 0) == 0
            || errno != ETIMEDOUT)
            continue;
        int gone = missing(table, awaits, with);
        if (gone >= 0) {
            clique_fail(ncclRemoteError, "%s on rank %d: rank %d has %s", call, rank, gone,
                        table->seat[gone].left ? "given its communicator back" : "ended");
            return false;
        }
        if (looks++ == PATIENCE_S * 1000 / LOOK_MS)
            fprintf(stderr, "nccl: rank %d waits in %s for rank %d, which does not call it\n", rank,
                    call, other);
    }
}

// ---- Sitting down ----

// The file goes as soon as all have it.
static void name_of(const ncclUniqueId *id, char name[64])
{
    char *to = name + sprintf(name, "/warpwise-nccl-");
    for (int i = 0; i < ID_BYTES; i++) to += sprintf(to, "%02x", (unsigned char)id->internal[i]);
}

static Table *map(const char *name)
{
    int file = shm_open(name, O_RDWR | O_CREAT, 0600);
    void *table = MAP_FAILED;
    if (file >= 0 && ftruncate(file, sizeof(Table)) == 0)
        table = mmap(NULL, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    return table == MAP_FAILED ? NULL : table;
}

static ncclResult_t take(Table *table, int ranks, int rank, const char *device)
{
    uint32_t none = 0;
    pid_t nobody = 0;
    Seat *seat = &table->seat[rank];
    if (!__atomic_compare_exchange_n(&table->ranks, &none, (uint32_t)ranks, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)
        && none != (uint32_t)ranks)
        return clique_fail(ncclInvalidArgument, "one rank says that there are %u, another says %d",
                           none, ranks);
    if (!__atomic_compare_exchange_n(&seat->process, &nobody, getpid(), false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        return clique_fail(ncclInvalidUsage, "there are two ranks %d", rank);
    const char *machine = getenv(WIRE_ENVIRONMENT), *found = machine ? strrchr(machine, ',') : NULL;
    snprintf(seat->machine, sizeof seat->machine, "%s", found ? found : "");
    snprintf(seat->device, sizeof seat->device, "%s", device);
    __atomic_store_n(&seat->ready, 1, __ATOMIC_RELEASE);
    table_change(table);
    return ncclSuccess;
}

Table *apart_sit(const ncclUniqueId *id, int ranks, int rank, const char *device,
                 ncclResult_t *result)
{
    char name[64];
    name_of(id, name);
    Table *table = map(name);
    *result = table ? take(table, ranks, rank, device)
                    : clique_fail(ncclSystemError,
                                  "no memory to share with other processes: /dev/shm%s: %s", name,
                                  strerror(errno));
    if (!*result) {
        snprintf(table->name, sizeof table->name, "%s", name);
        return table;
    }
    if (table) {
        apart_give_up(table);
        munmap(table, sizeof *table);
    }
    return NULL;
}

void apart_give_up(Table *table)
{
    __atomic_store_n(&table->failed, 1, __ATOMIC_RELEASE);
    table_change(table);
}

void apart_leave(Table *table) { munmap(table, sizeof *table); }

static bool stands(const void *with, int rank)
{
    const Table *table = with;
    return !__atomic_load_n(&table->seat[rank].ready, __ATOMIC_ACQUIRE);
}

// On one machine, each has a device of its own, and a process of its own where there are several.
static ncclResult_t check_seats(const Table *table, bool here)
{
    for (uint32_t r = 1; r < table->ranks; r++)
        for (uint32_t k = 0; k < r; k++) {
            const Seat *a = &table->seat[k], *b = &table->seat[r];
            if (strcmp(a->machine, b->machine) != 0)
                return clique_fail(
                    ncclInvalidUsage,
                    "ranks %u and %u are on simulated machines of their own: start both with one "
                    "simulator/run, as in simulator/run --devices 2 mpirun -np 2 PROGRAM",
                    k, r);
            if (strcmp(a->device, b->device) == 0)
                return clique_fail(ncclInvalidUsage, "ranks %u and %u are both on the device at %s",
                                   k, r, a->device);
            if (!here && a->process == b->process)
                return clique_fail(
                    ncclInvalidUsage,
                    "the simulated NCCL joins devices of one process, or processes of one "
                    "device each: ranks %u and %u are of one process, and others are not",
                    k, r);
        }
    return ncclSuccess;
}

ncclResult_t apart_meet(Table *table, bool *here, int rank)
{
    bool all = table_wait(table, stands, table, "ncclCommInitRank", rank);
    shm_unlink(table->name);
    if (!all)
        return clique_fail(ncclRemoteError,
                           "ncclCommInitRank on rank %d: another rank could not join", rank);
    *here = true;
    for (uint32_t r = 1; r < table->ranks; r++)
        *here &= table->seat[r].process == table->seat[0].process;
    return check_seats(table, *here);
}
