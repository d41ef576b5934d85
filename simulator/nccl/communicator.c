// Makes communicators, answers questions about them, and destroys them.
#define _GNU_SOURCE
#include "communicator.h"
#include "../client/inside.h"
#include "multiprocess.h"
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
static Communicator *gathering; // communicators that some ranks have not joined yet
static unsigned made;           // communicators so far

void communicator_lock(void) { pthread_mutex_lock(&lock); }
void communicator_unlock(void) { pthread_mutex_unlock(&lock); }
void communicator_notify(void) { pthread_cond_broadcast(&changed); }
void communicator_wait(void) { pthread_cond_wait(&changed, &lock); }

// ---- Errors ----

static char last_error[512];

ncclResult_t nccl_fail(ncclResult_t result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    fprintf(stderr, "nccl: %s\n", last_error);
    return result;
}

ncclResult_t nccl_check_cuda(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return ncclSuccess;
    return nccl_fail(ncclUnhandledCudaError, "%s: %s", call, cudaGetErrorString(error));
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
    if (!version) return nccl_fail(ncclInvalidArgument, "ncclGetVersion was given a null pointer");
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

// ---- The host's time ----

// NULL: the program runs with NVIDIA's runtime, in real time.
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

void nccl_calls_within(int change)
{
    if (inside()) inside()->within(change);
}

void nccl_calls_begin(enum kind kind, unsigned calls)
{
    if (inside()) inside()->calls(kind_call(kind), calls);
    nccl_calls_within(1);
}

void nccl_calls_end(void) { nccl_calls_within(-1); }

cudaError_t nccl_drain(cudaStream_t stream)
{
    return inside() ? inside()->settle(stream) : cudaStreamSynchronize(stream);
}

// ---- Making a communicator ----

// The program hands one id to all ranks, in whatever process they are; the id brings them together.
typedef struct Id {
    char word[8];
    pid_t process;
    unsigned number;
    uint64_t key;
} Id;

EXPORT ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    static unsigned numbers;
    if (!id) return nccl_fail(ncclInvalidArgument, "ncclGetUniqueId was given a null pointer");
    Id own = { .word = "warpwis", .process = getpid() };
    own.number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    if (getrandom(&own.key, sizeof own.key, 0) != sizeof own.key)
        return nccl_fail(ncclSystemError, "getrandom: %s", strerror(errno));
    memset(id, 0, sizeof *id);
    memcpy(id->internal, &own, sizeof own);
    return ncclSuccess;
}

static ncclResult_t check_id(const ncclUniqueId *id)
{
    Id own;
    memcpy(&own, id->internal, sizeof own);
    if (memcmp(own.word, "warpwis", sizeof own.word) != 0)
        return nccl_fail(ncclInvalidArgument, "the id is not from ncclGetUniqueId");
    return ncclSuccess;
}

static Communicator *find_communicator(const ncclUniqueId *id, int ranks)
{
    Communicator *communicator = gathering;
    while (communicator && memcmp(communicator->id, id->internal, sizeof communicator->id) != 0)
        communicator = communicator->next;
    if (communicator) return communicator;
    communicator = calloc(1, sizeof *communicator);
    memcpy(communicator->id, id->internal, sizeof communicator->id);
    communicator->ranks = ranks;
    communicator->number = made++;
    communicator->next = gathering;
    return gathering = communicator;
}

static void end_gathering(Communicator *communicator)
{
    Communicator **at = &gathering;
    while (*at && *at != communicator) at = &(*at)->next;
    if (*at) *at = communicator->next;
}

static ncclResult_t check_member(const Communicator *communicator, int ranks, int rank, int device)
{
    if (ranks != communicator->ranks)
        return nccl_fail(ncclInvalidArgument, "one rank says that there are %d, another says %d",
                         communicator->ranks, ranks);
    if (communicator->member[rank])
        return nccl_fail(ncclInvalidUsage, "there are two ranks %d", rank);
    for (int r = 0; r < ranks; r++)
        if (communicator->member[r] && communicator->member[r]->device == device)
            return nccl_fail(ncclInvalidUsage, "ranks %d and %d are both on device %d", r, rank,
                             device);
    return ncclSuccess;
}

// Frees a communicator that some ranks cannot join.
static void free_gathering(Communicator *communicator)
{
    end_gathering(communicator);
    for (int r = 0; r < communicator->ranks; r++)
        if (communicator->member[r]) {
            cudaEventDestroy(communicator->member[r]->event);
            free(communicator->member[r]);
        }
    free(communicator);
}

// Joins with the current device. The caller holds the lock.
static ncclResult_t join(ncclComm_t *made, int ranks, const ncclUniqueId *id, int rank)
{
    int device;
    ncclResult_t result = check_id(id);
    if (result) return result;
    if (ranks < 1 || ranks > MOST_RANKS || rank < 0 || rank >= ranks)
        return nccl_fail(ncclInvalidArgument, "there is no rank %d of %d", rank, ranks);
    result = nccl_check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    if (result) return result;
    Communicator *communicator = find_communicator(id, ranks);
    result = check_member(communicator, ranks, rank, device);
    if (result) return result;

    ncclComm_t comm = calloc(1, sizeof *comm);
    *comm = (struct ncclComm){ .communicator = communicator, .rank = rank, .device = device };
    result = nccl_check_cuda(cudaEventCreateWithFlags(&comm->event, cudaEventDisableTiming),
                             "cudaEventCreate");
    if (result) {
        free(comm);
        return result;
    }
    communicator->member[rank] = comm;
    if (++communicator->joined == ranks) {
        end_gathering(communicator);
        communicator_notify();
    }
    *made = comm;
    return ncclSuccess;
}

// Registers the rank where ranks of other processes find it.
static ncclResult_t register_rank(ncclComm_t comm, const ncclUniqueId *id)
{
    char bus[16];
    ncclResult_t result = nccl_check_cuda(cudaDeviceGetPCIBusId(bus, sizeof bus, comm->device),
                                          "cudaDeviceGetPCIBusId");
    if (!result)
        comm->bootstrap = bootstrap_join(id, comm->communicator->ranks, comm->rank, bus, &result);
    return result;
}

// Waits for the other ranks, which may belong to this process or to others.
ncclResult_t communicator_connect(ncclComm_t comm)
{
    bool here;
    Bootstrap *bootstrap = comm->bootstrap;
    ncclResult_t result = bootstrap ? bootstrap_connect(bootstrap, &here, comm->rank) : ncclSuccess;
    if (!result && bootstrap && !here) return multiprocess_open(comm, bootstrap);
    if (bootstrap) bootstrap_leave(bootstrap);
    comm->bootstrap = NULL;
    communicator_lock();
    while (!result && comm->communicator->joined < comm->communicator->ranks) communicator_wait();
    communicator_unlock();
    return result;
}

EXPORT ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    if (!comm) return nccl_fail(ncclInvalidArgument, "ncclCommInitRank was given a null pointer");
    communicator_lock();
    ncclResult_t result = join(comm, ranks, &id, rank);
    if (!result) result = register_rank(*comm, &id);
    if (!result && group_is_open()) group_defer_connect(*comm);
    communicator_unlock();
    if (result || group_is_open()) return result;
    result = communicator_connect(*comm);
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
        return nccl_fail(ncclInvalidUsage,
                         "the simulated NCCL has no communicators that do not block");
    return ncclCommInitRank(comm, ranks, id, rank);
}

EXPORT ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    ncclUniqueId id;
    int before, there = 0;
    ncclResult_t result = comms ? ncclGetUniqueId(&id) : ncclInvalidArgument;
    if (result) return nccl_fail(result, "ncclCommInitAll was given a null pointer");
    if (cudaGetDevice(&before) || cudaGetDeviceCount(&there))
        return nccl_check_cuda(cudaGetLastError(), "cudaGetDevice");
    if (count < 1 || count > there)
        return nccl_fail(ncclInvalidArgument,
                         "ncclCommInitAll was asked for %d devices, and there are %d", count,
                         there);
    communicator_lock();
    int joined = 0;
    while (joined < count && !result) {
        result =
            nccl_check_cuda(cudaSetDevice(devices ? devices[joined] : joined), "cudaSetDevice");
        if (!result) result = join(&comms[joined], count, &id, joined);
        joined += !result;
    }
    if (result && joined) free_gathering(comms[0]->communicator);
    communicator_unlock();
    cudaSetDevice(before);
    return result;
}

// ---- Questions about a communicator ----

static ncclResult_t answer(ncclComm_t comm, int *to, int value)
{
    if (!comm || !to)
        return nccl_fail(ncclInvalidArgument,
                         "a null pointer was given for a communicator, or for its answer");
    *to = value;
    return ncclSuccess;
}

EXPORT ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
    return answer(comm, count, comm ? comm->communicator->ranks : 0);
}

EXPORT ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
    return answer(comm, device, comm ? comm->device : 0);
}

EXPORT ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    return answer(comm, rank, comm ? comm->rank : 0);
}

EXPORT ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result)
{
    if (!comm || !result)
        return nccl_fail(ncclInvalidArgument, "ncclCommGetAsyncError was given a null pointer");
    *result = ncclSuccess;
    return ncclSuccess;
}

// ---- Destroying a communicator ----

EXPORT ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    return comm ? ncclSuccess
                : nccl_fail(ncclInvalidArgument, "ncclCommFinalize was given a null pointer");
}

EXPORT ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    if (!comm) return ncclSuccess;
    communicator_lock();
    ncclResult_t result = nccl_check_cuda(cudaEventDestroy(comm->event), "cudaEventDestroy");
    Communicator *communicator = comm->communicator;
    communicator->member[comm->rank] = NULL;
    bool last = ++communicator->left == communicator->joined;
    if (comm->multiprocess) multiprocess_close(comm);
    if (last) end_gathering(communicator);
    free(comm);
    if (last) free(communicator);
    communicator_unlock();
    return result;
}

EXPORT ncclResult_t ncclCommAbort(ncclComm_t comm) { return ncclCommDestroy(comm); }

// ---- Memory ----

EXPORT ncclResult_t ncclMemAlloc(void **memory, size_t bytes)
{
    return nccl_check_cuda(cudaMalloc(memory, bytes), "cudaMalloc");
}

EXPORT ncclResult_t ncclMemFree(void *memory)
{
    return nccl_check_cuda(cudaFree(memory), "cudaFree");
}
