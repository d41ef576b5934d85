// Requests and their replies, one at a time, and transfers through the slots of the staging area.

#define _GNU_SOURCE
#include "connection.h"
#include "address.h"
#include <assert.h>
#include <dirent.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// ---- What a request says of its caller ----

static __thread uint32_t current; // the calling thread's device
static __thread bool chosen;      // by cudaSetDevice
static uint32_t first_choice;     // of threads that have chosen none

uint32_t client_device(void) { return chosen ? current : first_choice; }

uint32_t client_use_device(uint32_t device)
{
    uint32_t before = client_device();
    current = device;
    chosen = true;
    return before;
}

void client_prefer_device(uint32_t device) { first_choice = device; }

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

// The call stack of the program: all frames after this library's. Frames before the library's first
// are of backtrace() itself, if AddressSanitizer wraps it.
static void find_callers(uint64_t *caller)
{
    void *frames[WIRE_CALLERS + 8];
    int count = backtrace(frames, WIRE_CALLERS + 8), kept = 0;
    bool inside = false;
    for (int i = 0; i < count && kept < WIRE_CALLERS; i++) {
        const char *frame = frames[i];
        if (frame >= __ehdr_start && frame < _end) inside = true;
        else if (inside) caller[kept++] = client_address(frame);
    }
}

__thread int client_within;

WireRequest client_request(enum wire_op op, const char *call)
{
    WireRequest request = {
        .version = WIRE_VERSION, .op = op, .device = client_device(), .within = client_within > 0
    };
    snprintf(request.call, sizeof request.call, "%s", call);
    find_callers(request.caller);
    return request;
}

// ---- Hooks ----

static ClientHooks *hooks;

void client_hook(ClientHooks *new)
{
    new->next = __atomic_load_n(&hooks, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&hooks, &new->next, new, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

static const ClientHooks *first_hooks(void) { return __atomic_load_n(&hooks, __ATOMIC_ACQUIRE); }

static bool is_forbidden(void)
{
    for (const ClientHooks *h = first_hooks(); h; h = h->next)
        if (h->forbids && h->forbids()) return true;
    return false;
}

static void call_before(const WireRequest *request)
{
    for (const ClientHooks *h = first_hooks(); h; h = h->next)
        if (h->before) h->before(request);
}

static void call_just_before(void)
{
    for (const ClientHooks *h = first_hooks(); h; h = h->next)
        if (h->just_before) h->just_before();
}

enum client_opening client_opens(const void *at, uint64_t *address)
{
    enum client_opening opening = CLIENT_NOT_GUARDED;
    for (const ClientHooks *h = first_hooks(); h && !opening; h = h->next)
        if (h->opens) opening = h->opens(at, address);
    return opening;
}

void client_closes(void)
{
    for (const ClientHooks *h = first_hooks(); h; h = h->next)
        if (h->closes) h->closes();
}

static int threads_asleep(void)
{
    int asleep = 0;
    for (const ClientHooks *h = first_hooks(); h; h = h->next)
        if (h->sleeps) asleep += h->sleeps();
    return asleep;
}

// ---- The device, once it is open ----

static int sticky;

// The connection is the parent's, so this is told without the device.
static cudaError_t is_forked(void)
{
    static bool said;
    if (!said)
        fputs("warpwise: this process was forked when its parent had called CUDA already, and\n"
              "          cannot call it. Fork first, or start the process with exec.\n",
              stderr);
    said = true;
    return cudaErrorInitializationError;
}

cudaError_t client_open(void)
{
    // A fork may have left the mutex locked by a thread that is not in this process.
    if (connection.owner && getpid() != connection.owner) return is_forked();
    if (is_forbidden()) return cudaErrorNotPermitted;
    pthread_mutex_lock(&connection.mutex);
    cudaError_t error = connection_open();
    pthread_mutex_unlock(&connection.mutex);
    return error;
}

static bool is_owner(void) { return connection.owner && getpid() == connection.owner; }

int client_memory(void) { return connection.memory; }

const WireFacts *client_facts(void) { return &connection.facts; }

cudaError_t client_sticky(void) { return sticky; }

bool client_are_devices(int a, int b)
{
    int count = connection.facts.device_count;
    return a >= 0 && b >= 0 && a < count && b < count;
}

cudaError_t client_check_devices(int a, int b)
{
    cudaError_t error = client_open();
    if (error || client_sticky()) return error ? error : client_sticky();
    return client_are_devices(a, b) ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t client_context(void)
{
    cudaError_t error = client_open();
    return error || client_sticky() != cudaErrorDevicesUnavailable ? error : client_sticky();
}

// ---- Requests without a reply ----

void client_tell(WireRequest *request, const void *tail, size_t bytes)
{
    assert(wire_row(request->op)->one_way);
    if (connection.socket >= 0 && (!connection.owner || is_owner()))
        connection_send(request, tail, bytes);
}

// The process ends by itself. In a forked child a mutex may stay locked for ever, so it does
// nothing. The request is sent without waiting, in case the process has sent more requests than the
// device can answer.
__attribute__((destructor)) static void leave(void)
{
    if (!is_owner()) return;
    call_just_before();
    WireRequest request = { .version = WIRE_VERSION, .op = WIRE_LEAVING };
    send(connection.socket, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// ---- Requests with a reply ----

// Every reply also brings the sticky error.
static void receive(WireReply *reply, void *out, size_t out_bytes)
{
    connection_receive(reply, out, out_bytes);
    if (reply->sticky) sticky = reply->sticky;
}

static void exchange(WireRequest *request, const void *tail, size_t bytes, WireReply *reply,
                     void *out, size_t out_bytes)
{
    if (!connection_send(request, tail, bytes)) connection_lost();
    receive(reply, out, out_bytes);
}

// The output of kernels goes to the program's stdout, between its own lines, when the program waits
// for the kernels; what failing assertions say goes to stderr.
static void show_prints(const WireReply *answer)
{
    static char text[WIRE_TAIL];
    WireReply reply = { .printed = answer->printed };
    while (reply.printed) {
        int to = __builtin_ctz(reply.printed);
        WireRequest request = { .version = WIRE_VERSION, .op = WIRE_PRINTED, .object.id = to };
        exchange(&request, NULL, 0, &reply, text, sizeof text);
        fwrite(text, 1, reply.tail <= sizeof text ? reply.tail : 0,
               to == WIRE_PRINTED_ERR ? stderr : stdout);
    }
}

// Asks which pages of pinned memory host code is kept from now.
static void take_guards(const WireReply *answer)
{
    static WireGuard guards[WIRE_TAIL / sizeof(WireGuard)];
    WireReply reply = { .guards = answer->guards };
    while (reply.guards) {
        WireRequest request = { .version = WIRE_VERSION, .op = WIRE_GUARDS };
        exchange(&request, NULL, 0, &reply, guards, sizeof guards);
        for (const ClientHooks *h = first_hooks(); h; h = h->next)
            if (h->guards) h->guards(guards, reply.tail / sizeof *guards);
    }
}

// The kernels for which a call waits make no progress. Another thread may make a call, or write
// memory, that lets them continue, so this pauses. True: no other thread can, or none has done so
// for a long time.
static bool wait_for_others(int tries)
{
    enum { MOST_TRIES = 10000, PAUSE_US = 1000 };
    static int waiting;
    int threads = 0, asleep = __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST) + threads_asleep();
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && readdir(tasks)) threads++;
    if (tasks) closedir(tasks);
    bool alone = threads - 2 <= asleep || tries >= MOST_TRIES; // 2: "." and ".."
    if (!alone) usleep(PAUSE_US);
    __atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    return alone;
}

cudaError_t client_call(WireRequest *request, const void *tail, size_t bytes, WireReply *reply,
                        void *out, size_t out_bytes)
{
    assert(!wire_row(request->op)->one_way && (!bytes || wire_row(request->op)->tail));
    cudaError_t error = client_open();
    if (error) return error;
    if (bytes > WIRE_TAIL) return cudaErrorInvalidValue;
    call_before(request);
    for (int tries = 0;; tries++) {
        pthread_mutex_lock(&connection.mutex);
        call_just_before();
        exchange(request, tail, bytes, reply, out, out_bytes);
        show_prints(reply);
        take_guards(reply);
        pthread_mutex_unlock(&connection.mutex);
        if (reply->error != WIRE_DEADLOCKED) return reply->error;
        request->alone = wait_for_others(tries);
    }
}

cudaError_t client_simple(WireRequest *request, WireReply *reply)
{
    return client_call(request, NULL, 0, reply, NULL, 0);
}

// ---- Transfers ----

static void *slot_address(uint32_t slot)
{
    return (char *)WIRE_STAGING + (size_t)slot * WIRE_SLOT_BYTES;
}

static WireChunk chunk_at(uint64_t index, uint64_t total)
{
    uint64_t offset = index * WIRE_SLOT_BYTES, left = total - offset;
    uint32_t bytes = left < WIRE_SLOT_BYTES ? (uint32_t)left : WIRE_SLOT_BYTES;
    return (WireChunk){ total, offset, bytes, (uint32_t)(index % WIRE_SLOTS) };
}

static void receive_chunk(uint64_t index, uint64_t total, client_chunk *drain, void *context,
                          WireReply *reply)
{
    receive(reply, NULL, 0);
    WireChunk chunk = chunk_at(index, total);
    if (drain && !reply->error) drain(context, slot_address(chunk.slot), chunk.offset, chunk.bytes);
}

// The first chunk is sent alone: if the device refuses it, nothing else is copied. After that as
// many chunks are under way as there are slots, so that both sides copy at the same time.
static cudaError_t transfer_locked(WireRequest *request, WireChunk *chunk, uint64_t total,
                                   client_chunk *fill, client_chunk *drain, void *context,
                                   WireReply *reply)
{
    uint64_t count = total ? (total - 1) / WIRE_SLOT_BYTES + 1 : 1, sent = 0, answered = 0;
    cudaError_t error = cudaSuccess;
    while (answered < sent || (sent < count && !error)) {
        uint64_t ahead = answered ? WIRE_SLOTS : 1;
        if (sent < count && !error && sent - answered < ahead) {
            *chunk = chunk_at(sent++, total);
            if (fill) fill(context, slot_address(chunk->slot), chunk->offset, chunk->bytes);
            if (!connection_send(request, NULL, 0)) connection_lost();
            continue;
        }
        receive_chunk(answered++, total, drain, context, reply);
        if (reply->error && !error) error = reply->error;
    }
    return error;
}

cudaError_t client_transfer(WireRequest *request, WireChunk *chunk, uint64_t total,
                            client_chunk *fill, client_chunk *drain, void *context,
                            WireReply *reply)
{
    cudaError_t error = client_open();
    if (error) return error;
    call_before(request);
    for (int tries = 0;; tries++) {
        pthread_mutex_lock(&connection.mutex);
        call_just_before();
        error = transfer_locked(request, chunk, total, fill, drain, context, reply);
        show_prints(reply);
        take_guards(reply);
        pthread_mutex_unlock(&connection.mutex);
        if (error != (cudaError_t)WIRE_DEADLOCKED) return error;
        request->alone = wait_for_others(tries);
    }
}
