// The program's calls. An operation waits until the other ranks have called theirs. Between
// ncclGroupStart() and ncclGroupEnd() one thread may call for several ranks. Outside a group each
// call waits for the other ranks' calls, which must come from other threads or processes.
#define _GNU_SOURCE
#include "multiprocess.h"
#include "communicator.h"
#include "issue.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local int depth;                        // of open groups
static _Thread_local Operation *queued, **last_queued; // in the group, in order; linked by `next`
static _Thread_local ncclComm_t connecting[MOST_RANKS];
static _Thread_local int connecting_count;
static _Thread_local ncclResult_t group_result;

bool group_is_open(void) { return depth > 0; }

void group_defer_connect(ncclComm_t comm)
{
    if (connecting_count < MOST_RANKS) connecting[connecting_count++] = comm;
}

const char *kind_call(enum kind kind)
{
    static const char *const calls[] = { "ncclAllReduce",     "ncclBroadcast", "ncclReduce",
                                         "ncclReduceScatter", "ncclAllGather", "ncclAlltoAll",
                                         "ncclGather",        "ncclScatter",   "ncclSend",
                                         "ncclRecv" };
    return calls[kind];
}

// ---- Running operations ----

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

// Runs operations of communicators within this process: each is queued at its rank until the other
// ranks have called.
static ncclResult_t run_in_process(Operation *const *all, int count)
{
    ncclResult_t result = ncclSuccess;
    communicator_lock();
    for (int i = 0; i < count; i++)
        append(all[i]->kind == SEND || all[i]->kind == RECEIVE ? &all[i]->comm->messages
                                                               : &all[i]->comm->collectives,
               all[i]);
    for (int i = 0; i < count; i++) issue_complete(all[i]->comm->communicator);
    for (int i = 0; i < count; i++) {
        while (!all[i]->done) communicator_wait();
        if (all[i]->result) result = all[i]->result;
    }
    communicator_unlock();
    return result;
}

// Runs the operations of multi-process communicators, one communicator after another.
static ncclResult_t run_multiprocess(Operation *const *all, int count)
{
    Operation **own = malloc(count * sizeof *own);
    ncclResult_t result = ncclSuccess;
    for (int i = 0; i < count && !result; i++) {
        int owned = 0;
        for (int k = i; k < count; k++)
            if (!all[i]->done && all[k]->comm == all[i]->comm) own[owned++] = all[k];
        if (owned) result = multiprocess_run(own[0]->comm, own, owned);
    }
    free(own);
    return result;
}

static ncclResult_t run(Operation *list)
{
    int count = length(list), n = 0;
    Operation **all = malloc(count * sizeof *all);
    for (Operation *o = list; o; o = o->next)
        if (!o->comm->multiprocess) all[n++] = o;
    int in_process = n;
    for (Operation *o = list; o; o = o->next)
        if (o->comm->multiprocess) all[n++] = o;
    ncclResult_t in_process_result = run_in_process(all, in_process),
                 multiprocess_result = run_multiprocess(all + in_process, count - in_process);
    for (int i = 0; i < count; i++) free(all[i]);
    free(all);
    return in_process_result ? in_process_result : multiprocess_result;
}

EXPORT ncclResult_t ncclGroupStart(void)
{
    if (depth++ == 0) {
        queued = NULL;
        last_queued = &queued;
        group_result = ncclSuccess;
    }
    return ncclSuccess;
}

EXPORT ncclResult_t ncclGroupEnd(void)
{
    if (depth == 0)
        return nccl_fail(ncclInvalidUsage, "ncclGroupEnd without an ncclGroupStart before it");
    if (--depth > 0) return ncclSuccess;
    ncclResult_t result = ncclSuccess;
    for (int i = 0; i < connecting_count && !result; i++)
        result = communicator_connect(connecting[i]);
    connecting_count = 0;
    if (queued && !result) result = run(queued);
    queued = NULL;
    return group_result ? group_result : result;
}

// ---- One call ----

static ncclResult_t check(const Operation *o)
{
    const char *call = kind_call(o->kind);
    bool sums = o->kind == ALL_REDUCE || o->kind == REDUCE || o->kind == REDUCE_SCATTER;
    if (!o->comm) return nccl_fail(ncclInvalidArgument, "%s was given no communicator", call);
    if ((unsigned)o->type >= ncclNumTypes)
        return nccl_fail(ncclInvalidArgument, "%s was given type %d, which there is not", call,
                         (int)o->type);
    if (sums && (unsigned)o->op >= ncclNumOps)
        return nccl_fail(ncclInvalidArgument, "%s was given operation %d, which there is not", call,
                         (int)o->op);
    if (o->other < 0 || o->other >= o->comm->communicator->ranks)
        return nccl_fail(ncclInvalidArgument, "%s names rank %d of %d", call, o->other,
                         o->comm->communicator->ranks);
    return ncclSuccess;
}

static ncclResult_t enqueue(Operation operation)
{
    ncclResult_t result = check(&operation);
    if (result) {
        group_result = result;
        return result;
    }
    Operation *o = malloc(sizeof *o);
    *o = operation;
    if (depth == 0) return run(o);
    *last_queued = o;
    last_queued = &o->next;
    return ncclSuccess;
}

EXPORT ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
                                  ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return enqueue((Operation){ ALL_REDUCE, comm, send, recv, count, type, op, .stream = stream });
}

EXPORT ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count, ncclDataType_t type,
                                  int root, ncclComm_t comm, cudaStream_t stream)
{
    return enqueue(
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
    return enqueue(
        (Operation){ REDUCE, comm, send, recv, count, type, op, root, .stream = stream });
}

EXPORT ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t count,
                                      ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                      cudaStream_t stream)
{
    return enqueue(
        (Operation){ REDUCE_SCATTER, comm, send, recv, count, type, op, .stream = stream });
}

EXPORT ncclResult_t ncclAllGather(const void *send, void *recv, size_t count, ncclDataType_t type,
                                  ncclComm_t comm, cudaStream_t stream)
{
    return enqueue((Operation){ ALL_GATHER, comm, send, recv, count, type, .stream = stream });
}

EXPORT ncclResult_t ncclAlltoAll(const void *send, void *recv, size_t count, ncclDataType_t type,
                                 ncclComm_t comm, cudaStream_t stream)
{
    return enqueue((Operation){ ALL_TO_ALL, comm, send, recv, count, type, .stream = stream });
}

EXPORT ncclResult_t ncclGather(const void *send, void *recv, size_t count, ncclDataType_t type,
                               int root, ncclComm_t comm, cudaStream_t stream)
{
    return enqueue(
        (Operation){ GATHER, comm, send, recv, count, type, .other = root, .stream = stream });
}

EXPORT ncclResult_t ncclScatter(const void *send, void *recv, size_t count, ncclDataType_t type,
                                int root, ncclComm_t comm, cudaStream_t stream)
{
    return enqueue(
        (Operation){ SCATTER, comm, send, recv, count, type, .other = root, .stream = stream });
}

EXPORT ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                             ncclComm_t comm, cudaStream_t stream)
{
    return enqueue(
        (Operation){ SEND, comm, send, NULL, count, type, .other = peer, .stream = stream });
}

EXPORT ncclResult_t ncclRecv(void *recv, size_t count, ncclDataType_t type, int peer,
                             ncclComm_t comm, cudaStream_t stream)
{
    return enqueue(
        (Operation){ RECEIVE, comm, NULL, recv, count, type, .other = peer, .stream = stream });
}
