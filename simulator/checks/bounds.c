// Bounds, alignment and lifetime of the memory that a kernel touches. A bad access ends the grid as
// on hardware; the report says which thread made it and which allocation it missed.
#include <driver_types.h>
#include <stdio.h>
#include <string.h>

#include "machine/cluster.h"
#include "memory/memory.h"
#include "machine/observer.h"
#include "machine/pointer.h"
#include "machine/profile.h"
#include "streams/peer.h"
#include "streams/pooled.h"
#include "machine/source_fill.h"
#include "undefined_marks.h"

// Most accesses go to recently used allocations, so each megabyte's latest allocation is cached.
enum { RECENT = 64, MEGABYTE = 1 << 20 };
static _Thread_local const Allocation *recent[RECENT];
static _Thread_local u32 recent_turn; // the turn of a grid to which the cache belongs
static u32 turn;

static void report_too_early(const Access *a, const Allocation *in)
{
    Report r = { .cause = CAUSE_kernel_uses_before_allocation, .allocation = in };
    source_fill_access(&r, a, 1u << a->first);
    report_error(&r);
}

static bool may_reach(const Launch *l, const Allocation *a)
{
    return l->reaches_all || peer_reaches(l->device, a);
}

// The live allocation at the address that the kernel may touch: of its own device, or of a peer.
static const Allocation *live_at(const Access *access, u64 address)
{
    const Grid *g = access->warp->block->grid;
    if (recent_turn != turn) memset(recent, 0, sizeof recent), recent_turn = turn;
    const Allocation **r = &recent[address / MEGABYTE % RECENT], *a = *r;
    if (a && !a->freed && address - a->base < a->size) return a;
    a = memory_find(address);
    if (!a || a->freed || !may_reach(g->launch, a)) return NULL;
    if (g->shard && !pooled_has_use(a, g->launch->operation)) shard_abort((Grid *)g);
    else if (!pooled_use(a, g->launch->operation)) report_too_early(access, a);
    return *r = a;
}

// The piece of shared, local or parameter memory in which an address must lie. False: the space is
// global memory, which consists of allocations.
static bool window_at(const Access *a, u64 address, u64 *base, u64 *size)
{
    const Block *b = a->owner;
    *base = 0;
    if (a->space == SPACE_LOCAL) *size = b->grid->kernel->local_bytes;
    else if (a->space != SPACE_SHARED) return false;
    else if (address < b->reserved_at) *size = b->shared_bytes;
    else *base = b->reserved_at, *size = b->shared_span - b->reserved_at;
    return true;
}

static bool lane_inside(const Access *a, u32 lane)
{
    u64 base, size, address = a->address[lane];
    if (!window_at(a, address, &base, &size)) {
        const Allocation *in = live_at(a, address);
        if (!in) return false;
        base = in->base, size = in->size;
    }
    return address - base < size && a->bytes <= size - (address - base);
}

// Sets the access's pass to where its lowest and its highest span stay in this piece.
static void set_pass(Access *a, u64 base, u64 size)
{
    u64 first = a->address[a->first], low = first, high = first;
    for (const Span *s = a->span; s < a->span + a->span_count; s++) {
        if (s->address < low) low = s->address;
        if (s->address + s->bytes > high) high = s->address + s->bytes;
    }
    a->pass_from = base + (first - low);
    a->pass_to = base + size - (high - first) + 1;
}

// Checks both ends of each span: if they are inside one allocation, so is everything between.
static bool ends_inside(Access *a)
{
    const Allocation *in = NULL;
    u64 base, size;
    if (window_at(a, a->address[a->first], &base, &size)) {
    } else if ((in = live_at(a, a->address[a->first]))) base = in->base, size = in->size;
    else return false;
    for (const Span *s = a->span; s < a->span + a->span_count; s++)
        if (s->address - base >= size || s->address - base + s->bytes > size) return false;
    if (!in || in->kind != MEMORY_HEAP) set_pass(a, base, size);
    return true;
}

// Within a span the lanes' addresses differ by multiples of their bytes.
static bool is_aligned(const Access *a)
{
    u64 beside = 0;
    for (const Span *s = a->span; s < a->span + a->span_count; s++)
        beside |= s->address & (a->bytes - 1);
    return !beside;
}

static u32 lanes_outside(const Access *a)
{
    u32 lanes = 0;
    for (u32 l = 0; l < LANES; l++)
        if (a->mask >> l & 1 && !lane_inside(a, l)) lanes |= 1u << l;
    return lanes;
}

static u32 lanes_misaligned(const Access *a)
{
    u32 lanes = 0;
    for (u32 l = 0; l < LANES; l++) lanes |= (u32)((a->address[l] & (a->bytes - 1)) != 0) << l;
    return lanes & a->mask;
}

static void report_foreign(Report *r, const Allocation *in)
{
    r->cause = in->kind == MEMORY_VARIABLE ? CAUSE_peers_variable : CAUSE_peer_not_enabled;
    r->allocation = in;
    report_error(r);
}

static bool has_rows(const Launch *launch)
{
    return launch->grid[1] != 1 || launch->block[1] != 1 || launch->grid[2] != 1
        || launch->block[2] != 1;
}

// The index that was used, and the thread's own number.
static s64 index_used(const Access *a, const Report *r, const Allocation *near)
{
    s64 offset = (s64)(r->address - near->base);
    return (offset - (offset < 0 ? a->bytes - 1 : 0)) / a->bytes;
}

static s64 own_number(const Access *a, const Report *r)
{
    return (s64)r->block[0] * a->warp->block->grid->launch->block[0] + r->thread[0];
}

// In a one-dimensional grid with elements as wide as the access: is the thread's own number a valid
// index? Then the fault is in the index computation of this line, and not in the number of threads.
static bool thread_is_inside(const Access *a, const Report *r, const Allocation *in)
{
    return ((u64)own_number(a, r) + 1) * a->bytes <= in->size;
}

// Is the index the thread's own number, or that plus a multiple of the grid's threads, as in a
// grid-stride loop?
static bool index_is_own(const Access *a, const Report *r, const Allocation *near)
{
    const Launch *launch = a->warp->block->grid->launch;
    s64 number = own_number(a, r), threads = (s64)launch->grid[0] * launch->block[0];
    s64 index = index_used(a, r, near);
    return (r->address - near->base) % a->bytes == 0 && index >= number
        && (index - number) % threads == 0;
}

// A 32-bit index that fell below 0 and was used unsigned, as blockIdx.x - 1 in block 0: the address
// is just under 2^32 elements past the array, which need not be the nearest one below the address.
static bool is_below_zero(u64 address, u32 bytes, const Allocation *near)
{
    u64 wrapped = (u64)bytes << 32, beyond = address - near->base;
    return address > near->base && beyond < wrapped && wrapped - beyond <= 64 << 20;
}

static bool is_neighbour(const Access *a, const Report *r, const Allocation *near)
{
    s64 away = index_used(a, r, near) - own_number(a, r);
    return away >= -LANES && away <= LANES;
}

static bool may_go_there(const Access *a)
{
    return a->insn->cluster || a->insn->space == SPACE_GENERIC;
}

// Another block's shared memory: does the block exist, and may the instruction access it?
static bool is_there(const Access *a)
{
    const Block *own = a->warp->block, *b = a->owner;
    if (b && b->occupied && may_go_there(a)) return true;
    Report r = { .cause = !b           ? CAUSE_no_such_rank
                        : !b->occupied ? CAUSE_remote_block_ended
                                       : CAUSE_not_own_shared_memory };
    source_fill_access(&r, a, a->mask);
    if (b) source_owner(&r, b);
    else {
        r.number[0] = (ReportNumber){ "rank", (s64)(a->address[a->first] / CLUSTER_WINDOW) };
        r.number[1] = (ReportNumber){ "cluster_blocks", own->grid->cluster_blocks };
    }
    report_error(&r);
    return false;
}

// An atomic of 1 or 2 bytes, as in cuda::atomic_ref<char>, loads and swaps the whole word around
// them. Is this the last word of an allocation, and incomplete?
static bool is_word_around(const Access *a, u64 at, u64 size)
{
    return a->bytes == 4 && a->insn->order >= ORDER_RELAXED && at < size && at + a->bytes > size;
}

// Does the address depend on a value that nothing wrote?
static bool is_undefined(const Access *a, const Report *r)
{
    u32 marks = a->warp->watch ? *mark(a->warp, a->insn->a) & a->mask : 0;
    for (; marks; marks &= marks - 1)
        if (a->address[__builtin_ctz(marks)] == r->address) return true;
    return false;
}

// Of shared or local memory, whose addresses have 32 bits.
static void report_outside_window(Report *r, const Access *a)
{
    bool shared = a->space == SPACE_SHARED;
    u32 size = shared ? a->owner->shared_bytes : a->warp->block->grid->kernel->local_bytes;
    s32 at = (s32)r->address;
    r->cause = is_undefined(a, r)               ? CAUSE_space_index_undefined
             : at < 0                           ? CAUSE_space_index_below_0
             : is_word_around(a, (u64)at, size) ? CAUSE_space_atomic_on_cut_word
                                                : CAUSE_space_index_too_large;
    r->number[0] = (ReportNumber){ "window_bytes", size };
    if (shared && a->owner != a->warp->block) source_owner(r, a->owner);
    report_error(r);
}

// What the index is wrong by, as far as the access, the thread and the allocation tell.
static enum report_cause cause_near(const Access *a, const Report *r, const Allocation *near)
{
    bool below = r->address < near->base;
    if (is_undefined(a, r)) return CAUSE_index_undefined;
    if (a->bytes > 4 && near->size % 4 == 0 && !below && r->address < near->base + near->size)
        return CAUSE_wide_access_past_end;
    if (is_below_zero(r->address, a->bytes, near)) return CAUSE_unsigned_index_below_0;
    if (!below && is_word_around(a, r->address - near->base, near->size))
        return CAUSE_atomic_on_cut_word;
    if (r->address > near->base && near->size % 2 && a->bytes > 1) return CAUSE_size_is_a_count;
    if (has_rows(a->warp->block->grid->launch))
        return below ? CAUSE_row_or_column_below_0 : CAUSE_row_or_column_too_large;
    if (thread_is_inside(a, r, near))
        return is_neighbour(a, r, near) ? CAUSE_neighbour_of_the_thread
                                        : CAUSE_index_of_a_good_thread;
    if (index_is_own(a, r, near)) return CAUSE_thread_too_many;
    return below ? CAUSE_index_below_0 : CAUSE_index_too_large;
}

static void report_near(Report *r, const Access *a, const Allocation *near)
{
    r->cause = cause_near(a, r, near);
    r->allocation = near;
    r->number[0] = (ReportNumber){ "own_number", own_number(a, r) };
    r->number[1] = (ReportNumber){ "index", index_used(a, r, near) };
    report_error(r);
}

// No address of device memory, nor near any of it.
static void report_nowhere(Report *r, const Access *a, u32 lanes)
{
    if (is_undefined(a, r)) {
        r->cause = CAUSE_pointer_undefined;
        report_error(r);
        return;
    }
    pointer_trace(r, a->warp, a->insn, a->insn->a, __builtin_ctz(lanes));
    pointer_report_access(r);
}

static void report_outside(const Access *a, u32 lanes)
{
    Report r = { 0 };
    source_fill_access(&r, a, lanes);
    if (a->space != SPACE_GLOBAL) {
        report_outside_window(&r, a);
        return;
    }
    const Allocation *in = memory_find(r.address), *near = memory_nearest(r.address);
    if (in && in->freed) {
        r.cause = CAUSE_kernel_uses_freed;
        r.allocation = in;
        report_error(&r);
    } else if (in && !may_reach(a->warp->block->grid->launch, in)) {
        report_foreign(&r, in);
    } else if (r.address < MEMORY_BASE || r.address >= MEMORY_BASE + MEMORY_SPAN || !near) {
        report_nowhere(&r, a, lanes);
    } else {
        report_near(&r, a, near);
    }
}

static void report_misaligned(const Access *a, u32 lanes)
{
    Report r = { .cause = CAUSE_misaligned_access };
    source_fill_access(&r, a, lanes);
    report_error(&r);
}

static bool bounds_access(Access *a)
{
    u32 lanes;
    Grid *grid = a->warp->block->grid;
    bool remote = a->space == SPACE_SHARED && a->owner != a->warp->block;
    if (remote && !is_there(a)) {
        grid_fail(grid, may_go_there(a) ? cudaErrorLaunchFailure : cudaErrorIllegalInstruction);
        return false;
    }
    if (!ends_inside(a) && (lanes = lanes_outside(a))) {
        report_outside(a, lanes);
        grid_fail(grid, remote && a->address[__builtin_ctz(lanes)] < (u64)profile.shared_per_sm
                            ? cudaErrorLaunchFailure
                            : cudaErrorIllegalAddress);
        return false;
    }
    if (!a->bulk && !is_aligned(a) && (lanes = lanes_misaligned(a))) {
        report_misaligned(a, lanes);
        grid_fail(grid, cudaErrorMisalignedAddress);
        return false;
    }
    return true;
}

static void bounds_turn(Grid *g) { (void)g, turn++; }

const Observer bounds_observer = { .grid_turn = bounds_turn, .access = bounds_access };
