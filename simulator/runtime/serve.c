// The device's request loop: one packet in, one packet out, until the program has ended.

#define _GNU_SOURCE
#include "serve.h"
#include "machine/call.h"
#include "streams/clock.h"
#include "machine/children.h"
#include "machine/heap.h"
#include "ipc.h"
#include "machine.h"
#include "model/managed.h"
#include "machine/condition.h"
#include "memory/memory.h"
#include "machine/print.h"
#include "report/origin.h"
#include "report/timeline.h"
#include "pool.h"
#include "cost.h"
#include "streams/peer.h"
#include "ran.h"
#include "work.h"
#include "machine/profile.h"
#include <driver_types.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

Device device = { .socket = -1 };


_Static_assert((int)ORIGIN_CALLERS == (int)WIRE_CALLERS, "a request brings so many");

Place serve_place(const Call *call)
{
    Place place;
    origin_place(call->request.caller, ORIGIN_CALLERS, &place);
    return place;
}

// ---- Small requests ----

static void answer_hello(Call *call)
{
    call->reply.error = visible_choose(call->request.object.id ? call->tail : NULL);
    WireFacts facts = {
        .device_count = (int32_t)device.count,
        .major = profile.major,
        .minor = profile.minor,
        .sm_count = profile.sm_count,
        .threads_per_sm = profile.max_threads_per_sm,
        .blocks_per_sm = profile.max_blocks_per_sm,
        .registers_per_sm = profile.registers_per_sm,
        .shared_per_sm = profile.shared_per_sm,
        .shared_per_block = profile.shared_per_block,
        .shared_per_block_optin = profile.shared_per_block_optin,
        .shared_reserved = profile.shared_reserved_per_block,
        .l2_bytes = profile.l2_bytes,
        .memory_bus_bits = profile.memory_bus_bits,
        .clock_khz = (int32_t)(profile.clock_hz / 1e3),
        .memory_clock_khz = (int32_t)(profile.memory_clock_hz / 1e3),
        .memory_bytes = profile.memory_bytes,
    };
    memcpy(facts.name, profile.name, sizeof facts.name);
    for (u32 d = 0; d < device.count; d++) facts.number[d] = (uint8_t)device.number[d];
    memcpy(call->out, &facts, sizeof facts);
    call->reply.tail = sizeof facts;
}

static void answer_graph(Call *call)
{
    u64 stream = call->request.stream;
    if (!clock_stream_known(stream)) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return;
    }
    pool_graph_begins(clock_stream_device(stream));
    double ns = (profile.graph_seconds - profile.graph_kernel_seconds) * 1e9;
    clock_work(stream, ENGINE_NONE, 1, ns, false);
    ran_work(stream, "graph", "begin of a graph", ns, 0);
}

static void answer_host_function(Call *call)
{
    u64 stream = call->request.stream;
    if (!clock_stream_known(stream)) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return;
    }
    clock_operation(stream);
    clock_work(stream, ENGINE_NONE, 1, profile.host_function_seconds * 1e9, false);
    ran_work(stream, "host function", "host function", profile.host_function_seconds * 1e9, 0);
    managed_waited(true); // the function may use what earlier kernels wrote
}

static void answer_sync(Call *call)
{
    if (call->request.object.id) clock_wait_device(call->request.device);
    else if (clock_stream_known(call->request.stream)) clock_wait_stream(call->request.stream);
    else call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
}

static void answer_stream_facts(Call *call)
{
    if (!clock_stream_known(call->request.stream)) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return;
    }
    StreamFacts facts = clock_stream_facts(call->request.stream);
    call->reply.stream.number = facts.number;
    call->reply.stream.device = facts.device;
    call->reply.stream.flags = facts.non_blocking;
    call->reply.stream.priority = facts.priority;
}

static void answer_condition(Call *call)
{
    u32 what = call->request.condition.what, *value = NULL;
    if (what == WIRE_CONDITION_MAKE) {
        call->reply.id = condition_make();
        return;
    }
    value = condition_at(call->request.condition.id);
    if (!value) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    if (what == WIRE_CONDITION_SET) *value = call->request.condition.value;
    call->reply.id = *value;
}

static void answer_query(Call *call)
{
    u64 event = call->request.object.id, stream = call->request.stream;
    if (event ? !clock_event_known(event) : !clock_stream_known(stream))
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
    else if (event ? !clock_event_done(event) : !clock_stream_done(stream))
        call->reply.error = WIRE_NOT_READY;
}

static void answer_elapsed(Call *call)
{
    static const int errors[] = {
        [ELAPSED_NOT_READY] = WIRE_NOT_READY, [ELAPSED_WRONG] = WIRE_INVALID_RESOURCE_HANDLE
    };
    const WireRequest *r = &call->request;
    call->reply.error = errors[clock_event_elapsed(r->elapsed.from, r->elapsed.to,
                                                   &call->reply.elapsed.milliseconds)];
}

static void handle_or(Call *call, bool good)
{
    if (!good) call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
}

static void created(Call *call, u64 id)
{
    call->reply.id = id;
    if (!id) call->reply.error = WIRE_MEMORY_ALLOCATION;
}

static void answer_misuse(Call *call)
{
    char *why = strchr(call->tail, '\n'), *next = why ? strchr(why + 1, '\n') : NULL;
    if (!next) return;
    *why++ = *next++ = 0;
    Report report = { .kind = REPORT_API,
                      .place = serve_place(call),
                      .message = call->tail,
                      .why = why,
                      .next = next };
    report_error(&report);
}

static void answer_unsupported(Call *call)
{
    Report report = { .kind = REPORT_UNSUPPORTED,
                      .place = serve_place(call),
                      .why = "It returns cudaErrorNotSupported and does nothing.",
                      .next = "Do without it here, or run the program on a real device." };
    report_errorf(&report, "%s is not supported by the simulated device", call->tail);
}

static void answer_peer(Call *call)
{
    u32 from = call->request.device, to = call->request.peer.other;
    if (to >= device.count || to == from) call->reply.error = WIRE_INVALID_DEVICE;
    else if (call->request.peer.enable)
        call->reply.error = peer_enable(from, to) ? 0 : WIRE_PEER_ALREADY_ENABLED;
    else call->reply.error = peer_disable(from, to) ? 0 : WIRE_PEER_NOT_ENABLED;
}

static void answer_limit(Call *call)
{
    u64 value = call->request.limit.value;
    u32 of = call->request.device;
    switch (call->request.limit.limit) {
    case cudaLimitStackSize:
        clock_wait_device(of);
        call_set_stack(of, value);
        break;
    case cudaLimitPrintfFifoSize: call->reply.error = print_used() ? WIRE_INVALID_VALUE : 0; break;
    case cudaLimitDevRuntimePendingLaunchCount:
        children_set_most(of, (u32)(value < UINT32_MAX ? value : UINT32_MAX));
        break;
    case cudaLimitMallocHeapSize:
        call->reply.error = heap_set_limit(of, value) ? 0 : WIRE_INVALID_VALUE;
        break;
    }
}

static void answer_range(const Call *call)
{
    if (!timeline_is_on()) return;
    work_finish();
    report_range(call->request.object.id, clock_all_end() - clock_now());
}

static void answer_reset(Call *call)
{
    u32 of = call->request.device;
    launch_unchecked();
    transfer_leaks(of);
    transfer_free_all(of, call->request.caller);
    clock_reset_device(of);
    peer_reset(of);
    pool_reset(of);
}

void serve_dispatch(Call *call)
{
    const WireRequest *r = &call->request;
    switch ((enum wire_op)r->op) {
    case WIRE_FAULT: transfer_fault(call); break;
    case WIRE_CHECKED: launch_checked(); break;
    case WIRE_TOUCHED: transfer_touched(call); break;
    case WIRE_HELLO: answer_hello(call); break;
    case WIRE_MODULE: launch_module(call); break;
    case WIRE_MODULE_UNLOAD: launch_module_unload(call); break;
    case WIRE_KERNEL: launch_kernel(call); break;
    case WIRE_KERNEL_NAME: launch_kernel_name(call); break;
    case WIRE_VARIABLE: launch_variable(call); break;
    case WIRE_OCCUPANCY: launch_occupancy(call); break;
    case WIRE_ALLOC: transfer_alloc(call); break;
    case WIRE_FREE: transfer_free(call); break;
    case WIRE_POOL_CREATE: pool_create(call); break;
    case WIRE_POOL_DESTROY: pool_destroy(call); break;
    case WIRE_POOL_FIND: pool_find(call); break;
    case WIRE_POOL_CHOOSE: pool_choose(call); break;
    case WIRE_POOL_ATTRIBUTE: pool_attribute(call); break;
    case WIRE_POOL_ACCESS: pool_access(call); break;
    case WIRE_POOL_TRIM: pool_trim(call); break;
    case WIRE_POOL_ALLOC: pool_alloc(call); break;
    case WIRE_POOL_FREE: pool_free(call); break;
    case WIRE_COPY_IN: transfer_copy_in(call); break;
    case WIRE_COPY_OUT: transfer_copy_out(call); break;
    case WIRE_COPY_DEVICE: transfer_copy_device(call); break;
    case WIRE_COPY_HOST: transfer_copy_host(call); break;
    case WIRE_FILL: transfer_fill(call); break;
    case WIRE_GRAPH: answer_graph(call); break;
    case WIRE_CONDITION: answer_condition(call); break;
    case WIRE_HOST_FUNCTION: answer_host_function(call); break;
    case WIRE_SYNC: answer_sync(call); break;
    case WIRE_STREAM_CREATE:
        created(call, clock_stream_create(r->device, r->create.flags & 1, r->create.priority));
        break;
    case WIRE_STREAM_FACTS: answer_stream_facts(call); break;
    case WIRE_STREAM_PRIORITY:
        handle_or(call, clock_stream_set_priority(r->stream, r->create.priority));
        break;
    case WIRE_QUERY: answer_query(call); break;
    case WIRE_STREAM_DESTROY: handle_or(call, clock_stream_destroy(r->object.id)); break;
    case WIRE_STREAM_WAIT:
        handle_or(call, clock_stream_wait_event(r->stream, r->event.event));
        if (!call->reply.error) ran_event(r->stream, "waits for an event", r->event.event);
        break;
    case WIRE_EVENT_CREATE:
        created(call, clock_event_create(r->device, !(r->event.flags & 2), r->event.flags & 4));
        break;
    case WIRE_EVENT_DESTROY: handle_or(call, clock_event_destroy(r->object.id)); break;
    case WIRE_EVENT_RECORD:
        handle_or(call, clock_event_record(r->event.event, r->stream));
        if (!call->reply.error) ran_event(r->stream, "event", r->event.event);
        break;
    case WIRE_EVENT_SYNC: handle_or(call, clock_event_wait(r->object.id)); break;
    case WIRE_EVENT_ELAPSED: answer_elapsed(call); break;
    case WIRE_MEMORY_INFO: transfer_memory_info(call); break;
    case WIRE_POINTER: transfer_pointer(call); break;
    case WIRE_PREFETCH: transfer_prefetch(call); break;
    case WIRE_DISCARD: transfer_discard(call); break;
    case WIRE_ADVISE: transfer_advise(call); break;
    case WIRE_RANGE: transfer_range(call); break;
    case WIRE_PRINTED: launch_printed(call); break;
    case WIRE_PEER: answer_peer(call); break;
    case WIRE_LIMIT: answer_limit(call); break;
    case WIRE_IPC_EXPORT: ipc_export_memory(call); break;
    case WIRE_IPC_IMPORT: ipc_import_memory(call); break;
    case WIRE_IPC_CLOSE: ipc_close_memory(call); break;
    case WIRE_IPC_EXPORT_EVENT: ipc_export_event(call); break;
    case WIRE_IPC_IMPORT_EVENT: ipc_import_event(call); break;
    case WIRE_RANGE_OF_PROFILE: answer_range(call); break;
    case WIRE_RESET: answer_reset(call); break;
    case WIRE_MISUSE: answer_misuse(call); break;
    case WIRE_UNSUPPORTED: answer_unsupported(call); break;
    case WIRE_LEAVING: device.leaving = true; break;
    case WIRE_NCCL:
    case WIRE_SETTLE:
    case WIRE_LOADED:
    case WIRE_CONNECT:
    case WIRE_LAUNCH:
    case WIRE_OPERATION_COUNT: break;
    }
}

// ---- Answering ----

// Calls at whose end the program sees what kernels have printed.
static bool shows_prints(const Call *call)
{
    switch ((enum wire_op)call->request.op) {
    case WIRE_SYNC:
    case WIRE_EVENT_SYNC:
    case WIRE_RESET:
    case WIRE_HOST_FUNCTION: return true;
    case WIRE_COPY_IN:
    case WIRE_COPY_OUT:
    case WIRE_COPY_DEVICE:
    case WIRE_FILL: return call->request.copy.blocks;
    default: return false;
    }
}

// Calls that the program may wait in, so that work is over for it.
static bool waits(const Call *call) { return shows_prints(call) || call->request.op == WIRE_FREE; }

static bool survives_sticky(u32 op)
{
    return op == WIRE_PRINTED || op == WIRE_HELLO || op == WIRE_MISUSE || op == WIRE_UNSUPPORTED;
}

// More work, and neither asks nor waits for what was issued before.
static bool issues(u32 op)
{
    return op == WIRE_LAUNCH || op == WIRE_COPY_DEVICE || op == WIRE_FILL || op == WIRE_EVENT_RECORD
        || op == WIRE_STREAM_WAIT || op == WIRE_MODULE || op == WIRE_KERNEL
        || op == WIRE_STREAM_FACTS;
}

// Behind the work that it comes behind.
static void answer_in_turn(Call *call)
{
    enum work_when when = work_when(call);
    if (device.sticky) call->reply.error = device.sticky;
    else if (when == WORK_NOW) serve_dispatch(call);
    else if (when == WORK_NOT_READY) call->reply.error = WIRE_NOT_READY;
    else if (when == WORK_STANDS) call->reply.error = WIRE_STANDS;
}

static void answer(Call *call)
{
    u32 op = call->request.op;
    if (op < WIRE_FIRST_ANSWERED) {
        serve_dispatch(call);
        report_flush();
        return;
    }
    if (!device.late || !issues(op)) work_go_on();
    managed_settle();
    bool launched = false;
    double began = cost_begin(call);
    if (device.sticky && op == WIRE_RESET)
        device.sticky = WIRE_DEVICES_UNAVAILABLE; // from now on, as on an H200
    else if (device.sticky && (op == WIRE_POINTER || op == WIRE_POOL_FIND))
        serve_dispatch(call); // which need no context
    else if (device.sticky && !survives_sticky(op)) call->reply.error = device.sticky;
    else if (op == WIRE_LAUNCH) launched = launch_check(call) && !call->request.launch.only_checked;
    else answer_in_turn(call);
    if (waits(call) || device.sticky) managed_waited(device.sticky);
    if (op == WIRE_SYNC || op == WIRE_EVENT_SYNC) pool_synchronised();
    if (shows_prints(call)) call->reply.printed = launch_has_printed();
    cost_end(call, began);
    report_flush(); // the answer comes after the events of all earlier work
    packet_send(call);
    if (launched) work_launch(call);
}

// Answers one packet. False: there was none.
static bool serve_one(void)
{
    static Call call;
    enum packet packet = packet_receive(&call);
    if (packet == PACKET_REQUEST) {
        answer(&call);
    } else if (packet == PACKET_RUBBISH) { // its sender waits for an answer in vain otherwise
        call.request.op = WIRE_UNSUPPORTED;
        call.reply.error = WIRE_INVALID_VALUE;
        packet_send(&call);
    }
    return packet != PACKET_NONE;
}

// The memfd of the slots and of all memory that the process and its devices share, most of which
// never comes to be. Nobody can make it shorter under our hands.
static void share_memory(void)
{
    device.memory = memfd_create("warpwise-shared", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    if (device.memory < 0 || ftruncate(device.memory, (off_t)WIRE_FILE_BYTES) < 0
        || fcntl(device.memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        perror("simulator: cannot make the shared memory");
        exit(1);
    }
    device.staging = mmap((void *)WIRE_STAGING, WIRE_SLOTS_BYTES, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED_NOREPLACE, device.memory, 0);
    if (device.staging == MAP_FAILED || !memory_share(device.memory, WIRE_SLOTS_BYTES)) {
        perror("simulator: cannot map the shared memory");
        exit(1);
    }
}

// Is the process on its way out? That shows before its files are closed.
static bool is_ending(pid_t process)
{
    enum { PF_EXITING = 4 };
    char path[64];
    unsigned flags = PF_EXITING;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    if (!file) return true;
    int found = fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %u", &flags);
    fclose(file);
    return found != 1 || flags & PF_EXITING;
}

// Its end of the socket is closed: it is ending, which its pidfd will tell, or it has closed its
// files, or become another program.
static void wait_for_end(void)
{
    struct pollfd watched[] = { { .fd = device.pidfd, .events = POLLIN },
                                { .fd = device.program_pidfd, .events = POLLIN } };
    if (!is_ending(device.client)) return;
    while (poll(watched, 2, -1) < 0 && errno == EINTR)
        ;
}

static bool has_ended(int pidfd)
{
    struct pollfd watched = { .fd = pidfd, .events = POLLIN };
    return poll(&watched, 1, 0) > 0;
}

// How the program died the machine knows; of other processes nobody does but they themselves.
static bool was_orderly(void)
{
    if (device.client != device.program || !has_ended(device.pidfd)) return device.leaving;
    while (machine->ended == MACHINE_RUNS) usleep(100);
    return machine->ended == MACHINE_EXITED;
}

// How long it may ask for nothing, in ms, until kernels run all the same: only one that reads what
// they write to memory that it shares with them can wait for them without asking.
static int patience(void)
{
    enum { QUIET_MS = 100, POLL_MS = 1 };
    const Allocation *a = work_is_left() ? memory_first() : NULL;
    while (a && (a->freed || (a->kind != MEMORY_PINNED_HOST && a->kind != MEMORY_MANAGED)))
        a = a->next;
    return !a ? -1 : work_asks_host() ? POLL_MS : QUIET_MS;
}

bool serve(void)
{
    struct pollfd watched[] = { { .fd = device.socket, .events = POLLIN },
                                { .fd = device.pidfd, .events = POLLIN },
                                { .fd = device.program_pidfd, .events = POLLIN } };
    bool ended = device.pidfd < 0, closed = false;
    share_memory();
    clock_reset();
    origin_open(device.client);
    while (!ended && !closed) {
        int ready = poll(watched, 3, patience());
        if (ready < 0 && errno != EINTR) break;
        if (ready == 0) work_go_on();
        ended = watched[1].revents || watched[2].revents;  // looked at first: what it sent
        closed = watched[0].revents & (POLLHUP | POLLERR); // before is still read
        while (serve_one())
            ;
    }
    if (closed && !ended) wait_for_end();
    return was_orderly();
}

void serve_end(bool orderly)
{
    if (!device.sticky) work_finish();
    managed_settle();
    managed_waited(true);
    if (orderly && !device.sticky && !device.faulted) {
        launch_unchecked();
        launch_print_rest();
        transfer_leaks(ALL_DEVICES);
    }
    report_flush();
    transfer_free_all(ALL_DEVICES, NULL);
    memory_end();
    origin_close();
}
