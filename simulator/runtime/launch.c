// Launches before and after they run: whether the configuration is valid, whether the program
// checked the error, and what the kernels printed.

#include "streams/clock.h"
#include "machine/cluster.h"
#include "machine/grid.h"
#include "memory/memory.h"
#include "memory/writer.h"
#include "machine/occupancy.h"
#include "machine/print.h"
#include "machine/profile.h"
#include "machine.h"
#include "serve.h"
#include "program/source.h"
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PRINTED = 1 << 30 };
_Static_assert((int)MOST_CLUSTER_BLOCKS == WIRE_CLUSTER_BLOCKS && (int)MOST_DEVICES == WIRE_DEVICES,
               "the program's side counts on as many");

// A launch that was refused, with what its configuration was and might have been.
typedef struct Refused {
    bool pending, looked_at;
    bool destroyed;        // its stream, by
    ReportOther destroyer; // this call
    u64 unwritten;         // uses of undefined values that were reported before it
    int error;
    char kernel[256];
    Place place;
    Launch launch; // its configuration; the kernel may be gone
    u64 dynamic_shared;
    u64 dynamic_limit; // without static_shared
    u32 max_threads, static_shared, registers, resident;
} Refused;

static Refused unchecked; // the first whose error was not checked, or else the last that was

static struct {
    char *text;
    size_t bytes;
} printed[WIRE_PRINTED_TO]; // by kernels; the program has not fetched it yet

// ---- Launches ----

// Multiplies the grid, which is given in clusters, by the cluster's size; at most to more blocks
// than any grid may have.
static void count_blocks(Launch *launch)
{
    for (u32 n = 0; n < 3; n++) {
        u64 blocks = (u64)launch->grid[n] * launch->kernel->cluster[n];
        launch->grid[n] = blocks > grid_most_blocks[n] ? UINT32_MAX : (u32)blocks;
    }
}

Launch launch_of(const Call *call)
{
    const WireRequest *request = &call->request;
    Launch launch = { .kernel = launch_kernel_of(request->launch.kernel),
                      .params = call->tail,
                      .dynamic_shared = (u32)request->launch.dynamic_shared,
                      .device = request->device,
                      .limit = device.limit,
                      .cooperative = request->launch.cooperative,
                      .reaches_all = request->launch.reaches_all };
    memcpy(launch.grid, request->launch.grid, sizeof launch.grid);
    memcpy(launch.block, request->launch.block, sizeof launch.block);
    memcpy(launch.cluster, request->launch.cluster, sizeof launch.cluster);
    if (launch.kernel && launch.kernel->grid_in_clusters) count_blocks(&launch);
    return launch;
}

static int refuse_kernel(const Call *call, const Kernel *kernel)
{
    Report report = { .cause = CAUSE_kernel_unsupported,
                      .kernel = kernel->signature,
                      .place = serve_place(call),
                      .detail = kernel->unsupported };
    Place at = source_of(kernel, kernel->unsupported_at);
    if (at.file && at.line) report.place = at;
    report_error(&report);
    return WIRE_NOT_SUPPORTED;
}

static int check(Call *call)
{
    const WireRequest *request = &call->request;
    Launch launch = launch_of(call);
    if (!launch.kernel || launch.kernel->module->device != request->device
        || !clock_stream_known(request->stream)
        || clock_stream_device(request->stream) != request->device)
        return WIRE_INVALID_RESOURCE_HANDLE;
    if (launch.kernel->unsupported) return refuse_kernel(call, launch.kernel);
    if (call->tail_bytes != launch.kernel->param_bytes) return WIRE_INVALID_VALUE;
    if (request->launch.dynamic_shared > request->launch.dynamic_limit
        || request->launch.dynamic_shared > UINT32_MAX)
        return WIRE_INVALID_VALUE;
    int error = grid_check(&launch);
    u32 most = request->launch.cluster_limit, asked = launch.kernel->max_cluster;
    if (asked && asked < most) most = asked;
    return error                                               ? error
         : launch.cluster[0] && cluster_blocks(&launch) > most ? WIRE_INVALID_CLUSTER_SIZE
                                                               : 0;
}

// The cause for which the configuration was refused.
static enum report_cause cause_of_refusal(const Refused *r, u64 threads)
{
    const u32 *grid = r->launch.grid;
    if (r->destroyed) return CAUSE_launch_on_destroyed_stream;
    if (!threads || !grid[0] || !grid[1] || !grid[2]) return CAUSE_launch_of_nothing;
    if (grid[0] > INT32_MAX) return CAUSE_launch_too_many_in_x;
    if (grid[1] > 65535) return CAUSE_launch_too_many_in_y;
    if (grid[2] > 65535) return CAUSE_launch_too_many_in_z;
    if (threads > r->max_threads) return CAUSE_launch_block_too_large;
    if (r->launch.block[2] > 64) return CAUSE_launch_block_too_deep;
    if (r->error == WIRE_LAUNCH_OUT_OF_RESOURCES) return CAUSE_launch_registers_too_many;
    if (r->error == WIRE_COOPERATIVE_LAUNCH_TOO_LARGE) return CAUSE_launch_cooperative_too_large;
    if (r->error == WIRE_INVALID_CLUSTER_SIZE) return CAUSE_launch_cluster_size;
    return r->dynamic_shared + r->static_shared > (u64)profile.shared_per_block
             ? CAUSE_launch_shared_too_large
             : CAUSE_launch_refused;
}

static void add_limits(ReportNumber *more, const Refused *r, enum report_cause cause)
{
    const u32 *cluster = r->launch.cluster;
    s64 fixed = r->static_shared;
    switch (cause) {
    case CAUSE_launch_block_too_large:
        more[0] = (ReportNumber){ "most_threads", r->max_threads };
        break;
    case CAUSE_launch_registers_too_many:
        more[0] = (ReportNumber){ "registers", r->registers };
        break;
    case CAUSE_launch_shared_too_large:
        more[0] = (ReportNumber){ "shared_bytes", (s64)r->dynamic_shared + fixed };
        more[1] = (ReportNumber){ "most_shared", (s64)r->dynamic_limit + fixed };
        more[2] = (ReportNumber){ "most_of_any", profile.shared_per_block_optin };
        break;
    case CAUSE_launch_cooperative_too_large:
        more[0] = (ReportNumber){ "resident", r->resident };
        break;
    case CAUSE_launch_cluster_size:
        for (u32 n = 0; n < 3; n++)
            more[n] = (ReportNumber){ (const char *[]){ "cluster_x", "cluster_y", "cluster_z" }[n],
                                      cluster[n] };
        break;
    default: break;
    }
}

// Reports the launch. `fate`: the consequence that makes it an error; NULL: it is reported as
// refused, or as a note to a person.
static void tell_refused(const Refused *r, const char *fate, bool note)
{
    const u32 *grid = r->launch.grid, *block = r->launch.block;
    u64 threads = (u64)block[0] * block[1] * block[2];
    Report report = { .cause = cause_of_refusal(r, threads),
                      .kernel = r->kernel,
                      .place = r->place,
                      .note = note,
                      .has_other = r->destroyed,
                      .other = r->destroyer,
                      .number = { { "grid_x", grid[0] },
                                  { "grid_y", grid[1] },
                                  { "grid_z", grid[2] },
                                  { "block_x", block[0] },
                                  { "block_y", block[1] },
                                  { "block_z", block[2] },
                                  { "threads", (s64)threads },
                                  { "error", r->error },
                                  { fate, 1 },
                                  { r->looked_at || note ? NULL : "unchecked", 1 } } };
    add_limits(&report.number[10], r, report.cause);
    if (fate || note) report_error(&report);
    else report_refused(&report, r->error);
}

static Refused refused_by(const Call *call, const Kernel *kernel)
{
    Refused r = { .unwritten = report_count(REPORT_UNINITIALIZED),
                  .error = call->reply.error,
                  .place = serve_place(call),
                  .launch = launch_of(call),
                  .dynamic_shared = call->request.launch.dynamic_shared,
                  .dynamic_limit = call->request.launch.dynamic_limit,
                  .max_threads = kernel->max_threads,
                  .static_shared = kernel->shared_bytes,
                  .registers = kernel->hardware_registers };
    r.destroyed = !clock_stream_known(call->request.stream)
               && handle_destroyer(WIRE_HANDLE_STREAM, call->request.stream, &r.destroyer);
    snprintf(r.kernel, sizeof r.kernel, "%s", kernel->signature);
    if (r.error == WIRE_COOPERATIVE_LAUNCH_TOO_LARGE) r.resident = occupancy_resident(&r.launch);
    return r;
}

// Why a launch was refused is told once: to who gets the error from the call, at once; to who asks
// for it, then.
static void note_refused(const Call *call)
{
    const Kernel *kernel = launch_kernel_of(call->request.launch.kernel);
    if (!kernel || kernel->unsupported) return; // which has been said
    Refused r = refused_by(call, kernel);
    if (!call->request.launch.unchecked) {
        tell_refused(&r, NULL, true);
    } else if (!unchecked.pending || unchecked.looked_at) {
        unchecked = r;
        unchecked.pending = true;
        tell_refused(&r, NULL, false);
    }
}

void launch_check(Call *call)
{
    call->reply.error = check(call);
    if (call->reply.error) note_refused(call);
    else if (unchecked.looked_at) unchecked.pending = false; // the program went on
}

void launch_checked(Call *call)
{
    (void)call;
    if (unchecked.pending && !unchecked.looked_at) tell_refused(&unchecked, NULL, true);
    unchecked.looked_at = true;
}

static bool ends_within(int pidfd, int ms)
{
    struct pollfd watched = { .fd = pidfd, .events = POLLIN };
    return poll(&watched, 1, ms) > 0;
}

// A program that checked the error and then exited with a status other than 0 ended because of the
// error. A process that is not the program, but was started by it, is in a shell or a sandbox: the
// program ends soon after it, with its status, or with 128 and the number of the signal that killed
// it.
static bool ended_by_it(void)
{
    enum { SOON_MS = 10000, SIGNALS = 128 };
    if (device.client == device.program) return machine->ended == MACHINE_EXITED && machine->status;
    if (!device.leaving && !ends_within(device.pidfd, 0)) return false;
    if (!ends_within(device.program_pidfd, SOON_MS)) return false;
    while (machine->ended == MACHINE_RUNS) usleep(100);
    return machine->ended == MACHINE_EXITED && machine->status && machine->status <= SIGNALS;
}

// A program that checked the error, went on, and used undefined values probably used what this
// kernel should have written.
static bool was_missed(void) { return report_count(REPORT_UNINITIALIZED) > unchecked.unwritten; }

void launch_unchecked(bool orderly)
{
    if (!unchecked.pending) return;
    unchecked.pending = false;
    if (!unchecked.looked_at && orderly) tell_refused(&unchecked, "unasked", false);
    if (!unchecked.looked_at) return;
    if (ended_by_it()) tell_refused(&unchecked, "ended", false);
    else if (orderly && was_missed()) tell_refused(&unchecked, "went_on", false);
}

// ---- What kernels print ----

static void gather(enum wire_printed to)
{
    size_t bytes;
    char *text = print_take(to, &bytes);
    char *larger = text ? realloc(printed[to].text, printed[to].bytes + bytes) : NULL;
    if (larger) printed[to].text = larger;
    if (larger && bytes < MOST_PRINTED - printed[to].bytes) {
        memcpy(larger + printed[to].bytes, text, bytes);
        printed[to].bytes += bytes;
    }
    free(text);
}

void launch_gather_printed(void)
{
    for (int to = 0; to < WIRE_PRINTED_TO; to++) gather(to);
}

u32 launch_has_printed(void)
{
    u32 has = 0;
    for (int to = 0; to < WIRE_PRINTED_TO; to++) has |= (printed[to].bytes > 0) << to;
    return has;
}

void launch_printed(Call *call)
{
    u64 to = call->request.object.id;
    if (to >= WIRE_PRINTED_TO) return;
    size_t bytes = printed[to].bytes < WIRE_TAIL ? printed[to].bytes : WIRE_TAIL;
    memcpy(call->out, printed[to].text, bytes);
    memmove(printed[to].text, printed[to].text + bytes, printed[to].bytes - bytes);
    printed[to].bytes -= bytes;
    if (writers) report_crossing(CROSSING_PRINT, bytes);
    call->reply.tail = (u32)bytes;
    call->reply.printed = launch_has_printed();
}

void launch_print_rest(void)
{
    size_t *bytes = &printed[WIRE_PRINTED_OUT].bytes;
    if (!*bytes) return;
    Report report = { .cause = CAUSE_printed_in_vain, .bytes = *bytes };
    report_error(&report);
    *bytes = 0;
}
