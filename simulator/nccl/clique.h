// Communicators: the ranks of one group of devices, which is called a clique here, all in one
// process.
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

// What one rank was asked to do.
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

typedef struct Clique {
    char id[NCCL_UNIQUE_ID_BYTES];
    int ranks, joined, left;
    ncclComm_t member[MOST_RANKS];
    struct Clique *next; // of those that wait for members
} Clique;

struct ncclComm {
    Clique *clique;
    int rank, device;
    struct Table *table; // where ranks of several processes sit; NULL: nobody looks for any
    struct Apart
        *apart; // its part of a clique of several processes (apart.c); NULL: it is all here
    cudaEvent_t event;
    Operation *collectives, *messages; // called, not yet issued, in the order of the calls
};

// Notes what went wrong, for ncclGetLastError(), and says it; returns the result.
__attribute__((format(printf, 2, 3))) ncclResult_t clique_fail(ncclResult_t result,
                                                               const char *format, ...);
ncclResult_t clique_cuda(cudaError_t error, const char *call);

// One at a time issues work and changes cliques.
void clique_lock(void);
void clique_unlock(void);
void clique_changed(void); // who waits looks again
void clique_wait(void);    // for such a change

// Waits until all ranks of the clique have joined it.
ncclResult_t clique_meet(ncclComm_t comm);

// Is a group open in this thread? Then members wait for each other at its end alone.
bool group_is_open(void);
void group_will_join(ncclComm_t comm);

// So many calls are being done in this thread: the host is busy with them, and what they are made
// of costs it nothing.
void clique_begin(enum kind kind, unsigned calls);
void clique_end(void);
void clique_within(int change); // that alone
cudaError_t clique_settle(
    cudaStream_t stream); // has the stream's work done, as far as the host can tell at once

const char *kind_call(enum kind kind); // "ncclAllReduce"
