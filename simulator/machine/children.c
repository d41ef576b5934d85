// A launch by a kernel takes two calls: one gives room for the parameters, to which the thread then stores them, the next
// launches. What a thread launches runs in that order, whatever its streams say, which is one of the orders that they
// allow; but to the stream cudaStreamTailLaunch, behind all the rest.
#include <driver_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "children.h"
#include "memory.h"
#include "report/source.h"

enum { FIRST_PENDING = 2048, TAIL_LAUNCH = 3, FIRST_STREAM = 0x100 };

// Room for parameters: the grid's until it has ended, then for others. Threads find their launch again by its address.
typedef struct Room {
    struct Room *next;
    Allocation *memory;
    Launch launch;
} Room;

struct Children {
    Room *rooms;
    Child *first, **last, *tail, **last_tail;
    u32 pending_tail, streams;
};

static Room *idle[MOST_DEVICES];
static u32 most[MOST_DEVICES];          // launches that wait for an end; 0: as many as at first

void children_set_most(u32 device, u32 count) { most[device] = count; }

static u32 most_of(u32 device) { return most[device] ? most[device] : FIRST_PENDING; }

// Each grid above this one waits for the end of what it has launched; what it has put at its tail waits for its own. All the
// rest begins while it runs, as on an H200, where a thread's 3,000 launches in a row find room for 2,048 that wait.
static bool is_full(const Grid *g, u32 depth)
{
    return depth + (g->children ? g->children->pending_tail : 0) > most_of(g->launch->device);
}

// On a launch by a kernel; the host is told cudaErrorInvalidValue.
static int check(const Launch *launch)
{
    int error = grid_check(launch);
    return error == cudaErrorInvalidValue ? cudaErrorInvalidConfiguration : error;
}

static void *need(void *memory)
{
    if (memory) return memory;
    fprintf(stderr, "simulator: no memory left for a launch by a kernel\n");
    exit(1);
}

static struct Children *children_of(Grid *g)
{
    if (g->children) return g->children;
    struct Children *c = g->children = need(calloc(1, sizeof *c));
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
        r->memory = need(memory_alloc(bytes < LEAST ? LEAST : bytes, LEAST, MEMORY_STRING, device, NULL));
    }
    r->next = children_of(g)->rooms;
    return g->children->rooms = r;
}

static u32 *last_error(Warp *w, u32 lane) { return &w->launch_error[lane]; }

static const u32 *numbers_at(const Warp *w, u32 row, u32 lane) { return (const u32 *)row_of(w, row) + 3 * lane; }

static void refuse(Warp *w, const Insn *i, u32 lane, const Kernel *k)
{
    Report r = { .kind = REPORT_UNSUPPORTED, .why = "Its PTX has something that this simulated device cannot run yet.",
                 .next = "Write that part in another way, or run it on a real device." };
    source_fill(&r, w, i, lane);
    report_errorf(&r, "a launch by a kernel: %s", k ? k->unsupported : "of what is no kernel");
    grid_fail(w->block->grid, cudaErrorNotSupported);
}

// __cudaCDP2GetParameterBufferV2(kernel, grid, block, shared): 0 where the launch is not possible.
void run_parameter_buffer(Warp *w, const Insn *i, u32 mask)
{
    Grid *g = w->block->grid;
    const u64 *kernel = row_of(w, i->a);
    const u32 *shared = row_of(w, i->vector[0]);
    u64 *result = row_of(w, i->d);
    for (; mask && !g->status; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        Kernel *k = module_kernel_at(g->kernel->module, kernel[lane]);
        if (!k || k->unsupported) {
            refuse(w, i, lane, k);
            return;
        }
        Launch launch = { .kernel = k, .dynamic_shared = shared[lane], .device = g->launch->device, .limit = g->launch->limit,
                          .depth = g->launch->depth + 1 };
        memcpy(launch.grid, numbers_at(w, i->b, lane), sizeof launch.grid);
        memcpy(launch.block, numbers_at(w, i->c, lane), sizeof launch.block);
        int error = is_full(g, launch.depth) ? cudaErrorLaunchPendingCountExceeded : check(&launch);
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

// ---- Launching ----

static int launch_lane(Grid *g, u64 buffer, u64 stream)
{
    struct Children *c = children_of(g);
    Room *r = c->rooms;
    while (r && r->memory->base != buffer) r = r->next;
    if (!r) return cudaErrorInvalidValue;
    bool tail = stream == TAIL_LAUNCH;
    if (tail && is_full(g, r->launch.depth)) return cudaErrorLaunchPendingCountExceeded;
    c->pending_tail += tail;
    Child *child = need(calloc(1, sizeof *child));
    child->launch = r->launch;
    child->params = need(malloc(r->launch.kernel->param_bytes + 1));
    memcpy(child->params, (const void *)r->memory->base, r->launch.kernel->param_bytes);
    Child ***last = tail ? &c->last_tail : &c->last;
    **last = child;
    *last = &child->next;
    return 0;
}

// __cudaCDP2LaunchDeviceV2(parameter buffer, stream)
void run_launch_device(Warp *w, const Insn *i, u32 mask)
{
    const u64 *buffer = row_of(w, i->a), *stream = row_of(w, i->b);
    u32 *result = row_of(w, i->d);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        result[lane] = (u32)launch_lane(w->block->grid, buffer[lane], stream[lane]);
        if (result[lane]) *last_error(w, lane) = result[lane];
    }
}

void run_peek_error(Warp *w, const Insn *i, u32 mask)
{
    u32 *result = row_of(w, i->d);
    for (; mask; mask &= mask - 1) result[__builtin_ctz(mask)] = *last_error(w, __builtin_ctz(mask));
}

void run_last_error(Warp *w, const Insn *i, u32 mask)
{
    run_peek_error(w, i, mask);
    for (; mask; mask &= mask - 1) *last_error(w, __builtin_ctz(mask)) = 0;
}

// ---- Streams, which have nothing to decide ----

// __cudaCDP2StreamCreateWithFlags(stream, flags)
void run_stream_create(Warp *w, const Insn *i, u32 mask)
{
    const u64 *to = row_of(w, i->a);
    const u32 *flags = row_of(w, i->b);
    u32 *result = row_of(w, i->d);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        u64 stream = FIRST_STREAM + children_of(w->block->grid)->streams++;
        bool good = flags[lane] == cudaStreamNonBlocking;      // as the guide says: no other kind
        for (u32 n = 0; n < sizeof stream && good; n++) {
            u8 *byte = lane_byte_at(w, lane, to[lane] + n);
            if (byte) *byte = (u8)(stream >> 8 * n);
            else good = false;
        }
        result[lane] = good ? 0 : cudaErrorInvalidValue;
        if (!good) *last_error(w, lane) = result[lane];
    }
}

void run_stream_destroy(Warp *w, const Insn *i, u32 mask)
{
    u32 *result = row_of(w, i->d);
    for (; mask; mask &= mask - 1) result[__builtin_ctz(mask)] = 0;
}

// ---- When the grid has ended ----

Child *children_take(Grid *g)
{
    struct Children *c = g->children;
    if (!c) return NULL;
    *c->last = c->tail;                 // c->first itself, where there is nothing else
    Child *first = c->first;
    c->first = c->tail = NULL;
    c->last = &c->first;
    c->last_tail = &c->tail;
    return first;
}

void children_drop(Grid *g)
{
    for (Child *next, *child = children_take(g); child; child = next) {
        next = child->next;
        free(child->params);
        free(child);
    }
    for (Room *next, *r = g->children ? g->children->rooms : NULL; r; r = next) {
        next = r->next;
        r->next = idle[g->launch->device];
        idle[g->launch->device] = r;
    }
    free(g->children);
    g->children = NULL;
}
