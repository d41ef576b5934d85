// Runs the operations of ranks that are separate processes. Each rank copies what the others need
// into a staging buffer that they have opened, and reads theirs with the same kernels that serve
// ranks of one process. Shared events synchronise the streams. The hosts synchronise through the
// bootstrap's file, so a call returns when all ranks have called. A collective is:
//
//     exchange arguments | stage | barrier | read | barrier | (read | barrier)
#include "bootstrap.h"
#include "issue.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// This rank's end of a connection to another rank, or from one.
typedef struct Endpoint {
    void *memory; // the sender's buffer
    size_t room;
    cudaIpcMemHandle_t opened; // the handle that the receiver has opened
    cudaEvent_t sent, got;
} Endpoint;

typedef struct MultiProcess {
    Bootstrap *bootstrap;
    uint64_t barriers;                     // of the hosts so far
    unsigned collectives, stream_barriers; // so far: they choose between two infos, or two events
    void *memory;                          // this rank's staging buffer,
    size_t room;                           // its bytes,
    void *peer_memory[MOST_PROCESSES];     // and the others' buffers as they are mapped here
    cudaEvent_t event[2], others[2][MOST_PROCESSES];
    Endpoint out[MOST_PROCESSES], in[MOST_PROCESSES];
} MultiProcess;

static PeerInfo *own_peer(ncclComm_t comm)
{
    return &comm->multiprocess->bootstrap->peer[comm->rank];
}

static int ranks_of(ncclComm_t comm) { return comm->communicator->ranks; }

// ---- Barriers ----

typedef struct BarrierArrival {
    const Bootstrap *bootstrap;
    uint64_t number;
} BarrierArrival;

static bool has_not_arrived(const void *with, int rank)
{
    const BarrierArrival *barrier = with;
    return __atomic_load_n(&barrier->bootstrap->peer[rank].arrived, __ATOMIC_ACQUIRE)
         < barrier->number;
}

static ncclResult_t wait(ncclComm_t comm, BootstrapAwaits *awaits, const void *with,
                         const char *call)
{
    if (bootstrap_wait(comm->multiprocess->bootstrap, awaits, with, call, comm->rank))
        return ncclSuccess;
    return nccl_fail(ncclRemoteError, "%s on rank %d: another rank has failed", call, comm->rank);
}

static ncclResult_t barrier_hosts(ncclComm_t comm, const char *call)
{
    MultiProcess *a = comm->multiprocess;
    BarrierArrival barrier = { a->bootstrap, ++a->barriers };
    __atomic_store_n(&own_peer(comm)->arrived, barrier.number, __ATOMIC_RELEASE);
    bootstrap_notify(a->bootstrap);
    return wait(comm, has_not_arrived, &barrier, call);
}

// A barrier of the ranks' streams: later work on this stream begins when every rank's stream has
// completed its earlier work.
static ncclResult_t barrier_streams(const Operation *o, const char *call)
{
    MultiProcess *a = o->comm->multiprocess;
    unsigned turn = a->stream_barriers++ % 2;
    ncclResult_t result =
        nccl_check_cuda(cudaEventRecord(a->event[turn], o->stream), "cudaEventRecord");
    if (!result) result = nccl_check_cuda(nccl_drain(o->stream), call);
    if (!result) result = barrier_hosts(o->comm, call);
    for (int r = 0; r < ranks_of(o->comm) && !result; r++)
        if (r != o->comm->rank)
            result = nccl_check_cuda(cudaStreamWaitEvent(o->stream, a->others[turn][r], 0),
                                     "cudaStreamWaitEvent");
    return result;
}

// ---- Memory that others read ----

static bool same_handle(const cudaIpcMemHandle_t *a, const cudaIpcMemHandle_t *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static ncclResult_t grow_buffer(void **memory, size_t *room, size_t bytes,
                                cudaIpcMemHandle_t *handle)
{
    enum { LEAST = 1 << 20 };
    size_t larger = 2 * *room > LEAST ? 2 * *room : LEAST;
    if (larger < bytes) larger = bytes;
    cudaError_t error = *memory ? cudaFree(*memory) : cudaSuccess;
    *memory = NULL;
    *room = 0;
    if (!error) error = cudaMalloc(memory, larger);
    if (!error) error = cudaIpcGetMemHandle(handle, *memory);
    if (!error) *room = larger;
    return nccl_check_cuda(error, "cudaMalloc");
}

static void close_peer_memory(ncclComm_t comm)
{
    for (int r = 0; r < ranks_of(comm); r++)
        if (r != comm->rank && comm->multiprocess->peer_memory[r])
            cudaIpcCloseMemHandle(comm->multiprocess->peer_memory[r]);
    memset(comm->multiprocess->peer_memory, 0, sizeof comm->multiprocess->peer_memory);
}

// Every rank needs the same number of bytes, so either all ranks grow their buffers or none does.
static ncclResult_t grow_staging(ncclComm_t comm, size_t bytes, const char *call)
{
    MultiProcess *a = comm->multiprocess;
    if (bytes <= a->room) return ncclSuccess;
    close_peer_memory(comm);
    ncclResult_t result = barrier_hosts(comm, call);
    if (!result) result = grow_buffer(&a->memory, &a->room, bytes, &own_peer(comm)->memory);
    if (!result) result = barrier_hosts(comm, call);
    a->peer_memory[comm->rank] = a->memory;
    for (int r = 0; r < ranks_of(comm) && !result; r++)
        if (r != comm->rank)
            result = nccl_check_cuda(cudaIpcOpenMemHandle(&a->peer_memory[r],
                                                          a->bootstrap->peer[r].memory,
                                                          cudaIpcMemLazyEnablePeerAccess),
                                     "cudaIpcOpenMemHandle");
    return result;
}

// ---- Collectives ----

// The number of bytes that a rank stages.
static size_t bytes_staged(const Operation *o, int ranks)
{
    bool all = o->kind == REDUCE_SCATTER || o->kind == ALL_TO_ALL || o->kind == SCATTER;
    return o->count * bytes_of(o->type) * (all ? ranks : 1);
}

static bool has_to_stage(const Operation *o)
{
    return (o->kind != BROADCAST && o->kind != SCATTER) || o->comm->rank == o->other;
}

// Fills in every rank's call as if the ranks belonged to this process; `by_rank` points into `all`.
static ncclResult_t exchange_info(const Operation *o, Operation all[], Operation *by_rank[],
                                  const char *call)
{
    MultiProcess *a = o->comm->multiprocess;
    unsigned turn = a->collectives++ % 2;
    own_peer(o->comm)->info[turn] = (OperationInfo){ o->kind, o->other, o->count, o->type, o->op };
    ncclResult_t result = barrier_hosts(o->comm, call);
    for (int r = 0; r < ranks_of(o->comm) && !result; r++) {
        const OperationInfo *info = &a->bootstrap->peer[r].info[turn];
        all[r] = (Operation){ .kind = info->kind,
                              .comm = o->comm,
                              .count = info->count,
                              .type = info->type,
                              .op = info->op,
                              .other = info->other,
                              .stream = o->stream };
        by_rank[r] = &all[r];
    }
    return result ? result : issue_check(by_rank, ranks_of(o->comm));
}

static ncclResult_t stage(const Operation *o)
{
    Pieces pieces = { .count = 0 };
    if (has_to_stage(o))
        pieces_add(&pieces, o->comm->multiprocess->memory, o->send,
                   bytes_staged(o, ranks_of(o->comm)));
    return nccl_check_cuda(kernel_copy(&pieces, o->stream), kind_call(o->kind));
}

static ncclResult_t read_staged(const Operation *o, Operation *by_rank[], int phase)
{
    int rank = o->comm->rank;
    bool later = phase + 1 < issue_phases(
                     o->kind, ranks_of(o->comm)); // the next phase reads the result of this one
    for (int r = 0; r < ranks_of(o->comm); r++) {
        by_rank[r]->send = o->comm->multiprocess->peer_memory[r];
        by_rank[r]->recv = o->comm->multiprocess->peer_memory[r];
    }
    void *out = later ? by_rank[rank]->recv : o->recv;
    return nccl_check_cuda(issue_phase(by_rank, ranks_of(o->comm), rank, phase, out),
                           kind_call(o->kind));
}

static ncclResult_t collective(const Operation *o)
{
    Operation all[MOST_PROCESSES], *by_rank[MOST_PROCESSES];
    const char *call = kind_call(o->kind);
    ncclResult_t result = exchange_info(o, all, by_rank, call);
    if (result) return result; // all ranks get the same result
    result = grow_staging(o->comm, bytes_staged(o, ranks_of(o->comm)), call);
    if (!result) result = stage(o);
    if (!result) result = barrier_streams(o, call);
    for (int phase = 0; phase < issue_phases(o->kind, ranks_of(o->comm)) && !result; phase++) {
        result = read_staged(o, by_rank, phase);
        if (!result) result = barrier_streams(o, call);
    }
    if (result) bootstrap_abort(o->comm->multiprocess->bootstrap);
    return result;
}

// ---- Sends and receives ----

static Connection *connection(ncclComm_t comm, int from, int to)
{
    return &comm->multiprocess->bootstrap->connection[from][to];
}

static uint64_t load_counter(const uint64_t *count)
{
    return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

static void increment_counter(Bootstrap *bootstrap, uint64_t *count)
{
    __atomic_add_fetch(count, 1, __ATOMIC_RELEASE);
    bootstrap_notify(bootstrap);
}

static ncclResult_t post(const Operation *o)
{
    Connection *c = connection(o->comm, o->comm->rank, o->other);
    Endpoint *endpoint = &o->comm->multiprocess->out[o->other];
    size_t bytes = o->count * bytes_of(o->type);
    Pieces pieces = { .count = 0 };
    ncclResult_t result = bytes > endpoint->room || !endpoint->memory
                            ? grow_buffer(&endpoint->memory, &endpoint->room, bytes, &c->memory)
                            : ncclSuccess;
    if (result) return result;
    pieces_add(&pieces, endpoint->memory, o->send, bytes);
    cudaError_t error = kernel_copy(&pieces, o->stream);
    if (!error) error = cudaEventRecord(endpoint->sent, o->stream);
    if (!error) error = nccl_drain(o->stream);
    c->bytes = bytes;
    if (!error) increment_counter(o->comm->multiprocess->bootstrap, &c->posted);
    return nccl_check_cuda(error, "ncclSend");
}

static ncclResult_t open_endpoint(Endpoint *endpoint, const Connection *c)
{
    if (endpoint->memory && same_handle(&endpoint->opened, &c->memory)) return ncclSuccess;
    if (endpoint->memory) cudaIpcCloseMemHandle(endpoint->memory);
    endpoint->memory = NULL;
    endpoint->opened = c->memory;
    return nccl_check_cuda(
        cudaIpcOpenMemHandle(&endpoint->memory, c->memory, cudaIpcMemLazyEnablePeerAccess),
        "cudaIpcOpenMemHandle");
}

static ncclResult_t fail_mismatch(int from, size_t sent, int to, size_t wanted)
{
    return nccl_fail(ncclInvalidArgument,
                     "rank %d sends %zu bytes to rank %d, which wants to receive %zu", from, sent,
                     to, wanted);
}

static ncclResult_t receive(const Operation *o)
{
    Connection *c = connection(o->comm, o->other, o->comm->rank);
    Endpoint *endpoint = &o->comm->multiprocess->in[o->other];
    size_t bytes = o->count * bytes_of(o->type);
    Pieces pieces = { .count = 0 };
    c->fits = c->bytes == bytes;
    ncclResult_t result = c->fits ? open_endpoint(endpoint, c)
                                  : fail_mismatch(o->other, c->bytes, o->comm->rank, bytes);
    if (!result) {
        pieces_add(&pieces, o->recv, endpoint->memory, bytes);
        cudaError_t error = cudaStreamWaitEvent(o->stream, endpoint->sent, 0);
        if (!error) error = kernel_copy(&pieces, o->stream);
        if (!error) error = cudaEventRecord(endpoint->got, o->stream);
        if (!error) error = nccl_drain(o->stream);
        result = nccl_check_cuda(error, "ncclRecv");
        if (result) bootstrap_abort(o->comm->multiprocess->bootstrap);
    }
    increment_counter(o->comm->multiprocess->bootstrap, &c->taken);
    return result;
}

// The sender's stream waits until the receiver has copied the message.
static ncclResult_t finish_post(const Operation *o)
{
    const Connection *c = connection(o->comm, o->comm->rank, o->other);
    if (!c->fits) return ncclInvalidArgument; // the receiver has reported it
    return nccl_check_cuda(
        cudaStreamWaitEvent(o->stream, o->comm->multiprocess->out[o->other].got, 0), "ncclSend");
}

// A rank's message to itself: its first send matches its first receive.
static ncclResult_t copy_to_self(const Operation *send, const Operation *receive)
{
    size_t bytes = send->count * bytes_of(send->type),
           wanted = receive->count * bytes_of(receive->type);
    Pieces pieces = { .count = 0 };
    if (bytes != wanted) return fail_mismatch(send->comm->rank, bytes, receive->comm->rank, wanted);
    pieces_add(&pieces, receive->recv, send->send, bytes);
    return nccl_check_cuda(kernel_copy(&pieces, receive->stream), "ncclRecv");
}

static void complete(Operation *o, ncclResult_t result)
{
    o->result = result;
    o->done = true;
}

typedef struct Messages {
    Operation *const *operations; // of every kind
    int count;
    bool *posted; // of each operation
} Messages;

static bool is_message(const Operation *o) { return o->kind == SEND || o->kind == RECEIVE; }

// Messages between two ranks match in order, so only the first unfinished message can run.
static bool is_first(const Messages *m, int n)
{
    for (int i = 0; i < n; i++)
        if (!m->operations[i]->done && m->operations[i]->kind == m->operations[n]->kind
            && m->operations[i]->other == m->operations[n]->other)
            return false;
    return true;
}

static Operation *find_own(const Messages *m)
{
    for (int i = 0; i < m->count; i++)
        if (!m->operations[i]->done && m->operations[i]->kind == RECEIVE
            && m->operations[i]->other == m->operations[i]->comm->rank)
            return m->operations[i];
    return NULL;
}

// Can the operation make progress now, or does it wait for another rank?
static bool can_do(const Messages *m, int n)
{
    const Operation *o = m->operations[n];
    if (!is_message(o) || o->done || !is_first(m, n)) return false;
    if (o->other == o->comm->rank) return o->kind == SEND && find_own(m);
    const Connection *c = o->kind == SEND ? connection(o->comm, o->comm->rank, o->other)
                                          : connection(o->comm, o->other, o->comm->rank);
    bool waits = load_counter(&c->posted) > load_counter(&c->taken);
    return o->kind == RECEIVE ? waits : !waits;
}

// Do all unfinished messages wait, and at least one of them for that rank?
static bool awaits_rank(const void *with, int rank)
{
    const Messages *m = with;
    bool awaited = false;
    for (int n = 0; n < m->count; n++) {
        if (can_do(m, n)) return false;
        awaited |= is_message(m->operations[n]) && !m->operations[n]->done
                && m->operations[n]->other == rank;
    }
    return awaited;
}

static bool is_any_left(const Messages *m)
{
    for (int n = 0; n < m->count; n++)
        if (is_message(m->operations[n]) && !m->operations[n]->done) return true;
    return false;
}

static void do_one(Messages *m, int n)
{
    Operation *o = m->operations[n], *own = o->other == o->comm->rank ? find_own(m) : NULL;
    ncclResult_t result;
    if (own) {
        result = copy_to_self(o, own);
        complete(o, result);
        complete(own, result);
    } else if (o->kind == RECEIVE) {
        complete(o, receive(o));
    } else if (m->posted[n]) {
        complete(o, finish_post(o));
    } else if ((result = post(o))) {
        bootstrap_abort(o->comm->multiprocess->bootstrap);
        complete(o, result);
    } else {
        m->posted[n] = true;
    }
}

static ncclResult_t do_messages(ncclComm_t comm, Messages *m)
{
    while (is_any_left(m)) {
        ncclResult_t result = wait(comm, awaits_rank, m, "ncclSend or ncclRecv");
        if (result) return result;
        for (int n = 0; n < m->count; n++)
            if (can_do(m, n)) do_one(m, n);
    }
    return ncclSuccess;
}

// ---- All operations ----

ncclResult_t multiprocess_run(ncclComm_t comm, Operation *const *operations, int count)
{
    Messages messages = { .operations = operations,
                          .count = count,
                          .posted = calloc((size_t)count + 1, sizeof(bool)) };
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(comm->device);
    for (int n = 0; n < count; n++) {
        nccl_calls_begin(operations[n]->kind, 1);
        if (!is_message(operations[n])) complete(operations[n], collective(operations[n]));
        nccl_calls_end();
    }
    nccl_calls_within(1);
    ncclResult_t result = do_messages(comm, &messages);
    nccl_calls_within(-1);
    cudaSetDevice(before);
    for (int n = 0; n < count && !result; n++) result = operations[n]->result;
    free(messages.posted);
    return result;
}

// ---- Making and freeing ----

static cudaError_t make_event(cudaEvent_t *event, cudaIpcEventHandle_t *handle)
{
    cudaError_t error =
        cudaEventCreateWithFlags(event, cudaEventInterprocess | cudaEventDisableTiming);
    return error ? error : cudaIpcGetEventHandle(handle, *event);
}

static cudaError_t make_events(ncclComm_t comm)
{
    MultiProcess *a = comm->multiprocess;
    cudaError_t error = cudaSuccess;
    for (int turn = 0; turn < 2 && !error; turn++)
        error = make_event(&a->event[turn], &own_peer(comm)->event[turn]);
    for (int r = 0; r < ranks_of(comm) && !error; r++) {
        if (r == comm->rank) continue;
        error = make_event(&a->out[r].sent, &connection(comm, comm->rank, r)->sent);
        if (!error) error = make_event(&a->in[r].got, &connection(comm, r, comm->rank)->got);
    }
    return error;
}

static cudaError_t open_events(ncclComm_t comm)
{
    MultiProcess *a = comm->multiprocess;
    cudaError_t error = cudaSuccess;
    for (int r = 0; r < ranks_of(comm) && !error; r++) {
        if (r == comm->rank) continue;
        for (int turn = 0; turn < 2 && !error; turn++)
            error = cudaIpcOpenEventHandle(&a->others[turn][r], a->bootstrap->peer[r].event[turn]);
        if (!error)
            error = cudaIpcOpenEventHandle(&a->out[r].got, connection(comm, comm->rank, r)->got);
        if (!error)
            error = cudaIpcOpenEventHandle(&a->in[r].sent, connection(comm, r, comm->rank)->sent);
    }
    return error;
}

ncclResult_t multiprocess_open(ncclComm_t comm, Bootstrap *bootstrap)
{
    comm->multiprocess = calloc(1, sizeof *comm->multiprocess);
    comm->multiprocess->bootstrap = bootstrap;
    ncclResult_t result = nccl_check_cuda(make_events(comm), "cudaIpcGetEventHandle");
    if (!result) result = barrier_hosts(comm, "ncclCommInitRank");
    if (!result) result = nccl_check_cuda(open_events(comm), "cudaIpcOpenEventHandle");
    if (result) bootstrap_abort(bootstrap);
    return result;
}

static void destroy(cudaEvent_t event)
{
    if (event) cudaEventDestroy(event);
}

void multiprocess_close(ncclComm_t comm)
{
    MultiProcess *a = comm->multiprocess;
    close_peer_memory(comm);
    if (a->memory) cudaFree(a->memory);
    for (int turn = 0; turn < 2; turn++) destroy(a->event[turn]);
    for (int r = 0; r < ranks_of(comm); r++) {
        for (int turn = 0; turn < 2; turn++) destroy(a->others[turn][r]);
        if (a->in[r].memory) cudaIpcCloseMemHandle(a->in[r].memory);
        if (a->out[r].memory) cudaFree(a->out[r].memory);
        destroy(a->in[r].sent);
        destroy(a->in[r].got);
        destroy(a->out[r].sent);
        destroy(a->out[r].got);
    }
    __atomic_store_n(&own_peer(comm)->left, 1, __ATOMIC_RELEASE);
    bootstrap_leave(a->bootstrap);
    free(a);
}
