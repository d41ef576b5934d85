// Communicators: making them, asking them, and giving them back.
#define _GNU_SOURCE
#include "clique.h"
#include "../inside.h"
#include "apart.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Clique *gathering; // those that wait for members

void clique_lock(void) { pthread_mutex_lock(&lock); }
void clique_unlock(void) { pthread_mutex_unlock(&lock); }
void clique_changed(void) { pthread_cond_broadcast(&changed); }
void clique_wait(void) { pthread_cond_wait(&changed, &lock); }

// ---- What went wrong ----

static char last_error[512];

ncclResult_t clique_fail(ncclResult_t result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    fprintf(stderr, "nccl: %s\n", last_error);
    return result;
}

ncclResult_t clique_cuda(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return ncclSuccess;
    return clique_fail(ncclUnhandledCudaError, "%s: %s", call, cudaGetErrorString(error));
}

EXPORT const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const words[ncclNumResults] = {
        [ncclSuccess] = "no error",
        [ncclUnhandledCudaError] = "a CUDA call failed",
        [ncclSystemError] = "a call of the system failed",
        [ncclInternalError] = "an error inside NCCL",
        [ncclInvalidArgument] = "an argument is wrong",
        [ncclInvalidUsage] = "this call may not be used so",
        [ncclRemoteError] = "another rank failed",
        [ncclInProgress] = "still in progress"
    };
    return (unsigned)result < ncclNumResults ? words[result] : "unknown result code";
}

EXPORT const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return last_error;
}

EXPORT ncclResult_t ncclGetVersion(int *version)
{
    if (!version)
        return clique_fail(ncclInvalidArgument, "ncclGetVersion was given a null pointer");
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

// ---- What calls cost ----

// NULL: the runtime is not ours, and time is real.
static const Inside *inside(void)
{
    static const Inside *found;
    static bool asked;
    cudaUUID_t id;
    const void *table;
    memcpy(id.bytes, INSIDE_TABLE, sizeof id.bytes);
    if (!asked && cudaGetExportTable(&table, &id) == cudaSuccess) found = table;
    asked = true;
    return found;
}

void clique_within(int change)
{
    if (inside()) inside()->within(change);
}

void clique_begin(enum kind kind, unsigned calls)
{
    if (inside()) inside()->calls(kind_call(kind), calls);
    clique_within(1);
}

void clique_end(void) { clique_within(-1); }

cudaError_t clique_settle(cudaStream_t stream)
{
    return inside() ? inside()->settle(stream) : cudaStreamSynchronize(stream);
}

// ---- Making a clique ----

// An id is told to all members by the program; they meet by it, from whatever process.
typedef struct Id {
    char word[8];
    pid_t process;
    unsigned number;
    uint64_t key;
} Id;

EXPORT ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    static unsigned numbers;
    if (!id) return clique_fail(ncclInvalidArgument, "ncclGetUniqueId was given a null pointer");
    Id own = { .word = "warpwis", .process = getpid() };
    own.number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    if (getrandom(&own.key, sizeof own.key, 0) != sizeof own.key)
        return clique_fail(ncclSystemError, "getrandom: %s", strerror(errno));
    memset(id, 0, sizeof *id);
    memcpy(id->internal, &own, sizeof own);
    return ncclSuccess;
}

static ncclResult_t check_id(const ncclUniqueId *id)
{
    Id own;
    memcpy(&own, id->internal, sizeof own);
    if (memcmp(own.word, "warpwis", sizeof own.word) != 0)
        return clique_fail(ncclInvalidArgument, "the id is not from ncclGetUniqueId");
    return ncclSuccess;
}

static Clique *find_clique(const ncclUniqueId *id, int ranks)
{
    Clique *clique = gathering;
    while (clique && memcmp(clique->id, id->internal, sizeof clique->id) != 0)
        clique = clique->next;
    if (clique) return clique;
    clique = calloc(1, sizeof *clique);
    memcpy(clique->id, id->internal, sizeof clique->id);
    clique->ranks = ranks;
    clique->next = gathering;
    return gathering = clique;
}

static void stop_gathering(Clique *clique)
{
    Clique **at = &gathering;
    while (*at && *at != clique) at = &(*at)->next;
    if (*at) *at = clique->next;
}

static ncclResult_t check_member(const Clique *clique, int ranks, int rank, int device)
{
    if (ranks != clique->ranks)
        return clique_fail(ncclInvalidArgument, "one rank says that there are %d, another says %d",
                           clique->ranks, ranks);
    if (clique->member[rank]) return clique_fail(ncclInvalidUsage, "there are two ranks %d", rank);
    for (int r = 0; r < ranks; r++)
        if (clique->member[r] && clique->member[r]->device == device)
            return clique_fail(ncclInvalidUsage, "ranks %d and %d are both on device %d", r, rank,
                               device);
    return ncclSuccess;
}

// Of one that will never be whole.
static void abandon(Clique *clique)
{
    stop_gathering(clique);
    for (int r = 0; r < clique->ranks; r++)
        if (clique->member[r]) {
            cudaEventDestroy(clique->member[r]->event);
            free(clique->member[r]);
        }
    free(clique);
}

// On the current device; the lock is held.
static ncclResult_t join(ncclComm_t *made, int ranks, const ncclUniqueId *id, int rank)
{
    int device;
    ncclResult_t result = check_id(id);
    if (result) return result;
    if (ranks < 1 || ranks > MOST_RANKS || rank < 0 || rank >= ranks)
        return clique_fail(ncclInvalidArgument, "there is no rank %d of %d", rank, ranks);
    result = clique_cuda(cudaGetDevice(&device), "cudaGetDevice");
    if (result) return result;
    Clique *clique = find_clique(id, ranks);
    result = check_member(clique, ranks, rank, device);
    if (result) return result;

    ncclComm_t comm = calloc(1, sizeof *comm);
    *comm = (struct ncclComm){ .clique = clique, .rank = rank, .device = device };
    result = clique_cuda(cudaEventCreateWithFlags(&comm->event, cudaEventDisableTiming),
                         "cudaEventCreate");
    if (result) {
        free(comm);
        return result;
    }
    clique->member[rank] = comm;
    if (++clique->joined == ranks) {
        stop_gathering(clique);
        clique_changed();
    }
    *made = comm;
    return ncclSuccess;
}

// Takes a seat where ranks of other processes may sit, too.
static ncclResult_t sit(ncclComm_t comm, const ncclUniqueId *id)
{
    char bus[16];
    ncclResult_t result =
        clique_cuda(cudaDeviceGetPCIBusId(bus, sizeof bus, comm->device), "cudaDeviceGetPCIBusId");
    if (!result) comm->table = apart_sit(id, comm->clique->ranks, comm->rank, bus, &result);
    return result;
}

// All have been asked to join: are they here?
ncclResult_t clique_meet(ncclComm_t comm)
{
    bool here;
    Table *table = comm->table;
    ncclResult_t result = table ? apart_meet(table, &here, comm->rank) : ncclSuccess;
    if (!result && table && !here) return apart_open(comm, table);
    if (table) apart_leave(table);
    comm->table = NULL;
    clique_lock();
    while (!result && comm->clique->joined < comm->clique->ranks) clique_wait();
    clique_unlock();
    return result;
}

EXPORT ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    if (!comm) return clique_fail(ncclInvalidArgument, "ncclCommInitRank was given a null pointer");
    clique_lock();
    ncclResult_t result = join(comm, ranks, &id, rank);
    if (!result) result = sit(*comm, &id);
    if (!result && group_is_open()) group_will_join(*comm);
    clique_unlock();
    if (result || group_is_open()) return result;
    result = clique_meet(*comm);
    if (result) {
        ncclCommDestroy(*comm);
        *comm = NULL;
    }
    return result;
}

EXPORT ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank,
                                           ncclConfig_t *config)
{
    if (config && config->blocking == 0)
        return clique_fail(ncclInvalidUsage,
                           "the simulated NCCL has no communicators that do not block");
    return ncclCommInitRank(comm, ranks, id, rank);
}

EXPORT ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    ncclUniqueId id;
    int before, there = 0;
    ncclResult_t result = comms ? ncclGetUniqueId(&id) : ncclInvalidArgument;
    if (result) return clique_fail(result, "ncclCommInitAll was given a null pointer");
    if (cudaGetDevice(&before) || cudaGetDeviceCount(&there))
        return clique_cuda(cudaGetLastError(), "cudaGetDevice");
    if (count < 1 || count > there)
        return clique_fail(ncclInvalidArgument,
                           "ncclCommInitAll was asked for %d devices, and there are %d", count,
                           there);
    clique_lock();
    int joined = 0;
    while (joined < count && !result) {
        result = clique_cuda(cudaSetDevice(devices ? devices[joined] : joined), "cudaSetDevice");
        if (!result) result = join(&comms[joined], count, &id, joined);
        joined += !result;
    }
    if (result && joined) abandon(comms[0]->clique);
    clique_unlock();
    cudaSetDevice(before);
    return result;
}

// ---- Asking it ----

static ncclResult_t tell(ncclComm_t comm, int *to, int value)
{
    if (!comm || !to)
        return clique_fail(ncclInvalidArgument,
                           "a null pointer was given for a communicator, or for its answer");
    *to = value;
    return ncclSuccess;
}

EXPORT ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
    return tell(comm, count, comm ? comm->clique->ranks : 0);
}

EXPORT ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
    return tell(comm, device, comm ? comm->device : 0);
}

EXPORT ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    return tell(comm, rank, comm ? comm->rank : 0);
}

EXPORT ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result)
{
    if (!comm || !result)
        return clique_fail(ncclInvalidArgument, "ncclCommGetAsyncError was given a null pointer");
    *result = ncclSuccess;
    return ncclSuccess;
}

// ---- Giving it back ----

EXPORT ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    return comm ? ncclSuccess
                : clique_fail(ncclInvalidArgument, "ncclCommFinalize was given a null pointer");
}

EXPORT ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    if (!comm) return ncclSuccess;
    clique_lock();
    ncclResult_t result = clique_cuda(cudaEventDestroy(comm->event), "cudaEventDestroy");
    Clique *clique = comm->clique;
    clique->member[comm->rank] = NULL;
    bool last = ++clique->left == clique->joined;
    if (comm->apart) apart_close(comm);
    if (last) stop_gathering(clique);
    free(comm);
    if (last) free(clique);
    clique_unlock();
    return result;
}

EXPORT ncclResult_t ncclCommAbort(ncclComm_t comm) { return ncclCommDestroy(comm); }

// ---- Memory ----

EXPORT ncclResult_t ncclMemAlloc(void **memory, size_t bytes)
{
    return clique_cuda(cudaMalloc(memory, bytes), "cudaMalloc");
}

EXPORT ncclResult_t ncclMemFree(void *memory) { return clique_cuda(cudaFree(memory), "cudaFree"); }
