// malloc and free in kernels. As with cudaMalloc, no address is handed out twice, and a gap follows
// each allocation, so that wild accesses are recognised. How much of the heap is free is computed
// separately (heap_room.c).
#define _GNU_SOURCE
#include <driver_types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dynamic_launch.h"
#include "heap.h"
#include "source_fill.h"
#include "grid_state.h"

enum { MOST_FAILURES = 8 }; // instructions that are remembered
enum { ALIGN = 16, LEAST_GAP = 256, MOST_GAP = 1 << 16, PAGE = 4096, DEFAULT_LIMIT = 8 << 20 };
static const u64 ARENA_BYTES = 1 << 28;

static struct Heap {
    u64 limit;      // bytes; 0: the default
    u64 next, end;  // of the arena that is being filled
    HeapRoom *room; // once kernels have used the heap
    HeapFailure failure[MOST_FAILURES];
    u32 failures;
} heaps[MOST_DEVICES];

static u64 round_up(u64 n, u64 unit) { return (n + unit - 1) / unit * unit; }

bool heap_set_limit(u32 device, u64 bytes)
{
    if (heaps[device].room) return false;
    heaps[device].limit = bytes;
    return true;
}

// The strings of a place outlive the module that they come from.
static const char *keep(const char *text)
{
    static struct Kept {
        char *text;
        struct Kept *next;
    } * kept;
    if (!text) return NULL;
    for (struct Kept *k = kept; k; k = k->next)
        if (!strcmp(k->text, text)) return k->text;
    struct Kept *fresh = malloc(sizeof *fresh);
    if (!fresh) return NULL;
    *fresh = (struct Kept){ strdup(text), kept };
    kept = fresh;
    return fresh->text;
}

static Place place_of(const Warp *w, const Insn *i)
{
    const Kernel *k = w->block->grid->kernel;
    Place place = source_place(k, i - k->code);
    place.file = keep(place.file);
    place.function = keep(place.function);
    return place;
}

static u64 heap_bytes(const struct Heap *h) { return h->limit ? h->limit : DEFAULT_LIMIT; }

// `align`: a power of two, at least ALIGN. An allocation of no bytes has an address of its own; it
// counts as one byte, so that it can be found.
static Allocation *allocate(u32 device, u64 wanted, u64 align)
{
    u64 bytes = wanted ? wanted : 1;
    struct Heap *h = &heaps[device];
    HeapRun run;
    if (!h->room) h->room = heap_room_make(heap_bytes(h));
    if (align > ARENA_BYTES || !heap_room_take(h->room, wanted + (align - ALIGN), &run))
        return NULL;
    u64 room = round_up(bytes, ALIGN), gap = room < LEAST_GAP ? LEAST_GAP
                                           : room > MOST_GAP  ? MOST_GAP
                                                              : room;
    if (!h->next || round_up(h->next, align) + room + gap > h->end) {
        u64 arena = ARENA_BYTES > 2 * (room + align) ? ARENA_BYTES : 2 * (room + align);
        h->next = memory_reserve(arena);
        h->end = h->next + arena;
    }
    h->next = h->next ? round_up(h->next, align) : 0;
    Allocation *a = h->next ? memory_place(h->next, bytes, MEMORY_HEAP, device) : NULL;
    if (!a) {
        heap_room_give(h->room, run);
        return NULL;
    }
    a->run = run;
    h->next += room + gap;
    return a;
}

const HeapFailure *heap_failure(u32 device, const Insn *malloc)
{
    const struct Heap *h = &heaps[device];
    for (u32 n = 0; n < h->failures; n++)
        if (!malloc || h->failure[n].insn == malloc) return &h->failure[n];
    return NULL;
}

static void note_failure(u32 device, const Insn *malloc, u64 wanted, Place place)
{
    struct Heap *h = &heaps[device];
    if (h->failures == MOST_FAILURES || heap_failure(device, malloc)) return;
    h->failure[h->failures++] =
        (HeapFailure){ .insn = malloc, .place = place, .wanted = wanted, .heap = heap_bytes(h) };
}

static void give_back(Allocation *a)
{
    u64 first = round_up(a->base, PAGE), end = (a->base + a->size) / PAGE * PAGE;
    a->freed = true;
    heap_room_give(heaps[a->device].room, a->run);
    if (end > first) madvise((void *)first, end - first, MADV_DONTNEED);
}

static void allocate_lanes(Warp *w, const Insn *i, u32 mask, const u64 *align)
{
    const u64 *bytes = row_of(w, i->a);
    u64 *result = row_of(w, i->d);
    Place place = place_of(w, i);
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        u64 to = align && align[l] > ALIGN ? align[l] : ALIGN;
        bool good = !align || (align[l] && !(align[l] & (align[l] - 1)));
        Allocation *a = good ? allocate(w->block->grid->launch->device, bytes[l], to) : NULL;
        if (a) a->made_in = place;
        else if (good) note_failure(w->block->grid->launch->device, i, bytes[l], place);
        result[l] = a ? a->base : 0;
    }
}

// malloc(bytes), or with an alignment, a power of two. NULL: the heap is full.
void run_malloc(Warp *w, const Insn *i, u32 mask) { allocate_lanes(w, i, mask, NULL); }
void run_aligned_malloc(Warp *w, const Insn *i, u32 mask)
{
    allocate_lanes(w, i, mask, row_of(w, i->b));
}

static void report_bad_free(const Warp *w, const Insn *i, u32 lane, u64 address)
{
    const Allocation *a = memory_find(address);
    bool twice = a && a->kind == MEMORY_HEAP && a->base == address;
    Report r = { .cause = twice ? CAUSE_heap_freed_twice
                        : a     ? CAUSE_heap_free_of_part
                                : CAUSE_heap_free_of_nothing,
                 .address = address,
                 .allocation = a };
    source_fill(&r, w, i, lane);
    report_error(&r);
    if (twice) grid_fail(w->block->grid, cudaErrorLaunchFailure);
}

static bool free_lane(const Warp *w, const Insn *i, u32 lane, u64 address, Place place)
{
    Allocation *a = memory_find(address);
    if (!a || a->kind != MEMORY_HEAP || a->freed || a->base != address) {
        report_bad_free(w, i, lane, address);
        return false;
    }
    give_back(a);
    a->unmade_in = place;
    return true;
}

void run_free(Warp *w, const Insn *i, u32 mask)
{
    const u64 *address = row_of(w, i->a);
    Place place = place_of(w, i);
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1 && address[l]) free_lane(w, i, l, address[l], place);
}

// ---- The same heap by CUDA's names: __cudaCDP2Malloc(address, bytes), __cudaCDP2Free(address) --

void run_malloc_by_kernel(Warp *w, const Insn *i, u32 mask)
{
    const u64 *to = row_of(w, i->a), *bytes = row_of(w, i->b);
    Place place = place_of(w, i);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        Allocation *a = allocate(w->block->grid->launch->device, bytes[lane], ALIGN);
        if (a) a->made_in = place;
        else note_failure(w->block->grid->launch->device, i, bytes[lane], place);
        bool good = dynamic_launch_store(w, i, lane, to[lane], a ? a->base : 0, sizeof a->base);
        dynamic_launch_return(w, i, lane,
                              !good ? cudaErrorInvalidValue
                              : !a  ? cudaErrorMemoryAllocation
                                    : 0);
    }
}

void run_free_by_kernel(Warp *w, const Insn *i, u32 mask)
{
    const u64 *address = row_of(w, i->a);
    Place place = place_of(w, i);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        bool good = !address[lane] || free_lane(w, i, lane, address[lane], place);
        dynamic_launch_return(w, i, lane, good ? 0 : cudaErrorInvalidValue);
    }
}

static bool is_left(const Allocation *a, u32 of)
{
    return a->kind == MEMORY_HEAP && !a->freed && (of == ALL_DEVICES || a->device == of);
}

// Leaks from one line are one report, with the first one's size.
void heap_leaks(u32 of)
{
    for (const Allocation *a = memory_first(); a; a = a->next) {
        if (!is_left(a, of)) continue;
        Report r = {
            .cause = CAUSE_heap_leak, .address = a->base, .allocation = a, .place = a->made_in
        };
        report_error(&r);
    }
}

void heap_free_all(u32 of)
{
    for (Allocation *a = memory_first(); a; a = a->next)
        if (is_left(a, of)) give_back(a);
    for (u32 d = 0; d < MOST_DEVICES; d++) {
        if (of != ALL_DEVICES && d != of) continue;
        heap_room_free(heaps[d].room);
        heaps[d].room = NULL;
        heaps[d].limit = 0;
        heaps[d].failures = 0;
    }
}
