// Unified memory. A page of managed memory lies on the host, on the device, on both (advised as read-mostly), or
// nowhere before it is first touched. Who touches a page that lies elsewhere faults, and its group of pages moves.
//
// The model (CUDA C++ Programming Guide, "Unified Memory", for x86 hosts over PCIe; the API on cudaMemAdvise):
//  - Faults are counted by groups of 64 KiB, the least that the driver moves on x86: one for each group that a kernel
//    finds elsewhere, one for each that the host touches between two requests and that lies elsewhere. All of the group
//    moves. (The driver also looks ahead by up to 2 MiB; that is left out.) First touches fault and move nothing.
//  - The host's touches are those that its page table shows between two requests (client/shared.c). A read there also
//    shows the neighbours in its 64 KiB.
//  - The device can reach pages on the host over the bus, the host none on the device. So with SetPreferredLocation to
//    the host, pages stay there: the first touch of a group faults, and nothing moves. With SetAccessedBy the device
//    reaches pages on the host without a fault. A device as preferred location changes nothing.
//  - SetReadMostly: what a kernel reads, or a host touches, is copied and lies on both. Writing drops the other copy.
//    A host's write is known by the page's changed bytes.
//  - cudaMemPrefetchAsync moves pages without faults. Copies and fills leave what they write on the device and read
//    pages where they lie, without faults.
//  - Nothing is ever moved back to make room.
#include <sys/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <driver_types.h>

#include "clock.h"
#include "coalesce.h"
#include "managed.h"
#include "origin.h"
#include "profile.h"
#include "report.h"

enum {
    PAGE = WIRE_PAGE, GROUP = 16,               // pages in a group
    MOST_UNFINISHED = 256, MOST_TOUCHED = 1 << 20,
};

enum { ON_HOST = 1, ON_DEVICE = 2, MAPPED = 4 };        // MAPPED: the device reaches it on the host
enum { READ_MOSTLY = 1, PREFER_HOST = 2, PREFER_DEVICE = 4, ACCESSED_BY = 8, TO_HOST = 16, TO_DEVICE = 32 };

typedef struct Page {
    u8 where, advice;
    u32 writer;                 // the launch that last wrote it; 0: none
    u64 digest;                 // of its bytes when it came to lie on both
} Page;

// A launch that wrote managed memory and that the host has not waited for.
typedef struct Unfinished {
    u32 launch;
    bool reported;
    double done;                // ns
    char signature[256];
    u64 callers[WIRE_CALLERS];
} Unfinished;

static const u64 page_count = MEMORY_SHARED_SPAN / PAGE, managed_pages = (MEMORY_PINNED - MEMORY_SHARED) / PAGE;
static Page *pages;             // of managed and pinned memory; NULL before there is any
static Unfinished unfinished[MOST_UNFINISHED], running;
static u32 unfinished_count;
static bool wrote;              // the running kernel wrote some
static u64 kernel_faults, kernel_moved, kernel_remote;  // the running kernel's; bytes
static WirePages *touched;      // by the host since the last request
static size_t touched_count, touched_room;
static double host_ns;          // that the host's faults take

static inline bool is_shared(u64 address) { return address - MEMORY_SHARED < MEMORY_SHARED_SPAN; }
static inline u64 page_of(u64 address) { return (address - MEMORY_SHARED) / PAGE; }

double managed_seconds(u64 faults, u64 bytes)
{
    return faults * profile.managed_fault_seconds + bytes / profile.managed_bytes_per_second;
}

double managed_kernel_seconds(void)
{
    return managed_seconds(kernel_faults, kernel_moved) + kernel_remote / profile.copy_bytes_per_second;
}

void managed_allocated(const Allocation *a)
{
    if (!pages) pages = mmap(NULL, page_count * sizeof *pages, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        perror("simulator: no memory left to follow managed memory");
        exit(1);
    }
    u64 first = page_of(a->base), last = page_of(a->base + a->size - 1);
    Page fresh = { .where = a->kind == MEMORY_PINNED_HOST ? ON_HOST | MAPPED : 0 };
    for (u64 n = first; n <= last; n++) pages[n] = fresh;
}

// Told apart by it: whether a page's bytes have changed.
static u64 digest(u64 page)
{
    const u64 *words = (const u64 *)(MEMORY_SHARED + page * PAGE);
    u64 sum = 0;
    for (u32 n = 0; n < PAGE / 8; n++) sum = (sum ^ words[n]) * 0x9e3779b97f4a7c15ull + (sum >> 29);
    return sum;
}

static void share(u64 page)
{
    pages[page].where = ON_HOST | ON_DEVICE;
    pages[page].digest = digest(page);
}

// The pages of a page's group: [first, end). Allocations start with a group, and may end within one.
typedef struct Pages { u64 first, end; } Pages;

static Pages group_of(u64 page)
{
    u64 first = page / GROUP * GROUP, end = first + GROUP;
    const Allocation *a = memory_find(MEMORY_SHARED + first * PAGE);
    if (a && page_of(a->base + a->size - 1) + 1 < end) end = page_of(a->base + a->size - 1) + 1;
    return (Pages){ first, end };
}

// ---- The host ----

// A page that is not on the host is touched there. The bytes that move.
static u64 host_fault(u64 page)
{
    u64 moved = 0;
    Pages group = group_of(page);
    for (u64 n = group.first; n < group.end; n++) {
        if (pages[n].where != ON_DEVICE) continue;
        if (pages[n].advice & READ_MOSTLY) share(n);
        else pages[n].where = ON_HOST;
        moved += PAGE;
    }
    if (!pages[page].where) pages[page].where = ON_HOST;
    return moved;
}

static void remember_touched(const WirePages *range)
{
    if (touched_count == MOST_TOUCHED) return;          // nobody touches memory in so many pieces
    if (touched_count == touched_room) {
        size_t more = touched_room ? 2 * touched_room : 64;
        WirePages *larger = realloc(touched, more * sizeof *touched);
        if (!larger) return;
        touched = larger;
        touched_room = more;
    }
    touched[touched_count++] = *range;
}

// A range is one of the program's words: is it of one live allocation of managed memory?
static bool is_live(const WirePages *range)
{
    if (!range->count || range->first >= managed_pages) return false;
    const Allocation *a = memory_find(MEMORY_SHARED + range->first * (u64)PAGE);
    return a && !a->freed && a->kind == MEMORY_MANAGED
        && (u64)range->first + range->count <= page_of(a->base + a->size - 1) + 1;
}

void managed_touched(const WirePages *ranges, size_t count)
{
    u64 faults = 0, moved = 0, faulted = ~0ull;         // faulted: the group that did last
    for (size_t r = 0; r < count && pages; r++) {
        if (!is_live(&ranges[r])) continue;
        remember_touched(&ranges[r]);
        for (u64 n = ranges[r].first; n < (u64)ranges[r].first + ranges[r].count; n++) {
            Page *p = &pages[n];
            if (p->where == (ON_HOST | ON_DEVICE) && p->digest != digest(n)) p->where = ON_HOST;
            if (p->where & ON_HOST) continue;
            if (n / GROUP != faulted) faults++;
            faulted = n / GROUP;
            moved += host_fault(n);
        }
    }
    if (!faults) return;
    host_ns += managed_seconds(faults, moved) * 1e9;
    report_migration("DtoH", "cpu-fault", moved, faults);
}

// ---- The device ----

// Does the device reach the page over the bus?
static bool is_reached(const Page *p)
{
    return p->where & MAPPED || (p->where == ON_HOST && (p->advice & (ACCESSED_BY | READ_MOSTLY)) == ACCESSED_BY);
}

// A page of the group of one that a kernel touches and the device has not. True: its bytes move.
static bool arrive(u64 page, bool store)
{
    Page *p = &pages[page];
    bool moves = p->where == ON_HOST, reads = p->advice & READ_MOSTLY && !store;
    if (p->where == ON_DEVICE || is_reached(p)) return false;
    if (p->advice & PREFER_HOST && !reads && !(p->where & ON_DEVICE)) {
        p->where = ON_HOST | MAPPED;
        return false;
    }
    if (reads && p->where) share(page);
    else p->where = ON_DEVICE;
    return moves;
}

static void device_fault(u64 page, bool store, Tally *t)
{
    u64 moved = 0;
    Pages group = group_of(page);
    for (u64 n = group.first; n < group.end; n++) moved += arrive(n, store) ? PAGE : 0;
    t->faults++;
    t->moved += moved;
    kernel_faults++;
    kernel_moved += moved;
}

// True: over the bus.
static bool touch(u64 page, bool store, Tally *t)
{
    Page *p = &pages[page];
    if (store && page < managed_pages) {
        p->writer = running.launch;
        wrote = true;
    }
    if (p->where == ON_DEVICE || (p->where & ON_DEVICE && !store)) return false;
    if (!is_reached(p)) device_fault(page, store, t);
    return is_reached(p);
}

static bool touch_lanes(const Access *a, Tally *t)
{
    bool remote = false;
    u64 before = ~0ull;
    for (u32 l = a->first; l < LANES; l++) {
        if (!(a->mask >> l & 1) || !is_shared(a->address[l])) continue;
        u64 page = page_of(a->address[l]);              // an access is aligned: it crosses no page
        if (page != before) remote |= touch(page, a->store, t);
        before = page;
    }
    return remote;
}

static bool managed_access(Access *a)
{
    if (a->space != SPACE_GLOBAL || !pages) {
        access_pass_all(a);
        return true;
    }
    const Grid *g = a->warp->block->grid;
    Tally *t = &g->tally[a->insn - g->kernel->code];
    u64 first = a->address[a->first], last = a->address[31 - __builtin_clz(a->mask)];
    bool remote = false;
    if (!a->regular) remote = touch_lanes(a, t);
    else if (!is_shared(first) && !is_shared(last)) return true;
    else if (page_of(first) == page_of(last)) remote = touch(page_of(first), a->store, t);
    else remote = touch_lanes(a, t);
    if (remote) kernel_remote += (u64)access_sectors(a) * SECTOR_BYTES;
    return true;
}

static void managed_grid_start(Grid *g)
{
    (void)g;
    kernel_faults = kernel_moved = kernel_remote = 0;
}

static void managed_grid_end(Grid *g)
{
    (void)g;
    if (kernel_faults) report_migration("HtoD", "gpu-fault", kernel_moved, kernel_faults);
}

const Observer managed_observer = {
    .grid_start = managed_grid_start, .access = managed_access, .grid_end = managed_grid_end,
};

void managed_written(u64 address, u64 bytes)
{
    if (address - MEMORY_SHARED >= MEMORY_PINNED - MEMORY_SHARED || !bytes) return;
    for (u64 n = page_of(address); n <= page_of(address + bytes - 1); n++) pages[n].where = ON_DEVICE;
}

// ---- Who waited for whom ----

void managed_launch(const char *signature, const u64 callers[WIRE_CALLERS])
{
    running.launch++;
    wrote = false;
    snprintf(running.signature, sizeof running.signature, "%s", signature);
    memcpy(running.callers, callers, sizeof running.callers);
}

void managed_launched(double done)
{
    if (!wrote) return;
    running.done = done;
    if (unfinished_count == MOST_UNFINISHED)
        memmove(unfinished, unfinished + 1, --unfinished_count * sizeof *unfinished);
    unfinished[unfinished_count++] = running;
}

void managed_waited(bool all)
{
    u32 kept = 0;
    for (u32 n = 0; n < unfinished_count; n++)
        if (!all && unfinished[n].done > clock_now()) unfinished[kept++] = unfinished[n];
    unfinished_count = kept;
}

static void check_page(u64 page)
{
    u32 n = 0;
    while (n < unfinished_count && unfinished[n].launch != pages[page].writer) n++;
    if (n == unfinished_count || unfinished[n].reported) return;
    Unfinished *u = &unfinished[n];
    u->reported = true;
    u64 address = MEMORY_SHARED + page * PAGE;
    const Allocation *a = memory_find(address);
    char made[256] = "";
    Report r = { .kind = REPORT_RACE, .kernel = u->signature, .address = address, .allocation = a,
                 .why = "A launch returns at once: the kernel runs while the host goes on.",
                 .next = "Call cudaDeviceSynchronize() before the host uses it." };
    origin_place(u->callers, WIRE_CALLERS, &r.place);
    if (a) report_made(a, made, sizeof made);
    report_errorf(&r, "the host touched managed memory that kernel %s was still writing: the %llu-byte %s%s",
                  u->signature, (unsigned long long)(a ? a->size : 0), a && a->name ? "memory" : "allocation", made);
}

void managed_settle(void)
{
    for (size_t r = 0; r < touched_count && unfinished_count; r++)
        for (u32 n = 0; n < touched[r].count; n++) check_page(touched[r].first + n);
    touched_count = 0;
    clock_host(host_ns);
    host_ns = 0;
}

// ---- What the program asks for ----

u64 managed_prefetch(u64 address, u64 bytes, bool to_host)
{
    u64 moved = 0;
    for (u64 n = page_of(address); n <= page_of(address + bytes - 1); n++) {
        Page *p = &pages[n];
        u8 here = to_host ? ON_HOST : ON_DEVICE;
        p->advice = (p->advice & ~(TO_HOST | TO_DEVICE)) | (to_host ? TO_HOST : TO_DEVICE);
        if (p->where & here) continue;
        if (p->where) moved += PAGE;
        if (p->where && p->advice & READ_MOSTLY) share(n);
        else p->where = here;
    }
    if (moved) report_migration(to_host ? "DtoH" : "HtoD", "prefetch", moved, 0);
    return moved;
}

static void advise(Page *p, u8 set, u8 clear)
{
    p->advice = (p->advice & ~clear) | set;
    if (p->where & ON_HOST && !(p->advice & PREFER_HOST)) p->where &= ~MAPPED;
}

bool managed_advise(u64 address, u64 bytes, u32 advice, bool to_host)
{
    static const u8 preferred = PREFER_HOST | PREFER_DEVICE;
    u8 set = 0, clear = 0;
    switch (advice) {
    case cudaMemAdviseSetReadMostly: set = READ_MOSTLY; break;
    case cudaMemAdviseUnsetReadMostly: clear = READ_MOSTLY; break;
    case cudaMemAdviseSetPreferredLocation: set = to_host ? PREFER_HOST : PREFER_DEVICE; clear = preferred; break;
    case cudaMemAdviseUnsetPreferredLocation: clear = preferred; break;
    case cudaMemAdviseSetAccessedBy: set = to_host ? 0 : ACCESSED_BY; break;
    case cudaMemAdviseUnsetAccessedBy: clear = to_host ? 0 : ACCESSED_BY; break;
    default: return false;
    }
    for (u64 n = page_of(address); n <= page_of(address + bytes - 1); n++) advise(&pages[n], set, clear);
    return true;
}

static int location(u8 advice, u8 host, u8 on_device)
{
    return advice & host ? cudaCpuDeviceId : advice & on_device ? 0 : cudaInvalidDeviceId;
}

void managed_range(u64 address, u64 bytes, WireReply *reply)
{
    u8 all = 0xff;
    for (u64 n = page_of(address); n <= page_of(address + bytes - 1); n++) all &= pages[n].advice;
    reply->range.read_mostly = (all & READ_MOSTLY) != 0;
    reply->range.accessed_by_device = (all & ACCESSED_BY) != 0;
    reply->range.preferred = location(all, PREFER_HOST, PREFER_DEVICE);
    reply->range.prefetched = location(all, TO_HOST, TO_DEVICE);
}
