// The calls of the program: what each rank is asked to do waits here until the others have been
// asked too. Between ncclGroupStart() and ncclGroupEnd() a thread may speak for several ranks;
// outside, each call waits for the other ranks', which must come from other threads.
#define _GNU_SOURCE
#include "apart.h"
#include "clique.h"
#include "issue.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local int depth;                      // of open groups
static _Thread_local Operation *asked, **last_asked; // in the group, in order; linked by `next`
static _Thread_local ncclComm_t joining[MOST_RANKS];
static _Thread_local int joining_count;
static _Thread_local ncclResult_t group_result;

bool group_is_open(void) { return depth > 0; }

void group_will_join(ncclComm_t comm)
{
    if (joining_count < MOST_RANKS) joining[joining_count++] = comm;
}

const char *kind_call(enum kind kind)
{
    static const char *const calls[] = { "ncclAllReduce",     "ncclBroadcast", "ncclReduce",
                                         "ncclReduceScatter", "ncclAllGather", "ncclAlltoAll",
                                         "ncclGather",        "ncclScatter",   "ncclSend",
                                         "ncclRecv" };
    return calls[kind];
}

// ---- Waiting for the others ----

static void append(Operation **list, Operation *o)
{
    while (*list) list = &(*list)->next;
    o->next = NULL;
    *list = o;
}

static int length(const Operation *list)
{
    int count = 0;
    for (; list; list = list->next) count++;
    return count;
}

// Those whose ranks are all of this process wait with their rank until the others have called.
static ncclResult_t settle_here(Operation *const *all, int count)
{
    ncclResult_t result = ncclSuccess;
    clique_lock();
    for (int i = 0; i < count; i++)
        append(all[i]->kind == SEND || all[i]->kind == RECEIVE ? &all[i]->comm->messages
                                                               : &all[i]->comm->collectives,
               all[i]);
    for (int i = 0; i < count; i++) issue_complete(all[i]->comm->clique);
    for (int i = 0; i < count; i++) {
        while (!all[i]->done) clique_wait();
        if (all[i]->result) result = all[i]->result;
    }
    clique_unlock();
    return result;
}

// The others, a communicator after the other.
static ncclResult_t settle_apart(Operation *const *all, int count)
{
    Operation **own = malloc(count * sizeof *own);
    ncclResult_t result = ncclSuccess;
    for (int i = 0; i < count && !result; i++) {
        int owned = 0;
        for (int k = i; k < count; k++)
            if (!all[i]->done && all[k]->comm == all[i]->comm) own[owned++] = all[k];
        if (owned) result = apart_do(own[0]->comm, own, owned);
    }
    free(own);
    return result;
}

static ncclResult_t settle(Operation *list)
{
    int count = length(list), n = 0;
    Operation **all = malloc(count * sizeof *all);
    for (Operation *o = list; o; o = o->next)
        if (!o->comm->apart) all[n++] = o;
    int first_apart = n;
    for (Operation *o = list; o; o = o->next)
        if (o->comm->apart) all[n++] = o;
    ncclResult_t here = settle_here(all, first_apart),
                 apart = settle_apart(all + first_apart, count - first_apart);
    for (int i = 0; i < count; i++) free(all[i]);
    free(all);
    return here ? here : apart;
}

EXPORT ncclResult_t ncclGroupStart(void)
{
    if (depth++ == 0) {
        asked = NULL;
        last_asked = &asked;
        group_result = ncclSuccess;
    }
    return ncclSuccess;
}

EXPORT ncclResult_t ncclGroupEnd(void)
{
    if (depth == 0)
        return clique_fail(ncclInvalidUsage, "ncclGroupEnd without an ncclGroupStart before it");
    if (--depth > 0) return ncclSuccess;
    ncclResult_t result = ncclSuccess;
    for (int i = 0; i < joining_count && !result; i++) result = clique_meet(joining[i]);
    joining_count = 0;
    if (asked && !result) result = settle(asked);
    asked = NULL;
    return group_result ? group_result : result;
}

// ---- One call ----

static ncclResult_t check(const Operation *o)
{
    const char *call = kind_call(o->kind);
    bool sums = o->kind == ALL_REDUCE || o->kind == REDUCE || o->kind == REDUCE_SCATTER;
    if (!o->comm) return clique_fail(ncclInvalidArgument, "%s was given no communicator", call);
    if ((unsigned)o->type >= ncclNumTypes)
        return clique_fail(ncclInvalidArgument, "%s was given type %d, which there is not", call,
                           (int)o->type);
    if (sums && (unsigned)o->op >= ncclNumOps)
        return clique_fail(ncclInvalidArgument, "%s was given operation %d, which there is not",
                           call, (int)o->op);
    if (o->other < 0 || o->other >= o->comm->clique->ranks)
        return clique_fail(ncclInvalidArgument, "%s names rank %d of %d", call, o->other,
                           o->comm->clique->ranks);
    return ncclSuccess;
}

static ncclResult_t ask(Operation operation)
{
    ncclResult_t result = check(&operation);
    if (result) {
        group_result = result;
        return result;
    }
    Operation *o = malloc(sizeof *o);
    *o = operation;
    if (depth == 0) return settle(o);
    *last_asked = o;
    last_asked = &o->next;
    return ncclSuccess;
}

EXPORT ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
                                  ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return ask((Operation){ ALL_REDUCE, comm, send, recv, count, type, op, .stream = stream });
}

EXPORT ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count, ncclDataType_t type,
                                  int root, ncclComm_t comm, cudaStream_t stream)
{
    return ask(
        (Operation){ BROADCAST, comm, send, recv, count, type, .other = root, .stream = stream });
}

EXPORT ncclResult_t ncclBcast(void *both, size_t count, ncclDataType_t type, int root,
                              ncclComm_t comm, cudaStream_t stream)
{
    return ncclBroadcast(both, both, count, type, root, comm, stream);
}

EXPORT ncclResult_t ncclReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    return ask((Operation){ REDUCE, comm, send, recv, count, type, op, root, .stream = stream });
}

EXPORT ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t count,
                                      ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                      cudaStream_t stream)
{
    return ask((Operation){ REDUCE_SCATTER, comm, send, recv, count, type, op, .stream = stream });
}

EXPORT ncclResult_t ncclAllGather(const void *send, void *recv, size_t count, ncclDataType_t type,
                                  ncclComm_t comm, cudaStream_t stream)
{
    return ask((Operation){ ALL_GATHER, comm, send, recv, count, type, .stream = stream });
}

EXPORT ncclResult_t ncclAlltoAll(const void *send, void *recv, size_t count, ncclDataType_t type,
                                 ncclComm_t comm, cudaStream_t stream)
{
    return ask((Operation){ ALL_TO_ALL, comm, send, recv, count, type, .stream = stream });
}

EXPORT ncclResult_t ncclGather(const void *send, void *recv, size_t count, ncclDataType_t type,
                               int root, ncclComm_t comm, cudaStream_t stream)
{
    return ask(
        (Operation){ GATHER, comm, send, recv, count, type, .other = root, .stream = stream });
}

EXPORT ncclResult_t ncclScatter(const void *send, void *recv, size_t count, ncclDataType_t type,
                                int root, ncclComm_t comm, cudaStream_t stream)
{
    return ask(
        (Operation){ SCATTER, comm, send, recv, count, type, .other = root, .stream = stream });
}

EXPORT ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                             ncclComm_t comm, cudaStream_t stream)
{
    return ask((Operation){ SEND, comm, send, NULL, count, type, .other = peer, .stream = stream });
}

EXPORT ncclResult_t ncclRecv(void *recv, size_t count, ncclDataType_t type, int peer,
                             ncclComm_t comm, cudaStream_t stream)
{
    return ask(
        (Operation){ RECEIVE, comm, NULL, recv, count, type, .other = peer, .stream = stream });
}
