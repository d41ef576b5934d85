// The request loop of a device process: receives a packet and replies, until the process has ended.

#define _GNU_SOURCE
#include "serve.h"
#include "streams/clock.h"
#include "ipc.h"
#include "machine.h"
#include "model/carried.h"
#include "model/flight.h"
#include "model/guard.h"
#include "model/managed.h"
#include "memory/memory.h"
#include "report/origin.h"
#include "pool.h"
#include "cost.h"
#include "trace.h"
#include "work.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

Device device = { .socket = -1, .owner = -1 };

_Static_assert((int)ORIGIN_CALLERS == (int)WIRE_CALLERS, "a request brings so many");

Place serve_place(const Call *call)
{
    Place place;
    origin_place(call->request.caller, ORIGIN_CALLERS, &place);
    return place;
}

void serve_dispatch(Call *call)
{
    static void (*const handlers[])(Call *) = {
#define REQUEST(name, handler, ...) [WIRE_##name] = handler,
#include "wire/wire.def"
    };
    handlers[call->request.op](call);
}

// ---- Answering ----

// Answers the request, whose earlier work is complete.
static void answer_in_turn(Call *call)
{
    static const int errors[] = {
        [WORK_NOT_READY] = WIRE_NOT_READY, [WORK_DEADLOCKED] = WIRE_DEADLOCKED
    };
    enum work_when when = work_when(call);
    if (device.sticky) call->reply.error = device.sticky;
    else if (when == WORK_NOW) serve_dispatch(call);
    else call->reply.error = errors[when];
}

static void answer_sticky(Call *call, enum wire_sticky sticky)
{
    switch (sticky) {
    case WIRE_STICKY_FAILS: call->reply.error = device.sticky; break;
    case WIRE_STICKY_ANSWERED: serve_dispatch(call); break;
    case WIRE_STICKY_RESETS: device.sticky = WIRE_DEVICES_UNAVAILABLE; break; // as on an H200
    }
}

// Ends the flights of which the host knows now. It may ask about one stream again and again until
// it sees what work of another has brought.
static void settle_flights(const Call *call)
{
    enum { MOST_QUESTIONS = 100 };
    static int questions;
    bool asks = wire_row(call->request.op)->then == WIRE_THEN_NOT_READY;
    if (device.sticky) flight_forget();
    flight_settle();
    questions = asks ? questions + 1 : 0;
    if (questions >= MOST_QUESTIONS) flight_land_all();
}

// ---- What the host learns without a copy ----

// Does the host ask until it is answered otherwise? Then the answer is the one before.
static bool is_answered_again(const Call *call)
{
    enum { QUESTIONS = 16 }; // that are remembered
    static struct {
        u64 stream, object;
        u32 op;
        s32 answer;
    } asked[QUESTIONS];
    static u32 oldest;
    const WireRequest *r = &call->request;
    u32 n = 0;
    while (n < QUESTIONS
           && (asked[n].op != r->op || asked[n].stream != r->stream
               || asked[n].object != r->object.id))
        n++;
    bool again = n < QUESTIONS && asked[n].answer == call->reply.error;
    if (n == QUESTIONS) {
        n = oldest;
        oldest = (oldest + 1) % QUESTIONS;
    }
    asked[n].stream = r->stream;
    asked[n].object = r->object.id;
    asked[n].op = r->op;
    asked[n].answer = call->reply.error;
    return again;
}

// Kernels say something by how long they take: a wait tells it, and an answer to a question, a byte
// each. Any program has a few of them, which say next to nothing.
static u32 told_by_answers; // since the owner has asked

static void tell_answer(const Call *call)
{
    enum { FEW = 16 };
    const WireRow *row = wire_row(call->request.op);
    bool asks = row->then == WIRE_THEN_NOT_READY;
    if (call->by_owner || (!asks && !wire_holds(row->waits, &call->request))) return;
    if (asks && is_answered_again(call)) return;
    if (++told_by_answers > FEW) report_crossing(CROSSING_PRINT, 1);
}

static void tell_crossings(void)
{
    transfer_tell_unfinished();
    report_crossings();
}

static void answer(Call *call)
{
    const WireRow *row = wire_row(call->request.op);
    if (row->one_way) {
        serve_dispatch(call);
        trace_call(call, false, 0);
        report_flush();
        return;
    }
    if (call->by_owner) {
        tell_crossings();
        told_by_answers = 0;
        trace_pause();
    }
    if (!row->unasked && (!device.late || !row->issues)) work_go_on();
    managed_settle();
    cost_admit(call);
    double began = cost_begin(call);
    if (device.sticky) answer_sticky(call, row->sticky);
    else answer_in_turn(call);
    tell_answer(call);
    if (wire_holds(row->waits, &call->request) || device.sticky) managed_waited(device.sticky);
    settle_flights(call);
    if (row->trims_pools) pool_synchronised();
    if (wire_holds(row->shows_prints, &call->request)) call->reply.printed = launch_has_printed();
    cost_end(call, began);
    report_flush(); // the events of all earlier work are written before the reply
    if (row->then == WIRE_THEN_RUN && !call->reply.error) work_launch(call);
    call->reply.guards = !call->by_owner && guard_is_news();
    if (carried_is_by_another()) tell_crossings();
    packet_send(call);
}

// Receives and answers one packet. False: there was none.
static bool serve_one(bool of_owner)
{
    static Call call;
    enum packet packet = packet_receive(&call, of_owner);
    if (packet == PACKET_REQUEST) {
        answer(&call);
    } else if (packet == PACKET_RUBBISH) { // the sender may wait for a reply
        call.request.op = WIRE_UNSUPPORTED;
        call.reply.error = WIRE_INVALID_VALUE;
        packet_send(&call);
    }
    return packet != PACKET_NONE;
}

// Makes the memfd of the slots and of all memory that the process and its devices share. Most of
// its pages are never used. It is sealed, so the program cannot shrink it while the device uses it.
static void share_memory(void)
{
    device.memory = memfd_create("warpwise-shared", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    if (device.memory < 0 || ftruncate(device.memory, (off_t)WIRE_FILE_BYTES) < 0
        || fcntl(device.memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        perror("simulator/run: cannot make the shared memory");
        exit(1);
    }
    device.staging = mmap((void *)WIRE_STAGING, WIRE_SLOTS_BYTES, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED_NOREPLACE, device.memory, 0);
    if (device.staging == MAP_FAILED || !memory_share(device.memory, WIRE_SLOTS_BYTES)) {
        perror("simulator/run: cannot map the shared memory");
        exit(1);
    }
}

// Is the process exiting? Its flags in /proc show that before its files are closed.
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

// The process has closed its end of the socket. If it is exiting, waits for its pidfd; otherwise it
// has closed the file, or executed another program.
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

// Did the process exit by itself? The machine knows how the program ended; another process says so
// itself (LEAVING).
static bool was_orderly(void)
{
    if (device.client != device.program || !has_ended(device.pidfd)) return device.leaving;
    while (machine->ended == MACHINE_RUNS) usleep(100);
    return machine->ended == MACHINE_EXITED;
}

// How long the process may make no request, in ms, before its kernels run: a program can wait for
// them without a request by polling memory that it shares with them.
static int poll_timeout(void)
{
    enum { QUIET_MS = 100, POLL_MS = 1 };
    const Allocation *a = work_is_left() || flight_waits() ? memory_first() : NULL;
    while (a && (a->freed || (a->kind != MEMORY_PINNED_HOST && a->kind != MEMORY_MANAGED)))
        a = a->next;
    return !a ? -1 : work_asks_host() ? POLL_MS : QUIET_MS;
}

bool serve(void)
{
    struct pollfd watched[] = { { .fd = device.socket, .events = POLLIN },
                                { .fd = device.pidfd, .events = POLLIN },
                                { .fd = device.program_pidfd, .events = POLLIN },
                                { .fd = device.owner, .events = POLLIN } };
    bool ended = device.pidfd < 0, closed = false;
    share_memory();
    clock_reset();
    origin_open(device.client);
    while (!ended && !closed) {
        int ready = poll(watched, 4, poll_timeout());
        if (ready < 0 && errno != EINTR) break;
        if (ready == 0) work_go_on_alone();
        if (ready == 0 && carried_is_by_another()) tell_crossings();
        ended = watched[1].revents || watched[2].revents;  // tested first: packets that were sent
        closed = watched[0].revents & (POLLHUP | POLLERR); // before are still read
        while (serve_one(false) || serve_one(true))
            ;
        if (watched[3].revents & (POLLHUP | POLLERR)) watched[3].fd = device.owner = -1;
    }
    if (closed && !ended) wait_for_end();
    return was_orderly();
}

void serve_end(bool orderly)
{
    if (!device.sticky) work_finish();
    if (carried_is_by_another()) tell_crossings();
    managed_settle();
    managed_waited(true);
    flight_forget();
    bool well = !device.sticky && !device.faulted;
    if (well) launch_unchecked(orderly);
    if (well && orderly) {
        launch_print_rest();
        transfer_leaks(ALL_DEVICES);
    }
    trace_pause();
    // Of a process that is in a shell or a sandbox the status is not known yet.
    if (!orderly || machine->status || device.client != device.program) trace_tell_sites();
    report_flush();
    transfer_free_all(ALL_DEVICES, NULL);
    memory_end();
    origin_close();
}
