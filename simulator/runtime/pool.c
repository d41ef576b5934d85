// Memory pools. A pool keeps freed memory, up to its threshold, for later allocations. Only the
// byte counts behave so here: every allocation has new addresses, so that a use after the free is
// recognised. Uses of memory that is allocated and freed in stream order are checked against stream
// order: a use must come after the allocation and before the free.

#include "pool.h"
#include "streams/clock.h"
#include "memory/memory.h"
#include "streams/pooled.h"
#include <driver_types.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POOLS = 1024, ALIGN = 256 };
static const u64 FIRST_POOL = 0x4000000,
                 CHUNK = 32 << 20; // what a pool takes from the device at a time

typedef struct {
    bool used;
    u32 device;
    u64 largest; // bytes; 0: as many as the device has
    u64 threshold;
    u64 in_use, most_in_use, reserved, most_reserved;
    u64 reuse[3]; // the reuse flags, which have no effect
    u32 access;   // bit d: device d may access it
} Pool;

static Pool pools[MOST_POOLS];       // the first MOST_DEVICES are default pools
static Pool of_graphs[MOST_DEVICES]; // the pools of graphs
static u64 of_launch[MOST_DEVICES];  // bytes that the current graph launch has allocated
static u64 launches;
static u32 chosen[MOST_DEVICES]; // the current pool of each device: an index into `pools`
static bool ready;

// An allocation of a pool. Allocation.pooled points to its first member.
typedef struct Piece {
    Pooled pooled;
    Pool *pool;
    u64 chunks;       // bytes of the chunks that the device has provided for a graph's allocation
    bool has_chunks;  // it holds these chunks now
    u64 launch, from; // the graph launch, and the bytes that others had allocated before in it
} Piece;

static Piece *piece_of(const Allocation *a) { return (Piece *)a->pooled; }

static void give(Allocation *a, Piece *piece, Pool *pool, u64 made)
{
    *piece = (Piece){ .pooled = { .made = made, .access = &pool->access }, .pool = pool };
    a->pooled = &piece->pooled;
}

static void begin_pool(u32 i, u32 device)
{
    pools[i] =
        (Pool){ .used = true, .device = device, .reuse = { 1, 1, 1 }, .access = 1u << device };
}

static void make_ready(void)
{
    for (u32 d = 0; d < MOST_DEVICES && !ready; d++) {
        begin_pool(d, d);
        of_graphs[d] = (Pool){ .used = true, .device = d, .access = 1u << d };
        chosen[d] = d;
    }
    ready = true;
}

// The pool with that id; 0: the device's current pool.
static Pool *pool_of(u64 id, u32 device)
{
    make_ready();
    if (!id) return &pools[chosen[device]];
    if (id == WIRE_GRAPH_POOL) return &of_graphs[device];
    u64 index = id - FIRST_POOL;
    return index < MOST_POOLS && pools[index].used ? &pools[index] : NULL;
}

static u64 id_of(const Pool *pool) { return FIRST_POOL + (u64)(pool - pools); }

void pool_reset(u32 device)
{
    for (u32 i = MOST_DEVICES; i < MOST_POOLS; i++)
        if (pools[i].device == device) pools[i] = (Pool){ 0 };
    begin_pool(device, device);
    of_graphs[device] = (Pool){ .used = true, .device = device, .access = 1u << device };
    chosen[device] = device;
}

// ---- Accounts ----

static u64 later(u64 a, u64 b) { return a > b ? a : b; }

static u64 whole_chunks(u64 bytes) { return (bytes + CHUNK - 1) / CHUNK * CHUNK; }

static void keep(Pool *pool, u64 bytes)
{
    u64 wanted = whole_chunks(later(pool->in_use, bytes));
    if (pool->reserved > wanted) pool->reserved = wanted;
}

static void take(Pool *pool, u64 bytes)
{
    pool->in_use += bytes;
    pool->most_in_use = later(pool->most_in_use, pool->in_use);
    pool->reserved = later(pool->reserved, whole_chunks(pool->in_use));
    pool->most_reserved = later(pool->most_reserved, pool->reserved);
}

void pool_synchronised(void)
{
    for (u32 i = 0; i < MOST_POOLS; i++)
        if (pools[i].used && pools[i].reserved > pools[i].threshold)
            keep(&pools[i], pools[i].threshold);
}

u64 pool_idle(u32 device)
{
    u64 idle = 0;
    for (u32 i = 0; i < MOST_POOLS; i++)
        if (pools[i].used && pools[i].device == device) idle += pools[i].reserved - pools[i].in_use;
    idle += of_graphs[device].reserved - of_graphs[device].in_use;
    return idle;
}

void pool_freed(const Allocation *a)
{
    if (!a->pooled) return;
    Pool *pool = piece_of(a)->pool;
    if (pool != &of_graphs[a->device]) // graphs keep their chunks until they are trimmed
        pool->in_use -= a->size;
    order_free(&a->pooled->uses);
}

// ---- Requests about pools ----

void pool_create(Call *call)
{
    u32 i = MOST_DEVICES;
    make_ready();
    while (i < MOST_POOLS && pools[i].used) i++;
    if (i == MOST_POOLS) {
        call->reply.error = WIRE_MEMORY_ALLOCATION;
        return;
    }
    begin_pool(i, call->request.device);
    pools[i].largest = whole_chunks(call->request.pool.bytes);
    call->reply.id = id_of(&pools[i]);
}

static Pool *known(Call *call)
{
    Pool *pool = pool_of(call->request.pool.id, call->request.device);
    if (!pool) handle_no_pool(call, call->request.pool.id);
    return pool;
}

void pool_destroy(Call *call)
{
    Pool *pool = known(call);
    if (!pool) return;
    if (pool < pools + MOST_DEVICES) { // a default pool cannot be destroyed
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    if (chosen[pool->device] == pool - pools) chosen[pool->device] = pool->device;
    pool->used = false; // its allocations stay valid
    handle_destroyed(call, WIRE_HANDLE_POOL, call->request.pool.id);
}

void pool_find(Call *call)
{
    u32 device = call->request.device;
    make_ready();
    call->reply.id = id_of(&pools[call->request.pool.id ? device : chosen[device]]);
}

void pool_choose(Call *call)
{
    Pool *pool = known(call);
    if (pool && pool->device != call->request.device) call->reply.error = WIRE_INVALID_VALUE;
    else if (pool) chosen[pool->device] = (u32)(pool - pools);
}

static u64 *attribute_of(Pool *pool, u32 attribute)
{
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        return &pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
    case cudaMemPoolAttrReleaseThreshold: return &pool->threshold;
    case cudaMemPoolAttrReservedMemCurrent: return &pool->reserved;
    case cudaMemPoolAttrReservedMemHigh: return &pool->most_reserved;
    case cudaMemPoolAttrUsedMemCurrent: return &pool->in_use;
    case cudaMemPoolAttrUsedMemHigh: return &pool->most_in_use;
    }
    return NULL;
}

// A high watermark can only be set to 0, which resets it to the current value. The current values
// cannot be set.
static bool set_attribute(Pool *pool, u32 attribute, u64 value)
{
    switch (attribute) {
    case cudaMemPoolAttrReservedMemHigh: pool->most_reserved = pool->reserved; return value == 0;
    case cudaMemPoolAttrUsedMemHigh: pool->most_in_use = pool->in_use; return value == 0;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: return false;
    }
    *attribute_of(pool, attribute) = value;
    return true;
}

void pool_attribute(Call *call)
{
    const WireRequest *request = &call->request;
    Pool *pool = known(call);
    if (!pool) return;
    u64 *attribute = attribute_of(pool, request->pool.attribute);
    if (!attribute
        || (request->pool.set
            && !set_attribute(pool, request->pool.attribute, request->pool.bytes)))
        call->reply.error = WIRE_INVALID_VALUE;
    else call->reply.pool.value = *attribute;
}

// Does the allocation share a chunk with a current allocation?
static bool is_shared(const Allocation *a)
{
    const Piece *p = piece_of(a);
    for (const Allocation *b = memory_first(); b; b = b->next) {
        const Piece *q = piece_of(b);
        if (q && !b->freed && q->has_chunks && q->pool == p->pool && q->launch == p->launch
            && p->from / CHUNK <= (q->from + b->size - 1) / CHUNK
            && q->from / CHUNK <= (p->from + a->size - 1) / CHUNK)
            return true;
    }
    return false;
}

// Returns to the device the chunks of graphs that contain no current allocation.
static void trim_graphs(Pool *pool)
{
    for (const Allocation *a = memory_first(); a; a = a->next)
        if (a->pooled && piece_of(a)->pool == pool && a->freed && piece_of(a)->has_chunks
            && !is_shared(a)) {
            pool->in_use -= piece_of(a)->chunks;
            piece_of(a)->has_chunks = false;
        }
}

void pool_trim(Call *call)
{
    Pool *pool = known(call);
    if (pool && call->request.pool.id == WIRE_GRAPH_POOL) trim_graphs(pool);
    if (pool) keep(pool, call->request.pool.bytes);
}

// Reads or sets whether a device may access the pool's memory.
void pool_access(Call *call)
{
    const WireRequest *request = &call->request;
    Pool *pool = known(call);
    u32 of = request->pool.attribute;
    if (!pool) return;
    if (of >= device.count || (request->pool.set && of == pool->device && !request->pool.bytes)) {
        call->reply.error = WIRE_INVALID_DEVICE;
        return;
    }
    if (request->pool.set)
        pool->access = (pool->access & ~(1u << of)) | (u32)(request->pool.bytes != 0) << of;
    call->reply.pool.value = pool->access >> of & 1;
}

// ---- Allocating and freeing ----

// Reserves an address for memory that is allocated later.
void pool_reserve(Call *call)
{
    Piece *piece = calloc(1, sizeof *piece);
    Allocation *a = piece && call->request.pool.bytes
                      ? memory_alloc(call->request.pool.bytes, ALIGN, MEMORY_DEVICE,
                                     call->request.device, call->request.caller)
                      : NULL;
    if (!a) {
        free(piece);
        call->reply.error = call->request.pool.bytes ? WIRE_MEMORY_ALLOCATION : WIRE_INVALID_VALUE;
        return;
    }
    give(a, piece, pool_of(WIRE_GRAPH_POOL, call->request.device), 0);
    memory_free(a->base, NULL);
    call->reply.memory.address = a->base;
    call->reply.memory.size = a->size;
}

// Allocations of one graph share chunks; each graph has its own chunks.
static void take_chunks(Allocation *a)
{
    u64 *had = &of_launch[a->device];
    Piece *piece = piece_of(a);
    if (piece->has_chunks) return;
    piece->chunks = whole_chunks(*had + a->size) - whole_chunks(*had);
    piece->has_chunks = true;
    piece->launch = launches;
    piece->from = *had;
    *had += a->size;
    take(piece->pool, piece->chunks);
}

void pool_graph_begins(u32 device)
{
    of_launch[device] = 0;
    launches++;
}

// Allocates the memory at a reserved address, at each launch of the graph.
void pool_again(Call *call)
{
    if (!handle_stream(call, call->request.stream)) return;
    Allocation *a = memory_find(call->request.pool.bytes);
    if (!a || !a->freed || a->base != call->request.pool.bytes || !a->pooled
        || piece_of(a)->pool != &of_graphs[a->device]) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    if (!memory_revive(a, call->request.caller)) {
        call->reply.error = WIRE_MEMORY_ALLOCATION;
        return;
    }
    a->pooled->made = clock_operation(call->request.stream);
    take_chunks(a);
}

void pool_alloc(Call *call)
{
    const WireRequest *request = &call->request;
    if (!handle_stream(call, request->stream)) return;
    Pool *pool = pool_of(request->pool.id, clock_stream_device(request->stream));
    if (!pool) handle_no_pool(call, request->pool.id);
    else if (!request->pool.bytes) call->reply.error = WIRE_INVALID_VALUE;
    if (call->reply.error) return;
    u64 bytes = request->pool.bytes;
    bool fits = !pool->largest || bytes <= pool->largest - pool->in_use;
    Piece *piece = fits ? calloc(1, sizeof *piece) : NULL;
    Allocation *a =
        piece ? memory_alloc(bytes, ALIGN, MEMORY_DEVICE, pool->device, request->caller) : NULL;
    if (!a) {
        free(piece);
        refusal_full(call, bytes, pool->device, false);
        return;
    }
    give(a, piece, pool, clock_operation(request->stream));
    take(pool, bytes);
    call->reply.memory.address = a->base;
    call->reply.memory.size = a->size;
}

static void report_early(const Call *call, const Allocation *a, enum report_cause cause)
{
    Report report = { .cause = cause,
                      .place = serve_place(call),
                      .call = call->request.call,
                      .address = a->base,
                      .allocation = a };
    report_error(&report);
}

void pool_free(Call *call)
{
    const WireRequest *request = &call->request;
    Allocation *a = memory_find(request->pool.bytes);
    if (!handle_stream(call, request->stream)) {
        if (a && a->base == request->pool.bytes) a->free_failed = true;
        return;
    }
    if (!a || a->freed || a->base != request->pool.bytes
        || (!a->pooled && a->kind != MEMORY_DEVICE)) {
        transfer_bad_free(call, request->pool.bytes);
        return;
    }
    u64 operation = clock_operation(request->stream);
    if (a->pooled && !clock_ordered(a->pooled->made, operation))
        report_early(call, a, CAUSE_freed_before_allocation);
    else if (a->pooled && !clock_after(operation, &a->pooled->uses))
        report_early(call, a, CAUSE_freed_before_last_use);
    memory_free(a->base, request->caller);
    pool_freed(a);
}
