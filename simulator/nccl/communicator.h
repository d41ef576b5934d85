// Communicators. A Communicator is what the ranks of one group of devices share within a process;
// NCCL's ncclComm_t is one rank's handle of it.
#pragma once
#include "kernels.h"
#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))

enum kind {
    ALL_REDUCE,
    BROADCAST,
    REDUCE,
    REDUCE_SCATTER,
    ALL_GATHER,
    ALL_TO_ALL,
    GATHER,
    SCATTER,
    SEND,
    RECEIVE
};

// One rank's call.
typedef struct Operation {
    enum kind kind;
    ncclComm_t comm;
    const void *send;
    void *recv;
    size_t count; // elements, as the call counts them
    ncclDataType_t type;
    ncclRedOp_t op;
    int other; // the root, or the peer of a SEND or RECEIVE
    cudaStream_t stream;
    bool done; // it is issued to the stream, or has failed
    ncclResult_t result;
    struct Operation *next; // of its rank
} Operation;

typedef struct Communicator {
    char id[NCCL_UNIQUE_ID_BYTES];
    int ranks, joined, left;
    unsigned number; // of those of this process
    ncclComm_t member[MOST_RANKS];
    struct Communicator *next; // of the communicators that some ranks have not joined yet
} Communicator;

struct ncclComm {
    Communicator *communicator;
    int rank, device;
    struct Bootstrap *bootstrap; // by which ranks of other processes are found; NULL: not used
    struct MultiProcess *multiprocess; // NULL: all ranks belong to this process
    cudaEvent_t event;
    Operation *collectives, *messages; // called, not yet issued, in the order of the calls
};

// Records the message for ncclGetLastError() and prints it; returns the result.
__attribute__((format(printf, 2, 3))) ncclResult_t nccl_fail(ncclResult_t result,
                                                             const char *format, ...);
ncclResult_t nccl_check_cuda(cudaError_t error, const char *call);

// The lock of everything that threads share: one thread at a time issues work or changes
// communicators.
void communicator_lock(void);
void communicator_unlock(void);
void communicator_notify(void); // wakes the threads in communicator_wait()
void communicator_wait(void);   // for a change; the lock is free meanwhile

// Waits until all ranks of the communicator have joined it.
ncclResult_t communicator_connect(ncclComm_t comm);

// Is an ncclGroupStart() open in this thread? Then ranks wait for each other in ncclGroupEnd().
bool group_is_open(void);
void group_defer_connect(ncclComm_t comm);

// Host time: the host is charged for `calls` NCCL calls. The CUDA calls of which they consist,
// between begin and end, cost it nothing; nor do the CUDA calls between nccl_calls_within(1) and
// nccl_calls_within(-1).
void nccl_calls_begin(enum kind kind, unsigned calls);
void nccl_calls_end(void);
void nccl_calls_within(int change);

// Has the stream's work done now, without simulated time. With NVIDIA's runtime it waits for the
// stream.
cudaError_t nccl_drain(cudaStream_t stream);

const char *kind_call(enum kind kind); // "ncclAllReduce"
