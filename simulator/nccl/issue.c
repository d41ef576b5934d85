// What a collective does on the devices. Every rank reads what it needs from the others' memory
// over the links, in one kernel or two, and events keep the streams in step:
//
//     all meet | a kernel on each device | all meet | ... | all meet
//
// An all-reduce of p ranks is a reduce-scatter (each rank adds up one of p chunks, reading p - 1 of
// them from the others) and an all-gather (each reads p - 1 finished chunks): 2 (p - 1) / p of the
// buffer come in over every link, and as much goes out, as in a ring. It takes two kernels on each
// device where a ring takes 2 (p - 1) steps.

#include "issue.h"
#include <stdio.h>

// ---- Reaching the others ----

// NCCL needs no cudaDeviceEnablePeerAccess() and leaves no trace of it: what is not allowed yet is
// allowed while it issues its work.
typedef struct Reach {
    bool borrowed[MOST_RANKS][MOST_RANKS];
} Reach;

static cudaError_t borrow(Clique *clique, Reach *reach, bool give_back)
{
    cudaError_t error = cudaSuccess;
    for (int r = 0; r < clique->ranks && !error; r++)
        for (int k = 0; k < clique->ranks && !error; k++) {
            if (r == k || !clique->member[r] || !clique->member[k]
                || (give_back && !reach->borrowed[r][k]))
                continue;
            error = cudaSetDevice(clique->member[r]->device);
            if (error) break;
            int other = clique->member[k]->device;
            error = give_back ? cudaDeviceDisablePeerAccess(other)
                              : cudaDeviceEnablePeerAccess(other, 0);
            reach->borrowed[r][k] = !give_back && !error;
            if (error == cudaErrorPeerAccessAlreadyEnabled) {
                cudaGetLastError();
                error = cudaSuccess;
            }
        }
    return error;
}

// ---- Streams in step ----

// What follows in each rank's stream begins when all have come here: the first rank's stream waits
// for the others, and they for it.
static cudaError_t meet(Operation *const *part, int ranks)
{
    cudaError_t error = cudaSuccess;
    for (int r = ranks - 1; r >= 0 && !error; r--) {
        for (int k = 1; k < ranks && r == 0 && !error; k++)
            if (!(error = cudaSetDevice(part[0]->comm->device)))
                error = cudaStreamWaitEvent(part[0]->stream, part[k]->comm->event, 0);
        if (!error) error = cudaSetDevice(part[r]->comm->device);
        if (!error) error = cudaEventRecord(part[r]->comm->event, part[r]->stream);
    }
    for (int r = 1; r < ranks && !error; r++)
        if (!(error = cudaSetDevice(part[r]->comm->device)))
            error = cudaStreamWaitEvent(part[r]->stream, part[0]->comm->event, 0);
    return error;
}

// ---- What each rank reads ----

// Rank r's sum of `count` elements, from element `first` on of what all send.
static cudaError_t add(Operation *const *part, int ranks, int r, void *out, size_t first,
                       size_t count)
{
    Reduction reduction = { .out = out, .ranks = ranks, .count = count };
    for (int k = 0; k < ranks; k++) reduction.in[k] = at(part[k]->send, first, part[k]->type);
    return kernel_reduce(&reduction, part[r]->type, part[r]->op, part[r]->stream);
}

static size_t chunk_start(size_t count, int ranks, int r)
{
    return count / ranks * r + ((size_t)r < count % ranks ? (size_t)r : count % ranks);
}

static cudaError_t read_chunks(Operation *const *part, int ranks, int r, void *out)
{
    Pieces pieces = { .count = 0 };
    for (int k = 0; k < ranks; k++) {
        size_t start = chunk_start(part[r]->count, ranks, k),
               end = chunk_start(part[r]->count, ranks, k + 1);
        pieces_add(&pieces, at(out, start, part[r]->type), at(part[k]->recv, start, part[r]->type),
                   (end - start) * bytes_of(part[r]->type));
    }
    return kernel_copy(&pieces, part[r]->stream);
}

// All but sums: what rank r receives.
static cudaError_t read_pieces(Operation *const *part, int ranks, int r, void *out)
{
    const Operation *own = part[r], *root = part[own->other];
    size_t bytes = own->count * bytes_of(own->type), n = own->count;
    Pieces pieces = { .count = 0 };
    if (own->kind == BROADCAST) pieces_add(&pieces, out, root->send, bytes);
    else if (own->kind == SCATTER)
        pieces_add(&pieces, out, at(root->send, n * r, own->type), bytes);
    for (int k = 0; k < ranks; k++) {
        if (own->kind == ALL_GATHER || (own->kind == GATHER && r == own->other))
            pieces_add(&pieces, at(out, n * k, own->type), part[k]->send, bytes);
        else if (own->kind == ALL_TO_ALL)
            pieces_add(&pieces, at(out, n * k, own->type), at(part[k]->send, n * r, own->type),
                       bytes);
    }
    return kernel_copy(&pieces, own->stream);
}

cudaError_t issue_part(Operation *const *part, int ranks, int r, int phase, void *out)
{
    Operation *own = part[r];
    size_t start = chunk_start(own->count, ranks, r), end = chunk_start(own->count, ranks, r + 1);
    switch (own->kind) {
    case ALL_REDUCE:
        return phase ? read_chunks(part, ranks, r, out)
                     : add(part, ranks, r, at(out, start, own->type), start, end - start);
    case REDUCE_SCATTER: return add(part, ranks, r, out, own->count * r, own->count);
    case REDUCE: return r == own->other ? add(part, ranks, r, out, 0, own->count) : cudaSuccess;
    default: return read_pieces(part, ranks, r, out);
    }
}

int issue_phases(enum kind kind, int ranks) { return kind == ALL_REDUCE && ranks > 1 ? 2 : 1; }

static cudaError_t launch(Operation *const *part, int ranks, int r, int phase)
{
    cudaError_t error = cudaSetDevice(part[r]->comm->device);
    return error ? error : issue_part(part, ranks, r, phase, part[r]->recv);
}

static cudaError_t run(Operation *const *part, int ranks)
{
    int phases = issue_phases(part[0]->kind, ranks);
    cudaError_t error = meet(part, ranks);
    for (int phase = 0; phase < phases && !error; phase++) {
        for (int r = 0; r < ranks && !error; r++) error = launch(part, ranks, r, phase);
        if (!error) error = meet(part, ranks);
    }
    return error;
}

// ---- Do the calls fit? ----

ncclResult_t issue_check(Operation *const *part, int ranks)
{
    const Operation *a = part[0];
    const char *call = kind_call(a->kind);
    for (int r = 1; r < ranks; r++) {
        const Operation *b = part[r];
        if (b->kind != a->kind)
            return clique_fail(ncclInvalidUsage, "rank 0 calls %s, rank %d calls %s", call, r,
                               kind_call(b->kind));
        if (b->count != a->count)
            return clique_fail(ncclInvalidArgument, "%s: rank 0 has %zu elements, rank %d has %zu",
                               call, a->count, r, b->count);
        if (b->type != a->type || b->op != a->op || b->other != a->other)
            return clique_fail(ncclInvalidArgument,
                               "%s: ranks 0 and %d differ in type, operation or root", call, r);
    }
    return ncclSuccess;
}

static void finish(Operation *const *part, int ranks, ncclResult_t result)
{
    for (int r = 0; r < ranks; r++) {
        part[r]->result = result;
        part[r]->done = true;
    }
    clique_changed();
}

static void issue(Clique *clique, Operation *const *part, int ranks, ncclResult_t result)
{
    Reach reach = { 0 };
    int before = 0;
    cudaGetDevice(&before);
    clique_begin(part[0]->kind, (unsigned)ranks);
    if (!result) result = clique_cuda(borrow(clique, &reach, false), "cudaDeviceEnablePeerAccess");
    if (!result) result = clique_cuda(run(part, ranks), kind_call(part[0]->kind));
    if (!result) result = clique_cuda(borrow(clique, &reach, true), "cudaDeviceDisablePeerAccess");
    cudaSetDevice(before);
    clique_end();
    finish(part, ranks, result);
}

// ---- What is complete ----

static bool next_collective(Clique *clique, Operation *part[])
{
    for (int r = 0; r < clique->ranks; r++) {
        part[r] = clique->member[r] ? clique->member[r]->collectives : NULL;
        if (!part[r]) return false;
    }
    for (int r = 0; r < clique->ranks; r++) clique->member[r]->collectives = part[r]->next;
    return true;
}

static Operation **find_message(ncclComm_t comm, enum kind kind, int other)
{
    Operation **at = &comm->messages;
    while (*at && ((*at)->kind != kind || (*at)->other != other)) at = &(*at)->next;
    return at;
}

// The sender's and the receiver's next message between them; false: one of them has not called.
static bool next_message(Clique *clique, int from, int to, Operation **send, Operation **receive)
{
    Operation **out = find_message(clique->member[from], SEND, to),
              **in = find_message(clique->member[to], RECEIVE, from);
    if (!*out || !*in) return false;
    *send = *out;
    *receive = *in;
    *out = (*out)->next;
    in = find_message(clique->member[to], RECEIVE, from); // the list may have been the same
    *in = (*in)->next;
    return true;
}

static cudaError_t pass(Operation *send, Operation *receive)
{
    Operation *both[] = { send, receive };
    int ranks = send->comm == receive->comm && send->stream == receive->stream ? 1 : 2;
    Pieces pieces = { .count = 0 };
    pieces_add(&pieces, receive->recv, send->send, send->count * bytes_of(send->type));
    cudaError_t error = meet(both, ranks);
    if (!error) error = cudaSetDevice(receive->comm->device);
    if (!error) error = kernel_copy(&pieces, receive->stream);
    return error ? error : meet(both, ranks);
}

static void issue_message(Clique *clique, Operation *send, Operation *receive)
{
    Operation *both[] = { send, receive };
    ncclResult_t result = ncclSuccess;
    Reach reach = { 0 };
    int before = 0;
    cudaGetDevice(&before);
    clique_begin(SEND, 2);
    if (send->count * bytes_of(send->type) != receive->count * bytes_of(receive->type))
        result = clique_fail(ncclInvalidArgument,
                             "rank %d sends %zu bytes to rank %d, which wants to receive %zu",
                             send->comm->rank, send->count * bytes_of(send->type),
                             receive->comm->rank, receive->count * bytes_of(receive->type));
    if (!result) result = clique_cuda(borrow(clique, &reach, false), "cudaDeviceEnablePeerAccess");
    if (!result) result = clique_cuda(pass(send, receive), "ncclSend");
    if (!result) result = clique_cuda(borrow(clique, &reach, true), "cudaDeviceDisablePeerAccess");
    cudaSetDevice(before);
    clique_end();
    finish(both, 2, result);
}

void issue_complete(Clique *clique)
{
    Operation *part[MOST_RANKS], *send, *receive;
    if (clique->joined < clique->ranks || clique->left) return;
    while (next_collective(clique, part))
        issue(clique, part, clique->ranks, issue_check(part, clique->ranks));
    for (int from = 0; from < clique->ranks; from++)
        for (int to = 0; to < clique->ranks; to++)
            while (next_message(clique, from, to, &send, &receive))
                issue_message(clique, send, receive);
}
