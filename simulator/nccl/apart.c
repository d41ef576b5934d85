// Operations of ranks that are processes of their own. Each rank gives: it copies what others are
// to read to memory of its own that they have opened; and each takes, by the same kernels as where
// one process has all devices. Events that they share keep the streams in step, and the hosts meet
// at the table: a call returns when all have called.
//
//     all say what they were asked | give | all meet | take | all meet | ... | all meet
#include "apart_table.h"
#include "issue.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Messages to a rank, or from one.
typedef struct Line {
    void *memory; // the sender's
    size_t room;
    cudaIpcMemHandle_t opened; // by the receiver
    cudaEvent_t sent, got;
} Line;

typedef struct Apart {
    Table *table;
    uint64_t meetings;       // so far
    unsigned asked, met;     // how often: of two things the turn is the one's, then the other's
    void *memory;            // what it gives,
    size_t room;             // so many bytes of it,
    void *given[MOST_APART]; // and what the others do
    cudaEvent_t event[2], others[2][MOST_APART];
    Line out[MOST_APART], in[MOST_APART];
} Apart;

static Seat *seat_of(ncclComm_t comm) { return &comm->apart->table->seat[comm->rank]; }

static int ranks_of(ncclComm_t comm) { return comm->clique->ranks; }

// ---- Meeting ----

typedef struct Came {
    const Table *table;
    uint64_t times;
} Came;

static bool has_not_come(const void *with, int rank)
{
    const Came *came = with;
    return __atomic_load_n(&came->table->seat[rank].arrived, __ATOMIC_ACQUIRE) < came->times;
}

static ncclResult_t wait(ncclComm_t comm, table_awaits *awaits, const void *with, const char *call)
{
    if (table_wait(comm->apart->table, awaits, with, call, comm->rank)) return ncclSuccess;
    return clique_fail(ncclRemoteError, "%s on rank %d: another rank has failed", call, comm->rank);
}

static ncclResult_t hosts_meet(ncclComm_t comm, const char *call)
{
    Apart *a = comm->apart;
    Came came = { a->table, ++a->meetings };
    __atomic_store_n(&seat_of(comm)->arrived, came.times, __ATOMIC_RELEASE);
    table_change(a->table);
    return wait(comm, has_not_come, &came, call);
}

// What follows in the stream begins when all ranks' streams have come here, and what lies before it
// in any is done.
static ncclResult_t streams_meet(const Operation *o, const char *call)
{
    Apart *a = o->comm->apart;
    unsigned turn = a->met++ % 2;
    ncclResult_t result =
        clique_cuda(cudaEventRecord(a->event[turn], o->stream), "cudaEventRecord");
    if (!result) result = clique_cuda(clique_settle(o->stream), call);
    if (!result) result = hosts_meet(o->comm, call);
    for (int r = 0; r < ranks_of(o->comm) && !result; r++)
        if (r != o->comm->rank)
            result = clique_cuda(cudaStreamWaitEvent(o->stream, a->others[turn][r], 0),
                                 "cudaStreamWaitEvent");
    return result;
}

// ---- Memory that others read ----

static bool same_handle(const cudaIpcMemHandle_t *a, const cudaIpcMemHandle_t *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static ncclResult_t make_room(void **memory, size_t *room, size_t bytes, cudaIpcMemHandle_t *handle)
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
    return clique_cuda(error, "cudaMalloc");
}

static void close_others(ncclComm_t comm)
{
    for (int r = 0; r < ranks_of(comm); r++)
        if (r != comm->rank && comm->apart->given[r]) cudaIpcCloseMemHandle(comm->apart->given[r]);
    memset(comm->apart->given, 0, sizeof comm->apart->given);
}

// All come to the same answer whether there is enough.
static ncclResult_t make_all_room(ncclComm_t comm, size_t bytes, const char *call)
{
    Apart *a = comm->apart;
    if (bytes <= a->room) return ncclSuccess;
    close_others(comm);
    ncclResult_t result = hosts_meet(comm, call);
    if (!result) result = make_room(&a->memory, &a->room, bytes, &seat_of(comm)->memory);
    if (!result) result = hosts_meet(comm, call);
    a->given[comm->rank] = a->memory;
    for (int r = 0; r < ranks_of(comm) && !result; r++)
        if (r != comm->rank)
            result = clique_cuda(cudaIpcOpenMemHandle(&a->given[r], a->table->seat[r].memory,
                                                      cudaIpcMemLazyEnablePeerAccess),
                                 "cudaIpcOpenMemHandle");
    return result;
}

// ---- Collectives ----

// How many bytes a rank gives.
static size_t bytes_given(const Operation *o, int ranks)
{
    bool all = o->kind == REDUCE_SCATTER || o->kind == ALL_TO_ALL || o->kind == SCATTER;
    return o->count * bytes_of(o->type) * (all ? ranks : 1);
}

static bool gives(const Operation *o)
{
    return (o->kind != BROADCAST && o->kind != SCATTER) || o->comm->rank == o->other;
}

// What all were asked, as if they were of this process: `part` points into `all`.
static ncclResult_t ask_all(const Operation *o, Operation all[], Operation *part[],
                            const char *call)
{
    Apart *a = o->comm->apart;
    unsigned turn = a->asked++ % 2;
    seat_of(o->comm)->asked[turn] = (Asked){ o->kind, o->other, o->count, o->type, o->op };
    ncclResult_t result = hosts_meet(o->comm, call);
    for (int r = 0; r < ranks_of(o->comm) && !result; r++) {
        const Asked *asked = &a->table->seat[r].asked[turn];
        all[r] = (Operation){ .kind = asked->kind,
                              .comm = o->comm,
                              .count = asked->count,
                              .type = asked->type,
                              .op = asked->op,
                              .other = asked->other,
                              .stream = o->stream };
        part[r] = &all[r];
    }
    return result ? result : issue_check(part, ranks_of(o->comm));
}

static ncclResult_t give(const Operation *o)
{
    Pieces pieces = { .count = 0 };
    if (gives(o))
        pieces_add(&pieces, o->comm->apart->memory, o->send, bytes_given(o, ranks_of(o->comm)));
    return clique_cuda(kernel_copy(&pieces, o->stream), kind_call(o->kind));
}

static ncclResult_t take(const Operation *o, Operation *part[], int phase)
{
    int rank = o->comm->rank;
    bool later =
        phase + 1 < issue_phases(o->kind, ranks_of(o->comm)); // others take from what comes of this
    for (int r = 0; r < ranks_of(o->comm); r++) {
        part[r]->send = o->comm->apart->given[r];
        part[r]->recv = o->comm->apart->given[r];
    }
    void *out = later ? part[rank]->recv : o->recv;
    return clique_cuda(issue_part(part, ranks_of(o->comm), rank, phase, out), kind_call(o->kind));
}

static ncclResult_t collective(const Operation *o)
{
    Operation all[MOST_APART], *part[MOST_APART];
    const char *call = kind_call(o->kind);
    ncclResult_t result = ask_all(o, all, part, call);
    if (result) return result; // the same for all
    result = make_all_room(o->comm, bytes_given(o, ranks_of(o->comm)), call);
    if (!result) result = give(o);
    if (!result) result = streams_meet(o, call);
    for (int phase = 0; phase < issue_phases(o->kind, ranks_of(o->comm)) && !result; phase++) {
        result = take(o, part, phase);
        if (!result) result = streams_meet(o, call);
    }
    if (result) apart_give_up(o->comm->apart->table);
    return result;
}

// ---- Messages ----

static Channel *channel(ncclComm_t comm, int from, int to)
{
    return &comm->apart->table->channel[from][to];
}

static uint64_t read_count(const uint64_t *count)
{
    return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

static void count_up(Table *table, uint64_t *count)
{
    __atomic_add_fetch(count, 1, __ATOMIC_RELEASE);
    table_change(table);
}

static ncclResult_t post(const Operation *o)
{
    Channel *c = channel(o->comm, o->comm->rank, o->other);
    Line *line = &o->comm->apart->out[o->other];
    size_t bytes = o->count * bytes_of(o->type);
    Pieces pieces = { .count = 0 };
    ncclResult_t result = bytes > line->room || !line->memory
                            ? make_room(&line->memory, &line->room, bytes, &c->memory)
                            : ncclSuccess;
    if (result) return result;
    pieces_add(&pieces, line->memory, o->send, bytes);
    cudaError_t error = kernel_copy(&pieces, o->stream);
    if (!error) error = cudaEventRecord(line->sent, o->stream);
    if (!error) error = clique_settle(o->stream);
    c->bytes = bytes;
    if (!error) count_up(o->comm->apart->table, &c->posted);
    return clique_cuda(error, "ncclSend");
}

static ncclResult_t open_line(Line *line, const Channel *c)
{
    if (line->memory && same_handle(&line->opened, &c->memory)) return ncclSuccess;
    if (line->memory) cudaIpcCloseMemHandle(line->memory);
    line->memory = NULL;
    line->opened = c->memory;
    return clique_cuda(
        cudaIpcOpenMemHandle(&line->memory, c->memory, cudaIpcMemLazyEnablePeerAccess),
        "cudaIpcOpenMemHandle");
}

static ncclResult_t does_not_fit(int from, size_t sent, int to, size_t wanted)
{
    return clique_fail(ncclInvalidArgument,
                       "rank %d sends %zu bytes to rank %d, which wants to receive %zu", from, sent,
                       to, wanted);
}

static ncclResult_t receive(const Operation *o)
{
    Channel *c = channel(o->comm, o->other, o->comm->rank);
    Line *line = &o->comm->apart->in[o->other];
    size_t bytes = o->count * bytes_of(o->type);
    Pieces pieces = { .count = 0 };
    c->fits = c->bytes == bytes;
    ncclResult_t result =
        c->fits ? open_line(line, c) : does_not_fit(o->other, c->bytes, o->comm->rank, bytes);
    if (!result) {
        pieces_add(&pieces, o->recv, line->memory, bytes);
        cudaError_t error = cudaStreamWaitEvent(o->stream, line->sent, 0);
        if (!error) error = kernel_copy(&pieces, o->stream);
        if (!error) error = cudaEventRecord(line->got, o->stream);
        if (!error) error = clique_settle(o->stream);
        result = clique_cuda(error, "ncclRecv");
        if (result) apart_give_up(o->comm->apart->table);
    }
    count_up(o->comm->apart->table, &c->taken);
    return result;
}

// The sender's stream goes on when the message has been taken.
static ncclResult_t end_post(const Operation *o)
{
    const Channel *c = channel(o->comm, o->comm->rank, o->other);
    if (!c->fits) return ncclInvalidArgument; // as the receiver has said
    return clique_cuda(cudaStreamWaitEvent(o->stream, o->comm->apart->out[o->other].got, 0),
                       "ncclSend");
}

// To itself: the first it sends is the first it receives.
static ncclResult_t pass(const Operation *send, const Operation *receive)
{
    size_t bytes = send->count * bytes_of(send->type),
           wanted = receive->count * bytes_of(receive->type);
    Pieces pieces = { .count = 0 };
    if (bytes != wanted) return does_not_fit(send->comm->rank, bytes, receive->comm->rank, wanted);
    pieces_add(&pieces, receive->recv, send->send, bytes);
    return clique_cuda(kernel_copy(&pieces, receive->stream), "ncclRecv");
}

static void end(Operation *o, ncclResult_t result)
{
    o->result = result;
    o->done = true;
}

typedef struct Messages {
    Operation *const *asked; // with other things
    int count;
    bool *posted; // by number
} Messages;

static bool is_message(const Operation *o) { return o->kind == SEND || o->kind == RECEIVE; }

// The first that is left of that kind to or from that rank: they come in order.
static bool is_first(const Messages *m, int n)
{
    for (int i = 0; i < n; i++)
        if (!m->asked[i]->done && m->asked[i]->kind == m->asked[n]->kind
            && m->asked[i]->other == m->asked[n]->other)
            return false;
    return true;
}

static Operation *find_own(const Messages *m)
{
    for (int i = 0; i < m->count; i++)
        if (!m->asked[i]->done && m->asked[i]->kind == RECEIVE
            && m->asked[i]->other == m->asked[i]->comm->rank)
            return m->asked[i];
    return NULL;
}

// What can be done now? False: nothing; it waits for another rank.
static bool can_do(const Messages *m, int n)
{
    const Operation *o = m->asked[n];
    if (!is_message(o) || o->done || !is_first(m, n)) return false;
    if (o->other == o->comm->rank) return o->kind == SEND && find_own(m);
    const Channel *c = o->kind == SEND ? channel(o->comm, o->comm->rank, o->other)
                                       : channel(o->comm, o->other, o->comm->rank);
    bool waits = read_count(&c->posted) > read_count(&c->taken);
    return o->kind == RECEIVE ? waits : !waits;
}

// Nothing can be done before that rank has done something.
static bool awaits_rank(const void *with, int rank)
{
    const Messages *m = with;
    bool awaited = false;
    for (int n = 0; n < m->count; n++) {
        if (can_do(m, n)) return false;
        awaited |= is_message(m->asked[n]) && !m->asked[n]->done && m->asked[n]->other == rank;
    }
    return awaited;
}

static bool is_any_left(const Messages *m)
{
    for (int n = 0; n < m->count; n++)
        if (is_message(m->asked[n]) && !m->asked[n]->done) return true;
    return false;
}

static void do_one(Messages *m, int n)
{
    Operation *o = m->asked[n], *own = o->other == o->comm->rank ? find_own(m) : NULL;
    ncclResult_t result;
    if (own) {
        result = pass(o, own);
        end(o, result);
        end(own, result);
    } else if (o->kind == RECEIVE) {
        end(o, receive(o));
    } else if (m->posted[n]) {
        end(o, end_post(o));
    } else if ((result = post(o))) {
        apart_give_up(o->comm->apart->table);
        end(o, result);
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

// ---- All that was asked ----

ncclResult_t apart_do(ncclComm_t comm, Operation *const *asked, int count)
{
    Messages messages = { .asked = asked,
                          .count = count,
                          .posted = calloc((size_t)count + 1, sizeof(bool)) };
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(comm->device);
    for (int n = 0; n < count; n++) {
        clique_begin(asked[n]->kind, 1);
        if (!is_message(asked[n])) end(asked[n], collective(asked[n]));
        clique_end();
    }
    clique_within(1);
    ncclResult_t result = do_messages(comm, &messages);
    clique_within(-1);
    cudaSetDevice(before);
    for (int n = 0; n < count && !result; n++) result = asked[n]->result;
    free(messages.posted);
    return result;
}

// ---- Making and giving back ----

static cudaError_t make_event(cudaEvent_t *event, cudaIpcEventHandle_t *handle)
{
    cudaError_t error =
        cudaEventCreateWithFlags(event, cudaEventInterprocess | cudaEventDisableTiming);
    return error ? error : cudaIpcGetEventHandle(handle, *event);
}

static cudaError_t make_events(ncclComm_t comm)
{
    Apart *a = comm->apart;
    cudaError_t error = cudaSuccess;
    for (int turn = 0; turn < 2 && !error; turn++)
        error = make_event(&a->event[turn], &seat_of(comm)->event[turn]);
    for (int r = 0; r < ranks_of(comm) && !error; r++) {
        if (r == comm->rank) continue;
        error = make_event(&a->out[r].sent, &channel(comm, comm->rank, r)->sent);
        if (!error) error = make_event(&a->in[r].got, &channel(comm, r, comm->rank)->got);
    }
    return error;
}

static cudaError_t open_events(ncclComm_t comm)
{
    Apart *a = comm->apart;
    cudaError_t error = cudaSuccess;
    for (int r = 0; r < ranks_of(comm) && !error; r++) {
        if (r == comm->rank) continue;
        for (int turn = 0; turn < 2 && !error; turn++)
            error = cudaIpcOpenEventHandle(&a->others[turn][r], a->table->seat[r].event[turn]);
        if (!error)
            error = cudaIpcOpenEventHandle(&a->out[r].got, channel(comm, comm->rank, r)->got);
        if (!error)
            error = cudaIpcOpenEventHandle(&a->in[r].sent, channel(comm, r, comm->rank)->sent);
    }
    return error;
}

ncclResult_t apart_open(ncclComm_t comm, Table *table)
{
    comm->apart = calloc(1, sizeof *comm->apart);
    comm->apart->table = table;
    ncclResult_t result = clique_cuda(make_events(comm), "cudaIpcGetEventHandle");
    if (!result) result = hosts_meet(comm, "ncclCommInitRank");
    if (!result) result = clique_cuda(open_events(comm), "cudaIpcOpenEventHandle");
    if (result) apart_give_up(table);
    return result;
}

static void destroy(cudaEvent_t event)
{
    if (event) cudaEventDestroy(event);
}

void apart_close(ncclComm_t comm)
{
    Apart *a = comm->apart;
    close_others(comm);
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
    __atomic_store_n(&seat_of(comm)->left, 1, __ATOMIC_RELEASE);
    apart_leave(a->table);
    free(a);
}
