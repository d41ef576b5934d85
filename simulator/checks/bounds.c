// Bounds, alignment and lifetime of the memory that a kernel touches. A bad access ends the grid as
// on hardware; the report says which thread made it and which allocation it missed.
#include <driver_types.h>
#include <stdio.h>
#include <string.h>

#include "machine/cluster.h"
#include "memory/memory.h"
#include "machine/observer.h"
#include "machine/profile.h"
#include "streams/peer.h"
#include "streams/pooled.h"
#include "machine/source_fill.h"

// Most accesses go to recently used allocations, so each megabyte's latest allocation is cached.
enum { RECENT = 64, MEGABYTE = 1 << 20 };
static _Thread_local const Allocation *recent[RECENT];
static _Thread_local u32 recent_turn; // the turn of a grid to which the cache belongs
static u32 turn;

static void report_too_early(const Access *a, const Allocation *in)
{
    char made[256];
    Report r = { .kind = REPORT_RACE,
                 .address = a->address[a->first],
                 .allocation = in,
                 .why = POOLED_EARLY_WHY,
                 .next = POOLED_EARLY_NEXT };
    source_fill(&r, a->warp, a->insn, a->first);
    report_errorf(
        &r, "%s of the %llu-byte allocation%s on a stream that does not wait for the allocation",
        a->store ? "write" : "read", (unsigned long long)in->size,
        report_made(in, made, sizeof made));
}

// The live allocation at the address that the kernel may touch: of its own device, or of a peer.
static const Allocation *live_at(const Access *access, u64 address)
{
    const Grid *g = access->warp->block->grid;
    if (recent_turn != turn) memset(recent, 0, sizeof recent), recent_turn = turn;
    const Allocation **r = &recent[address / MEGABYTE % RECENT], *a = *r;
    if (a && !a->freed && address - a->base < a->size) return a;
    a = memory_find(address);
    if (!a || a->freed || !peer_reaches(g->launch->device, a)) return NULL;
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

static void say_how_many(char *text, size_t size, u32 lanes)
{
    u32 others = __builtin_popcount(lanes) - 1;
    *text = 0;
    if (others)
        snprintf(text, size, " (and %u more thread%s of its warp)", others, others == 1 ? "" : "s");
}

static void report_foreign(const Access *a, Report *r, const Allocation *in, const char *more)
{
    u32 device = a->warp->block->grid->launch->device;
    char where[256], next[160];
    bool variable = in->kind == MEMORY_VARIABLE;
    snprintf(next, sizeof next,
             variable
                 ? "Allocate it with cudaMalloc on device %u, and call "
                   "cudaDeviceEnablePeerAccess(%u, 0)."
                 : "Call cudaDeviceEnablePeerAccess(%u, 0) while device %u is the current one.",
             in->device, variable ? in->device : device);
    r->allocation = in;
    r->why = variable
               ? "A __device__ variable is out of other devices' reach, whatever access is enabled."
               : "A kernel reaches another device's memory only once its own device may.";
    r->next = next;
    report_errorf(r, "%s of %u bytes %s, in the memory of device %u, by a kernel on device %u%s",
                  a->store ? "write" : "read", a->bytes,
                  report_beside(in, r->address, where, sizeof where), in->device, device, more);
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
    u32 size = own->grid->cluster_blocks;
    char more[64];
    if (b && b->occupied && may_go_there(a)) return true;
    Report r = { .kind = REPORT_BOUNDS, .address = a->address[a->first] };
    source_fill(&r, a->warp, a->insn, a->first);
    say_how_many(more, sizeof more, a->mask);
    const char *does = a->store ? "write" : "read";
    if (!b) {
        r.why = "The address is in no shared memory of the cluster: it is far outside of an array, "
                "or was made for a rank that no block has.";
        r.next = "Compare the rank that map_shared_rank() is given with num_blocks(), and the "
                 "index with the array's size.";
        report_errorf(&r, "%s of %u bytes in the shared memory of rank %llu of a cluster of %u%s",
                      does, a->bytes, (unsigned long long)a->address[a->first] / CLUSTER_WINDOW,
                      size, more);
    } else if (!b->occupied) {
        r.why = "A block's shared memory is gone when it ends.";
        r.next = "Put a cluster.sync() that all threads of the cluster reach behind the last "
                 "access to other blocks' shared memory.";
        report_errorf(&r,
                      "%s of %u bytes of the shared memory of block (%u,%u,%u), which has ended%s",
                      does, a->bytes, b->index[0], b->index[1], b->index[2], more);
    } else {
        r.why = "An instruction for .shared, which is .shared::cta, goes to its own block's shared "
                "memory alone.";
        r.next = "Write .shared::cluster, or use a generic address.";
        report_errorf(&r,
                      "%s of %u bytes of the shared memory of block (%u,%u,%u) by an instruction "
                      "for that of its own block%s",
                      does, a->bytes, b->index[0], b->index[1], b->index[2], more);
    }
    return false;
}

static const char below_zero[] = "Work the index out by hand for this thread: too much is "
                                 "subtracted, or what it comes from is negative "
                                 "itself, as -1 % 4 is in C, and a char of more than 127.";

// An atomic of 1 or 2 bytes, as in cuda::atomic_ref<char>, loads and swaps the whole word around
// them. Is this the last word of an allocation, and incomplete?
static bool is_word_around(const Access *a, u64 at, u64 size)
{
    return a->bytes == 4 && a->insn->order >= ORDER_RELAXED && at < size && at + a->bytes > size;
}

static const char word_around_why[] = "An atomic of 1 or 2 bytes is carried out on the whole word "
                                      "of 4 around them, and the last word here is not whole.";
static const char word_around_next[] = "Make the size a multiple of 4; the bytes that this adds "
                                       "are for nobody. If the elements have 4 bytes, "
                                       "make it count * sizeof.";

// Of shared or local memory, whose addresses have 32 bits.
static void report_outside_window(Report *r, const Access *a, const char *more)
{
    bool shared = a->space == SPACE_SHARED;
    const char *does = a->store ? "write" : "read";
    u32 size = shared ? a->owner->shared_bytes : a->warp->block->grid->kernel->local_bytes;
    s32 at = (s32)r->address;
    char where[64];
    r->why = at < 0 ? "The index is below 0." : "The index is larger than the array.";
    r->next = at < 0 ? below_zero
                     : "Compare the index with the size that the array was declared with, or that "
                       "the launch gave.";
    if (at >= 0 && is_word_around(a, (u64)at, size))
        r->why = word_around_why, r->next = word_around_next;
    snprintf(where, sizeof where, at < 0 ? "%lld bytes before" : "at byte %lld of",
             at < 0 ? -(long long)at : (long long)at);
    if (shared && a->owner != a->warp->block) {
        const u32 *b = a->owner->index;
        report_errorf(r, "%s of %u bytes %s the %u bytes of shared memory of block (%u,%u,%u)%s",
                      does, a->bytes, where, size, b[0], b[1], b[2], more);
        return;
    }
    report_errorf(r, "%s of %u bytes %s the %s %u bytes of %s memory%s", does, a->bytes, where,
                  shared ? "block's" : "thread's", size, shared ? "shared" : "local", more);
}

// A table: why an access misses the allocation that is nearest, and what to do next. The first
// cause that holds is told. `worked_out` has room for words that stay until the report is made.
static void explain_miss(Report *r, const Access *a, char worked_out[160])
{
    const Allocation *near = r->allocation;
    const u64 address = r->address;
    if (a->bytes > 4 && near->size % 4 == 0 && address >= near->base
        && address < near->base + near->size) {
        r->why = "An access of so many bytes takes several elements at once, and only the first of "
                 "them are there.";
        r->next = "Take the last elements one by one where they are too few for it.";
    } else if (is_below_zero(address, a->bytes, near)) {
        r->why = "An unsigned index below 0 is a very large one: 0u - 1 is 4294967295.";
        r->next = "Ask first whether there is an element before: blockIdx.x - 1 and its like are "
                  "never negative.";
    } else if (address >= near->base && is_word_around(a, address - near->base, near->size)) {
        r->why = word_around_why;
        r->next = word_around_next;
    } else if (address > near->base && near->size % 2 && a->bytes > 1) {
        r->why = "An odd number of bytes is no number of such elements: the size may be a count of "
                 "elements, and should be in bytes.";
        r->next = "Allocate count * sizeof bytes; if the size is right, read the last bytes one at "
                  "a time.";
    } else if (has_rows(a->warp->block->grid->launch)) {
        r->why = address < near->base ? "A row or a column that is worked out here is below 0."
                                      : "A row or a column that is worked out here is too large.";
        r->next =
            "Compare each with its own bounds, the row with 0 and the number of rows, the "
            "column with that of columns, or "
            "clamp each by itself; and look at what the row is multiplied by: the length of a "
            "row of this array.";
    } else if (thread_is_inside(a, r, near)) {
        snprintf(
            worked_out, 160,
            "The thread's own number, %lld, is an index of the array; the one that it works out "
            "here, %lld, is not.",
            (long long)own_number(a, r), (long long)index_used(a, r, near));
        r->why = worked_out;
        r->next = is_neighbour(a, r, near)
                    ? "Compare the index that is used with the number of elements: the last has no "
                      "right neighbour, the first no left one."
                    : "Work the index out by hand for this thread. If it is what it should be, "
                      "compare it with the number of elements first.";
    } else if (index_is_own(a, r, near)) {
        r->why = "The thread's index is outside the array.";
        r->next = "Let only threads whose index is below the number of elements touch the array.";
    } else {
        r->why = address < near->base ? "The index that is worked out here is below 0."
                                      : "The index that is worked out here is larger than the "
                                        "array, and is not the thread's own number.";
        r->next = address < near->base ? below_zero
                                       : "Look at what it is worked out from, and compare it with "
                                         "the number of elements before it is used.";
    }
}

static void report_outside(const Access *a, u32 lanes)
{
    u32 lane = __builtin_ctz(lanes);
    u64 address = a->address[lane];
    const char *does = a->store ? "write" : "read";
    char where[256], more[64], worked_out[160];
    Report r = { .kind = REPORT_BOUNDS, .address = address };
    source_fill(&r, a->warp, a->insn, lane);
    say_how_many(more, sizeof more, lanes);
    if (a->space != SPACE_GLOBAL) {
        report_outside_window(&r, a, more);
        return;
    }
    const Allocation *in = memory_find(address);
    if (in && in->freed) {
        r.kind = REPORT_USE_AFTER_FREE;
        r.allocation = in;
        r.why = "Memory that was freed may belong to somebody else.";
        r.next = "Free it after the last kernel that uses it has ended.";
        report_errorf(&r, "%s of %u bytes %s%s", does, a->bytes,
                      report_beside(in, address, where, sizeof where), more);
        return;
    }
    if (in && !peer_reaches(a->warp->block->grid->launch->device, in)) {
        report_foreign(a, &r, in, more);
        return;
    }
    const Allocation *near = memory_nearest(address);
    if (address < MEMORY_BASE || address >= MEMORY_BASE + MEMORY_SPAN || !near) {
        r.why = address < 4096
                  ? "The kernel was given a null pointer."
                  : "This is not device memory: host memory, or a pointer that was never set.";
        r.next = "Pass the kernel the pointers that cudaMalloc gave.";
        report_errorf(&r, "%s of %u bytes at address 0x%llx, which is not device memory%s", does,
                      a->bytes, (unsigned long long)address, more);
        return;
    }
    r.allocation = near;
    explain_miss(&r, a, worked_out);
    report_errorf(&r, "%s of %u bytes %s%s", does, a->bytes,
                  report_beside(near, address, where, sizeof where), more);
}

static void report_misaligned(const Access *a, u32 lanes)
{
    u32 lane = __builtin_ctz(lanes);
    Report r = { .kind = REPORT_MISALIGNED,
                 .address = a->address[lane],
                 .why = "A GPU reads and writes n bytes only at addresses that are multiples of n.",
                 .next = "Align the pointer, or use a narrower type (float4 wants 16 bytes)." };
    source_fill(&r, a->warp, a->insn, lane);
    report_errorf(&r, "%s of %u bytes at address 0x%llx, which is not a multiple of %u",
                  a->store ? "write" : "read", a->bytes, (unsigned long long)a->address[lane],
                  a->bytes);
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
