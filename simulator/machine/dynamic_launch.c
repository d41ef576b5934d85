// A launch by a kernel takes two calls: the first returns a buffer, into which the thread stores
// the parameters, and the second launches. A thread's launches run in the order of the calls,
// whatever their streams, which is one of the orders that streams allow. Launches to
// cudaStreamTailLaunch run after all others.
#include <driver_types.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "dynamic_launch.h"
#include "memory/memory.h"
#include "profile.h"
#include "source_fill.h"
#include "base/need.h"

enum { FIRST_PENDING = 2048, TAIL_LAUNCH = 3, FIRST_HANDLE = 0x100, MOST_PARAMETERS = 4096 };

// A parameter buffer: the grid's until it has ended, then reused. Its address tells which launch it
// belongs to.
typedef struct Room {
    struct Room *next;
    Allocation *memory;
    Launch launch;
} Room;

struct DynamicLaunches {
    Room *rooms;
    DynamicLaunch *first, **last, *tail, **last_tail;
    u32 pending_tail, handles;
};

static Room *idle[MOST_DEVICES];
static u32 limit[MOST_DEVICES]; // pending launches; 0: the default

void dynamic_launch_set_limit(u32 device, u32 count) { limit[device] = count; }

static u32 limit_of(u32 device) { return limit[device] ? limit[device] : FIRST_PENDING; }

// Each grid above this one waits for what it has launched, and a tail launch waits for the grid's
// end. Everything else begins while the grid runs, as on an H200, where 3,000 launches of a thread
// fit into 2,048 pending ones.
static bool is_full(const Grid *g, u32 depth)
{
    return depth + (g->dynamic_launches ? g->dynamic_launches->pending_tail : 0)
         > limit_of(g->launch->device);
}

// Checks a launch by a kernel. (The host would get cudaErrorInvalidValue.)
static int check(const Launch *launch)
{
    u64 shared = launch->kernel->shared_bytes + (u64)launch->dynamic_shared;
    int error =
        shared > (u64)profile.shared_per_block ? cudaErrorInvalidConfiguration : grid_check(launch);
    return error == cudaErrorInvalidValue ? cudaErrorInvalidConfiguration : error;
}

static struct DynamicLaunches *launches_of(Grid *g)
{
    if (g->dynamic_launches) return g->dynamic_launches;
    struct DynamicLaunches *c = g->dynamic_launches = need(calloc(1, sizeof *c));
    c->last = &c->first;
    c->last_tail = &c->tail;
    return c;
}

// ---- Room for parameters ----

static Room *take_room(Grid *g, u32 bytes)
{
    enum { LEAST = 256 };
    u32 device = g->launch->device;
    Room **at = &idle[device], *r;
    while (*at && (*at)->memory->size < bytes) at = &(*at)->next;
    if ((r = *at)) {
        *at = r->next;
    } else {
        r = need(calloc(1, sizeof *r));
        r->memory =
            need(memory_alloc(bytes < LEAST ? LEAST : bytes, LEAST, MEMORY_STRING, device, NULL));
    }
    r->next = launches_of(g)->rooms;
    return g->dynamic_launches->rooms = r;
}

static u32 *last_error(Warp *w, u32 lane)
{
    w->stack_used = true;
    return &w->launch_error[lane];
}

static const u32 *numbers_at(const Warp *w, u32 row, u32 lane)
{
    return (const u32 *)row_of(w, row) + 3 * lane;
}

static void refuse(Warp *w, const Insn *i, u32 lane, const Kernel *k)
{
    Report r = { .cause =
                     k ? CAUSE_launch_by_kernel_unsupported : CAUSE_launch_by_kernel_of_no_kernel,
                 .detail = k ? k->unsupported : NULL };
    source_fill(&r, w, i, lane);
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorNotSupported);
}

// Reads the lane's launch configuration from these register rows. Returns an error, or 0.
static int describe(const Warp *w, u32 lane, const Kernel *k, u32 grid, u32 block, u32 shared,
                    Launch *launch)
{
    const Launch *by = w->block->grid->launch;
    *launch = (Launch){ .kernel = (Kernel *)k,
                        .dynamic_shared = shared,
                        .device = by->device,
                        .limit = by->limit,
                        .depth = by->depth + 1 };
    memcpy(launch->grid, numbers_at(w, grid, lane), sizeof launch->grid);
    memcpy(launch->block, numbers_at(w, block, lane), sizeof launch->block);
    memcpy(launch->cluster, k->cluster, sizeof launch->cluster);
    return is_full(w->block->grid, launch->depth) ? cudaErrorLaunchPendingCountExceeded
                                                  : check(launch);
}

// The kernel that the lane names. NULL: it cannot be launched, and the grid has failed.
static Kernel *kernel_of(Warp *w, const Insn *i, u32 lane, u64 address)
{
    Kernel *k = module_kernel_at(w->block->grid->kernel->module, address);
    if (k && !k->unsupported) return k;
    refuse(w, i, lane, k);
    return NULL;
}

// __cudaCDP2GetParameterBufferV2(kernel, grid, block, shared): 0 where the launch is not possible.
void run_parameter_buffer(Warp *w, const Insn *i, u32 mask)
{
    Grid *g = w->block->grid;
    const u64 *kernel = row_of(w, i->a);
    const u32 *shared = row_of(w, i->vector[0]);
    u64 *result = row_of(w, i->d);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        Launch launch;
        Kernel *k = kernel_of(w, i, lane, kernel[lane]);
        if (!k) return;
        int error = describe(w, lane, k, i->b, i->c, shared[lane], &launch);
        result[lane] = 0;
        if (error) {
            *last_error(w, lane) = (u32)error;
            continue;
        }
        Room *r = take_room(g, k->param_bytes);
        r->launch = launch;
        result[lane] = r->memory->base;
    }
}

// __cudaCDP2GetParameterBuffer(alignment, bytes): for run_launch_kernel.
void run_plain_buffer(Warp *w, const Insn *i, u32 mask)
{
    const u64 *bytes = row_of(w, i->b);
    u64 *result = row_of(w, i->d);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        bool good = bytes[lane] <= MOST_PARAMETERS;
        result[lane] = good ? take_room(w->block->grid, (u32)bytes[lane])->memory->base : 0;
        if (!good) *last_error(w, lane) = cudaErrorInvalidValue;
    }
}

// ---- Launching ----

// Appends a copy of the launch to the grid's list.
static int add(Grid *g, const DynamicLaunch *what, u64 stream)
{
    struct DynamicLaunches *c = launches_of(g);
    bool tail = stream == TAIL_LAUNCH;
    if (tail && is_full(g, g->launch->depth + 1)) return cudaErrorLaunchPendingCountExceeded;
    c->pending_tail += tail;
    DynamicLaunch *child = need(malloc(sizeof *child));
    *child = *what;
    child->next = NULL;
    DynamicLaunch ***last = tail ? &c->last_tail : &c->last;
    **last = child;
    *last = &child->next;
    return 0;
}

static Room *room_at(Grid *g, u64 buffer)
{
    Room *r = launches_of(g)->rooms;
    while (r && r->memory->base != buffer) r = r->next;
    return r;
}

static int launch_room(Grid *g, const Room *r, const Launch *launch, u64 stream)
{
    u32 bytes = launch->kernel->param_bytes;
    if (bytes > r->memory->size) return cudaErrorInvalidValue;
    DynamicLaunch child = { .launch = *launch, .params = need(malloc(bytes + 1)) };
    memcpy(child.params, (const void *)r->memory->base, bytes);
    int error = add(g, &child, stream);
    if (error) free(child.params);
    return error;
}

// __cudaCDP2LaunchDeviceV2(parameter buffer, stream)
void run_launch_device(Warp *w, const Insn *i, u32 mask)
{
    const u64 *buffer = row_of(w, i->a), *stream = row_of(w, i->b);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        const Room *r = room_at(w->block->grid, buffer[lane]);
        bool good = r && r->launch.kernel;
        dynamic_launch_return(w, i, lane,
                              good ? launch_room(w->block->grid, r, &r->launch, stream[lane])
                                   : cudaErrorInvalidValue);
    }
}

// __cudaCDP2LaunchDevice(kernel, parameter buffer, grid, block, shared, stream)
void run_launch_kernel(Warp *w, const Insn *i, u32 mask)
{
    const u64 *kernel = row_of(w, i->a), *buffer = row_of(w, i->b),
              *stream = row_of(w, i->vector[2]);
    const u32 *shared = row_of(w, i->vector[1]);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        Launch launch;
        const Room *r = room_at(w->block->grid, buffer[lane]);
        const Kernel *k = kernel_of(w, i, lane, kernel[lane]);
        if (!k) return;
        int error = describe(w, lane, k, i->c, i->vector[0], shared[lane], &launch);
        if (!error)
            error =
                r ? launch_room(w->block->grid, r, &launch, stream[lane]) : cudaErrorInvalidValue;
        dynamic_launch_return(w, i, lane, error);
    }
}

void run_peek_error(Warp *w, const Insn *i, u32 mask)
{
    u32 *result = row_of(w, i->d);
    for (; mask; mask &= mask - 1)
        result[__builtin_ctz(mask)] = *last_error(w, __builtin_ctz(mask));
}

void run_last_error(Warp *w, const Insn *i, u32 mask)
{
    run_peek_error(w, i, mask);
    for (; mask; mask &= mask - 1) *last_error(w, __builtin_ctz(mask)) = 0;
}

// ---- Fills and copies ----

void dynamic_launch_return(Warp *w, const Insn *i, u32 lane, int error)
{
    ((u32 *)row_of(w, i->d))[lane] = (u32)error;
    if (error) *last_error(w, lane) = (u32)error;
}

static void add_bytes(Warp *w, const Insn *i, u32 lane, DynamicLaunch child, u64 stream)
{
    bool wide = child.rows > 1
             && (child.width > child.to_pitch || (child.from && child.width > child.from_pitch));
    bool nothing = !child.width || !child.rows;
    dynamic_launch_return(w, i, lane,
                          wide      ? cudaErrorInvalidValue
                          : nothing ? 0
                                    : add(w->block->grid, &child, stream));
}

// __cudaCDP2MemsetAsync(to, value, bytes, stream)
void run_fill_by_kernel(Warp *w, const Insn *i, u32 mask)
{
    const u64 *to = row_of(w, i->a), *bytes = row_of(w, i->c), *stream = row_of(w, i->vector[0]);
    const u32 *value = row_of(w, i->b);
    for (; mask; mask &= mask - 1) {
        u32 l = __builtin_ctz(mask);
        DynamicLaunch child = { .call = "cudaMemsetAsync in a kernel",
                                .to = to[l],
                                .width = bytes[l],
                                .rows = 1,
                                .value = value[l] };
        add_bytes(w, i, l, child, stream[l]);
    }
}

// __cudaCDP2Memset2DAsync(to, pitch, value, width, rows, stream)
void run_fill_2d_by_kernel(Warp *w, const Insn *i, u32 mask)
{
    const u64 *to = row_of(w, i->a), *pitch = row_of(w, i->b), *width = row_of(w, i->vector[0]),
              *rows = row_of(w, i->vector[1]), *stream = row_of(w, i->vector[2]);
    const u32 *value = row_of(w, i->c);
    for (; mask; mask &= mask - 1) {
        u32 l = __builtin_ctz(mask);
        DynamicLaunch child = { .call = "cudaMemset2DAsync in a kernel",
                                .to = to[l],
                                .to_pitch = pitch[l],
                                .width = width[l],
                                .rows = rows[l],
                                .value = value[l] };
        add_bytes(w, i, l, child, stream[l]);
    }
}

// __cudaCDP2MemcpyAsync(to, from, bytes, kind, stream)
void run_copy_by_kernel(Warp *w, const Insn *i, u32 mask)
{
    const u64 *to = row_of(w, i->a), *from = row_of(w, i->b), *bytes = row_of(w, i->c),
              *stream = row_of(w, i->vector[1]);
    const u32 *kind = row_of(w, i->vector[0]);
    for (; mask; mask &= mask - 1) {
        u32 l = __builtin_ctz(mask);
        DynamicLaunch child = { .call = "cudaMemcpyAsync in a kernel",
                                .to = to[l],
                                .from = from[l],
                                .width = bytes[l],
                                .rows = 1 };
        if (kind[l] == cudaMemcpyDeviceToDevice || kind[l] == cudaMemcpyDefault)
            add_bytes(w, i, l, child, stream[l]);
        else dynamic_launch_return(w, i, l, cudaErrorInvalidMemcpyDirection);
    }
}

// ---- Streams and events, which have nothing to decide: what is launched runs in that order ----

bool dynamic_launch_store(Warp *w, const Insn *i, u32 lane, u64 to, u64 value, u32 bytes)
{
    u8 values[LANES * VALUE_BYTES];
    u16 none[LANES] = { 0 };
    Access a;
    memset(&a, 0, offsetof(Access, address));
    a.warp = w, a.insn = i, a.mask = 1u << lane, a.store = true, a.bytes = bytes, a.values = values,
    a.undefined = none;
    for (u32 l = 0; l < LANES; l++) a.address[l] = to;
    a.space = access_generic(w, a.address, a.mask);
    memcpy(values + VALUE_BYTES * lane, &value, bytes);
    if (!access_allow(&a, NULL)) return false;
    memcpy(access_place(&a, lane), &value, bytes);
    return true;
}

// Makes a handle for each lane. Events must have the flag that the guide demands; streams may lack
// it.
static void create(Warp *w, const Insn *i, u32 mask, u32 only, bool or_none)
{
    const u64 *to = row_of(w, i->a);
    const u32 *flags = row_of(w, i->b);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        u64 handle = FIRST_HANDLE + launches_of(w->block->grid)->handles++;
        bool fits = flags[lane] == only || (or_none && !flags[lane]);
        bool good = fits && dynamic_launch_store(w, i, lane, to[lane], handle, sizeof handle);
        dynamic_launch_return(w, i, lane, good ? 0 : cudaErrorInvalidValue);
    }
}

// __cudaCDP2StreamCreateWithFlags(stream, flags), __cudaCDP2EventCreateWithFlags(event, flags)
void run_stream_create(Warp *w, const Insn *i, u32 mask)
{
    create(w, i, mask, cudaStreamNonBlocking, true);
}
void run_event_create(Warp *w, const Insn *i, u32 mask)
{
    create(w, i, mask, cudaEventDisableTiming, false);
}

// __cudaCDP2StreamDestroy(stream); EventRecord(event, stream), StreamWaitEvent(stream, event,
// flags), EventDestroy(event)
void run_stream_or_event(Warp *w, const Insn *i, u32 mask)
{
    for (; mask; mask &= mask - 1) dynamic_launch_return(w, i, __builtin_ctz(mask), 0);
}

// ---- When the grid has ended ----

DynamicLaunch *dynamic_launches_take(Grid *g)
{
    struct DynamicLaunches *c = g->dynamic_launches;
    if (!c) return NULL;
    *c->last = c->tail; // c->first, if there is nothing else
    DynamicLaunch *first = c->first;
    c->first = c->tail = NULL;
    c->last = &c->first;
    c->last_tail = &c->tail;
    return first;
}

void dynamic_launches_drop(Grid *g)
{
    for (DynamicLaunch *next, *child = dynamic_launches_take(g); child; child = next) {
        next = child->next;
        free(child->params);
        free(child);
    }
    for (Room *next, *r = g->dynamic_launches ? g->dynamic_launches->rooms : NULL; r; r = next) {
        next = r->next;
        r->next = idle[g->launch->device];
        idle[g->launch->device] = r;
    }
    free(g->dynamic_launches);
    g->dynamic_launches = NULL;
}
