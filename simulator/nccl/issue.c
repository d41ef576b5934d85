// Runs collectives whose ranks all belong to this process. Every rank reads what it needs from the
// others' memory over the links, in one kernel or two. Events synchronise the ranks' streams
// before, between and after the kernels. Streams that are captured into graphs of their own meet
// in kernels instead, because no event leads from one graph to another.
//
// An all-reduce of p ranks is a reduce-scatter (each rank reduces one of p chunks and reads p - 1
// copies of it from the others) and an all-gather (each rank reads p - 1 finished chunks). As in a
// ring, 2 (p - 1) / p of the buffer enter each device over its link and as much leaves it. It takes
// two kernels on each device, where a ring takes 2 (p - 1) steps.

#include "issue.h"
#include <stdio.h>

// ---- Peer access ----

// NCCL works without the program's cudaDeviceEnablePeerAccess() and must not change what the
// program enabled. So peer access that is missing is enabled while work is issued, and then
// disabled.
typedef struct PeerAccess {
    bool enabled[MOST_RANKS][MOST_RANKS];
} PeerAccess;

static cudaError_t change_peer_access(Communicator *communicator, PeerAccess *access, bool disable)
{
    cudaError_t error = cudaSuccess;
    for (int r = 0; r < communicator->ranks && !error; r++)
        for (int k = 0; k < communicator->ranks && !error; k++) {
            if (r == k || !communicator->member[r] || !communicator->member[k]
                || (disable && !access->enabled[r][k]))
                continue;
            error = cudaSetDevice(communicator->member[r]->device);
            if (error) break;
            int other = communicator->member[k]->device;
            error =
                disable ? cudaDeviceDisablePeerAccess(other) : cudaDeviceEnablePeerAccess(other, 0);
            access->enabled[r][k] = !disable && !error;
            if (error == cudaErrorPeerAccessAlreadyEnabled) {
                cudaGetLastError();
                error = cudaSuccess;
            }
        }
    return error;
}

// ---- Synchronising the streams ----

// The capture of the rank's stream; 0: it is not captured.
static cudaError_t capture_of(const Operation *o, unsigned long long *capture)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    *capture = 0;
    cudaError_t error = cudaSetDevice(o->comm->device);
    return error ? error
                 : cudaStreamGetCaptureInfo(o->stream, &status, capture, NULL, NULL, NULL, NULL);
}

// Are the streams captured into different graphs? Otherwise they are captured into one, or not.
static ncclResult_t captured_apart(Operation *const *by_rank, int ranks, bool *apart)
{
    unsigned long long first = 0, other = 0;
    cudaError_t error = capture_of(by_rank[0], &first);
    *apart = false;
    for (int r = 1; r < ranks && !error; r++) {
        error = capture_of(by_rank[r], &other);
        if (!first != !other)
            return nccl_fail(ncclInvalidUsage,
                             "%s: the stream of rank %d is being captured, that of rank %d is not",
                             kind_call(by_rank[0]->kind), by_rank[first ? 0 : r]->comm->rank,
                             by_rank[first ? r : 0]->comm->rank);
        *apart |= first != other && by_rank[0]->comm != by_rank[r]->comm;
    }
    return nccl_check_cuda(error, kind_call(by_rank[0]->kind));
}

static cudaError_t count_of(ncclComm_t comm, ncclComm_t other, volatile unsigned **count)
{
    unsigned(*counts)[MOST_RANKS];
    cudaError_t error = cudaSetDevice(comm->device);
    if (!error) error = kernel_meetings(&counts);
    if (!error && comm->communicator->number >= MOST_MEETING) error = cudaErrorMemoryAllocation;
    if (!error) *count = &counts[comm->communicator->number][other->rank];
    return error;
}

// Each stream gets a kernel that ends when those of all others have begun.
static cudaError_t meet(Operation *const *by_rank, int ranks)
{
    cudaError_t error = cudaSuccess;
    for (int r = 0; r < ranks && !error; r++) {
        Meeting m = { .count = 0 };
        ncclComm_t own = by_rank[r]->comm;
        for (int k = 0; k < ranks && !error; k++) {
            if (k == r) continue;
            error = count_of(own, by_rank[k]->comm, &m.with[m.count].own);
            if (!error) error = count_of(by_rank[k]->comm, own, &m.with[m.count++].theirs);
        }
        if (!error) error = cudaSetDevice(own->device);
        if (!error) error = kernel_meet(&m, by_rank[r]->stream);
    }
    return error;
}

// A barrier of the ranks' streams: rank 0's stream waits for the others' events, and the others
// wait for rank 0's.
static cudaError_t exchange_events(Operation *const *by_rank, int ranks)
{
    cudaError_t error = cudaSuccess;
    for (int r = ranks - 1; r >= 0 && !error; r--) {
        for (int k = 1; k < ranks && r == 0 && !error; k++)
            if (!(error = cudaSetDevice(by_rank[0]->comm->device)))
                error = cudaStreamWaitEvent(by_rank[0]->stream, by_rank[k]->comm->event, 0);
        if (!error) error = cudaSetDevice(by_rank[r]->comm->device);
        if (!error) error = cudaEventRecord(by_rank[r]->comm->event, by_rank[r]->stream);
    }
    for (int r = 1; r < ranks && !error; r++)
        if (!(error = cudaSetDevice(by_rank[r]->comm->device)))
            error = cudaStreamWaitEvent(by_rank[r]->stream, by_rank[0]->comm->event, 0);
    return error;
}

static cudaError_t synchronise_streams(Operation *const *by_rank, int ranks, bool apart)
{
    return apart ? meet(by_rank, ranks) : exchange_events(by_rank, ranks);
}

// ---- What each rank reads ----

// Rank r reduces `count` elements, beginning with element `first` of every rank's send buffer.
static cudaError_t add(Operation *const *by_rank, int ranks, int r, void *out, size_t first,
                       size_t count)
{
    Reduction reduction = { .out = out, .ranks = ranks, .count = count };
    for (int k = 0; k < ranks; k++) reduction.in[k] = at(by_rank[k]->send, first, by_rank[k]->type);
    return kernel_reduce(&reduction, by_rank[r]->type, by_rank[r]->op, by_rank[r]->stream);
}

static size_t chunk_start(size_t count, int ranks, int r)
{
    return count / ranks * r + ((size_t)r < count % ranks ? (size_t)r : count % ranks);
}

static cudaError_t read_chunks(Operation *const *by_rank, int ranks, int r, void *out)
{
    Pieces pieces = { .count = 0 };
    for (int k = 0; k < ranks; k++) {
        size_t start = chunk_start(by_rank[r]->count, ranks, k),
               end = chunk_start(by_rank[r]->count, ranks, k + 1);
        pieces_add(&pieces, at(out, start, by_rank[r]->type),
                   at(by_rank[k]->recv, start, by_rank[r]->type),
                   (end - start) * bytes_of(by_rank[r]->type));
    }
    return kernel_copy(&pieces, by_rank[r]->stream);
}

// Every operation that only moves data: copies to rank r what it receives.
static cudaError_t read_pieces(Operation *const *by_rank, int ranks, int r, void *out)
{
    const Operation *own = by_rank[r], *root = by_rank[own->other];
    size_t bytes = own->count * bytes_of(own->type), n = own->count;
    Pieces pieces = { .count = 0 };
    if (own->kind == BROADCAST) pieces_add(&pieces, out, root->send, bytes);
    else if (own->kind == SCATTER)
        pieces_add(&pieces, out, at(root->send, n * r, own->type), bytes);
    for (int k = 0; k < ranks; k++) {
        if (own->kind == ALL_GATHER || (own->kind == GATHER && r == own->other))
            pieces_add(&pieces, at(out, n * k, own->type), by_rank[k]->send, bytes);
        else if (own->kind == ALL_TO_ALL)
            pieces_add(&pieces, at(out, n * k, own->type), at(by_rank[k]->send, n * r, own->type),
                       bytes);
    }
    return kernel_copy(&pieces, own->stream);
}

cudaError_t issue_phase(Operation *const *by_rank, int ranks, int r, int phase, void *out)
{
    Operation *own = by_rank[r];
    size_t start = chunk_start(own->count, ranks, r), end = chunk_start(own->count, ranks, r + 1);
    switch (own->kind) {
    case ALL_REDUCE:
        return phase ? read_chunks(by_rank, ranks, r, out)
                     : add(by_rank, ranks, r, at(out, start, own->type), start, end - start);
    case REDUCE_SCATTER: return add(by_rank, ranks, r, out, own->count * r, own->count);
    case REDUCE: return r == own->other ? add(by_rank, ranks, r, out, 0, own->count) : cudaSuccess;
    default: return read_pieces(by_rank, ranks, r, out);
    }
}

int issue_phases(enum kind kind, int ranks) { return kind == ALL_REDUCE && ranks > 1 ? 2 : 1; }

static cudaError_t launch(Operation *const *by_rank, int ranks, int r, int phase)
{
    cudaError_t error = cudaSetDevice(by_rank[r]->comm->device);
    return error ? error : issue_phase(by_rank, ranks, r, phase, by_rank[r]->recv);
}

static cudaError_t run(Operation *const *by_rank, int ranks, bool apart)
{
    int phases = issue_phases(by_rank[0]->kind, ranks);
    cudaError_t error = synchronise_streams(by_rank, ranks, apart);
    for (int phase = 0; phase < phases && !error; phase++) {
        for (int r = 0; r < ranks && !error; r++) error = launch(by_rank, ranks, r, phase);
        if (!error) error = synchronise_streams(by_rank, ranks, apart);
    }
    return error;
}

// ---- Do the calls match? ----

ncclResult_t issue_check(Operation *const *by_rank, int ranks)
{
    const Operation *a = by_rank[0];
    const char *call = kind_call(a->kind);
    for (int r = 1; r < ranks; r++) {
        const Operation *b = by_rank[r];
        if (b->kind != a->kind)
            return nccl_fail(ncclInvalidUsage, "rank 0 calls %s, rank %d calls %s", call, r,
                             kind_call(b->kind));
        if (b->count != a->count)
            return nccl_fail(ncclInvalidArgument, "%s: rank 0 has %zu elements, rank %d has %zu",
                             call, a->count, r, b->count);
        if (b->type != a->type || b->op != a->op || b->other != a->other)
            return nccl_fail(ncclInvalidArgument,
                             "%s: ranks 0 and %d differ in type, operation or root", call, r);
    }
    return ncclSuccess;
}

static void finish(Operation *const *by_rank, int ranks, ncclResult_t result)
{
    for (int r = 0; r < ranks; r++) {
        by_rank[r]->result = result;
        by_rank[r]->done = true;
    }
    communicator_notify();
}

static void issue(Communicator *communicator, Operation *const *by_rank, int ranks,
                  ncclResult_t result)
{
    PeerAccess access = { 0 };
    bool apart = false;
    int before = 0;
    cudaGetDevice(&before);
    nccl_calls_begin(by_rank[0]->kind, (unsigned)ranks);
    if (!result) result = captured_apart(by_rank, ranks, &apart);
    if (!result)
        result = nccl_check_cuda(change_peer_access(communicator, &access, false),
                                 "cudaDeviceEnablePeerAccess");
    if (!result) result = nccl_check_cuda(run(by_rank, ranks, apart), kind_call(by_rank[0]->kind));
    if (!result)
        result = nccl_check_cuda(change_peer_access(communicator, &access, true),
                                 "cudaDeviceDisablePeerAccess");
    cudaSetDevice(before);
    nccl_calls_end();
    finish(by_rank, ranks, result);
}

// ---- Complete operations ----

static bool next_collective(Communicator *communicator, Operation *by_rank[])
{
    for (int r = 0; r < communicator->ranks; r++) {
        by_rank[r] = communicator->member[r] ? communicator->member[r]->collectives : NULL;
        if (!by_rank[r]) return false;
    }
    for (int r = 0; r < communicator->ranks; r++)
        communicator->member[r]->collectives = by_rank[r]->next;
    return true;
}

static Operation **find_message(ncclComm_t comm, enum kind kind, int other)
{
    Operation **at = &comm->messages;
    while (*at && ((*at)->kind != kind || (*at)->other != other)) at = &(*at)->next;
    return at;
}

// Takes the next message from one rank to another off both ranks' lists. False: one of the two has
// not called.
static bool next_message(Communicator *communicator, int from, int to, Operation **send,
                         Operation **receive)
{
    Operation **out = find_message(communicator->member[from], SEND, to),
              **in = find_message(communicator->member[to], RECEIVE, from);
    if (!*out || !*in) return false;
    *send = *out;
    *receive = *in;
    *out = (*out)->next;
    in = find_message(communicator->member[to], RECEIVE,
                      from); // a rank that sends to itself has one list for both
    *in = (*in)->next;
    return true;
}

static cudaError_t copy_message(Operation *send, Operation *receive, bool apart)
{
    Operation *both[] = { send, receive };
    int ranks = send->comm == receive->comm && send->stream == receive->stream ? 1 : 2;
    Pieces pieces = { .count = 0 };
    pieces_add(&pieces, receive->recv, send->send, send->count * bytes_of(send->type));
    cudaError_t error = synchronise_streams(both, ranks, apart);
    if (!error) error = cudaSetDevice(receive->comm->device);
    if (!error) error = kernel_copy(&pieces, receive->stream);
    return error ? error : synchronise_streams(both, ranks, apart);
}

static void issue_message(Communicator *communicator, Operation *send, Operation *receive)
{
    Operation *both[] = { send, receive };
    ncclResult_t result = ncclSuccess;
    PeerAccess access = { 0 };
    bool apart = false;
    int before = 0;
    cudaGetDevice(&before);
    nccl_calls_begin(SEND, 2);
    if (send->count * bytes_of(send->type) != receive->count * bytes_of(receive->type))
        result = nccl_fail(ncclInvalidArgument,
                           "rank %d sends %zu bytes to rank %d, which wants to receive %zu",
                           send->comm->rank, send->count * bytes_of(send->type),
                           receive->comm->rank, receive->count * bytes_of(receive->type));
    if (!result)
        result = nccl_check_cuda(change_peer_access(communicator, &access, false),
                                 "cudaDeviceEnablePeerAccess");
    if (!result) result = captured_apart(both, 2, &apart);
    if (!result) result = nccl_check_cuda(copy_message(send, receive, apart), "ncclSend");
    if (!result)
        result = nccl_check_cuda(change_peer_access(communicator, &access, true),
                                 "cudaDeviceDisablePeerAccess");
    cudaSetDevice(before);
    nccl_calls_end();
    finish(both, 2, result);
}

void issue_complete(Communicator *communicator)
{
    Operation *by_rank[MOST_RANKS], *send, *receive;
    if (communicator->joined < communicator->ranks || communicator->left) return;
    while (next_collective(communicator, by_rank))
        issue(communicator, by_rank, communicator->ranks,
              issue_check(by_rank, communicator->ranks));
    for (int from = 0; from < communicator->ranks; from++)
        for (int to = 0; to < communicator->ranks; to++)
            while (next_message(communicator, from, to, &send, &receive))
                issue_message(communicator, send, receive);
}
