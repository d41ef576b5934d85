#include "owned.h"
#include "buffer.h"
#include "run.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 256 };          // bytes, as cudaMalloc has it
enum { DEVICES_UNAVAILABLE = 46 }; // of cudaError_t

bool owned(const Session *s, const Arg *a)
{
    return s->owner >= 0
        && (a->kind == ARG_DEVICE || a->kind == ARG_SCRATCH
            || (a->kind == ARG_SPREAD && s->reports));
}

// One question of the device. False: no more of the call's; *outcome or *answer says why.
typedef struct Asking {
    Session *session;
    Answer *answer;
    enum stage stage; // that an error belongs to
    enum outcome outcome;
    int memory; // the descriptor that came with the last reply, or -1
} Asking;

// What an error says of a GPU that others use too.
static const char *words_of(int error)
{
    switch (error) {
    case WIRE_MEMORY_ALLOCATION: return ", as the device has no memory left";
    case DEVICES_UNAVAILABLE:
        return ", as the GPU is in use, or takes one process alone (nvidia-smi -c 0 lets it take "
               "more)";
    default: return "";
    }
}

static bool ask(Asking *a, WireRequest *request, int file, WireReply *reply)
{
    a->memory = -1;
    do a->outcome = session_ask(a->session, request, file, reply, &a->memory);
    while (a->outcome == OUTCOME_ANSWER && reply->error == WIRE_DEADLOCKED && !request->alone++);
    if (a->outcome != OUTCOME_ANSWER) return false;
    if (!reply->error) return true;
    a->answer->stage = a->stage;
    a->answer->cuda = reply->error;
    snprintf(a->answer->error, sizeof a->answer->error, "cudaError_t %d%s", reply->error,
             words_of(reply->error));
    return false;
}

static WireRequest request_of(enum wire_op op, const char *call, uint32_t device)
{
    WireRequest r = { .version = WIRE_VERSION, .op = op, .device = device };
    snprintf(r.call, sizeof r.call, "%s", call);
    return r;
}

// A part of an array, on its device.
typedef struct Part {
    const Arg *arg;
    const RequestArg *given;
    uint32_t number;
} Part;

static bool is_spread(const Part *p) { return p->arg->kind == ARG_SPREAD; }

// With its guards.
static uint64_t span(const Part *p) { return p->given->guard + p->given->bytes + p->given->guard; }

static uint32_t device_of(const Part *p) { return is_spread(p) ? p->number : 0; }

static bool allocate(Asking *a, const Part *p, RequestArg *given)
{
    WireReply reply;
    WireRequest r = request_of(WIRE_ALLOC, "cudaMalloc", device_of(p));
    r.alloc.bytes = span(p) ? span(p) : 1;
    r.alloc.align = ALIGNMENT;
    r.alloc.kind = WIRE_OF_DEVICE;
    if (!ask(a, &r, -1, &reply)) return false;
    given->address[p->number] = reply.memory.address;
    given->mapped = a->memory >= 0 ? reply.memory.size : 0;
    return true;
}

// Between the array and a memory file of its buffer's. The host waits for it, or goes on.
static bool copy(Asking *a, const Part *p, enum wire_op op, int file, bool waits)
{
    WireReply reply;
    struct Store *store = p->arg->buffer->store;
    WireRequest r = request_of(op, waits ? "cudaMemcpy" : "cudaMemcpyAsync", device_of(p));
    uint64_t bytes = span(p);
    if (!bytes || p->given->pass == PASS_SCRATCH) return true;
    r.copy.device = (WireBox){ p->given->address[p->number], bytes, bytes };
    r.copy.from = (WireBox){ p->number * bytes, bytes, bytes };
    r.copy.width = bytes;
    r.copy.blocks = waits;
    if (!ask(a, &r, file, &reply)) return false;
    for (int by = 0; op == WIRE_COPY_OUT && by < WRITERS; by++)
        store->written[by] += reply.written.words[by];
    return true;
}

static bool is_host(const Arg *a) { return a->kind == ARG_HOST || a->kind == ARG_PINNED; }

static WireRequest request_of_host(enum wire_op op, const Buffer *b)
{
    WireRequest r = request_of(op, "", 0);
    r.copy.from.address = b->store->guard;
    r.copy.width = buffer_bytes(b);
    return r;
}

// What the host is given, where it is also to have the answer.
static bool tell_given(Asking *a, uint32_t argc, const Arg *argv)
{
    bool wanted = false, first = true;
    if (!a->session->reports || a->session->owner < 0) return true;
    for (uint32_t i = 0; i < argc; i++)
        wanted |= is_host(&argv[i]) && argv[i].buffer->store->output;
    for (uint32_t i = 0; i < argc && wanted; i++) {
        const Buffer *b = is_host(&argv[i]) ? argv[i].buffer : NULL;
        if (!b || b->store->output || !buffer_bytes(b)) continue;
        WireRequest r = request_of_host(WIRE_GIVEN, b);
        WireReply reply;
        r.copy.value = first;
        first = false;
        if (!ask(a, &r, b->store->given, &reply)) return false;
    }
    return true;
}

bool owned_compare(Session *s, const Buffer *b, uint64_t *hosts)
{
    Answer answer = { 0 };
    Asking a = { s, &answer, STAGE_COPY, OUTCOME_ANSWER, -1 };
    WireReply reply;
    WireRequest r = request_of_host(WIRE_COMPARED, b);
    int file = s->reports && s->owner >= 0 && r.copy.width ? buffer_file(b) : -1;
    if (file < 0) return false;
    bool good = ask(&a, &r, file, &reply);
    close(file);
    if (good) *hosts = reply.written.words[WRITER_HOST];
    return good;
}

enum outcome owned_give(Session *s, Request *request, const Arg *argv, int *fds, size_t *fd_count,
                        Answer *answer)
{
    Asking a = { s, answer, STAGE_PREPARE, OUTCOME_ANSWER, -1 };
    if (!tell_given(&a, request->argc, argv)) return a.outcome;
    for (uint32_t i = 0; i < request->argc; i++) {
        RequestArg *given = &request->arg[i];
        for (uint32_t n = 0; owned(s, &argv[i]) && n < given->parts; n++) {
            Part p = { &argv[i], given, n };
            if (!allocate(&a, &p, given)) return a.outcome;
            if (given->mapped) fds[(*fd_count)++] = a.memory;
            if (!copy(&a, &p, WIRE_COPY_IN, argv[i].buffer->store->given, !is_spread(&p)))
                return a.outcome;
        }
    }
    return OUTCOME_ANSWER;
}

void owned_sent(const int *fds, size_t before, size_t fd_count)
{
    for (size_t i = before; i < fd_count; i++) close(fds[i]);
}

enum outcome owned_range(Session *s, bool begins, Answer *answer)
{
    Asking a = { s, answer, STAGE_PREPARE, OUTCOME_ANSWER, -1 };
    WireReply reply;
    WireRequest r = request_of(WIRE_RANGE_OF_PROFILE, "cudaProfilerStart", 0);
    r.object.id = begins;
    if (s->events.ranged) ask(&a, &r, -1, &reply);
    return a.outcome;
}

static bool take_part(Asking *a, const Part *p)
{
    int file = p->arg->buffer->store->returned;
    return copy(a, p, WIRE_COPY_OUT, file, true)
        && (!is_spread(p) || p->given->writable || copy(a, p, WIRE_COPY_IN, file, false));
}

static bool take_all(Asking *a, const Request *request, const Arg *argv)
{
    for (uint32_t n = 0; n < PROTOCOL_PARTS; n++)
        for (uint32_t i = 0; i < request->argc; i++) {
            Part p = { &argv[i], &request->arg[i],
                       request->last_first ? PROTOCOL_PARTS - 1 - n : n };
            if (owned(a->session, p.arg) && p.number < p.given->parts && !take_part(a, &p))
                return false;
        }
    return true;
}

// On a GPU the worker has waited already, and another process cannot wait for its work.
static bool synchronize(Asking *a)
{
    WireReply reply;
    for (int d = 0; a->session->reports && d < run_devices(); d++) {
        WireRequest r = request_of(WIRE_DEVICE_SYNC, "cudaDeviceSynchronize", (uint32_t)d);
        if (!ask(a, &r, -1, &reply)) return false;
    }
    return true;
}

enum outcome owned_take(Session *s, const Request *request, const Arg *argv, Answer *answer)
{
    bool several = false;
    for (uint32_t i = 0; i < request->argc; i++) several |= argv[i].kind == ARG_SPREAD;
    Asking a = { s, answer, STAGE_SYNCHRONIZE, OUTCOME_ANSWER, -1 };
    bool good = several ? take_all(&a, request, argv) && synchronize(&a) : synchronize(&a);
    a.stage = STAGE_COPY;
    if (good && !several) take_all(&a, request, argv);
    return a.outcome;
}

enum outcome owned_free(Session *s, const Request *request, const Arg *argv, Answer *answer)
{
    Asking a = { s, answer, STAGE_COPY, OUTCOME_ANSWER, -1 };
    WireReply reply;
    for (uint32_t i = 0; i < request->argc; i++)
        for (uint32_t n = 0; owned(s, &argv[i]) && n < request->arg[i].parts; n++) {
            WireRequest r = request_of(WIRE_FREE, "cudaFree", argv[i].kind == ARG_SPREAD ? n : 0);
            r.pointer.address = request->arg[i].address[n];
            r.pointer.kind = WIRE_OF_DEVICE;
            if (!ask(&a, &r, -1, &reply)) return a.outcome;
        }
    return OUTCOME_ANSWER;
}
