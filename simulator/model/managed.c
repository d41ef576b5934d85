// Unified memory. A managed page is on the host, on a device, on several of them (advised as
// read-mostly), or nowhere before its first touch. An access to a page that is elsewhere faults,
// and the page's group migrates.
//
// The model (CUDA C++ Programming Guide, "Unified Memory", for x86 hosts over PCIe; the API on
// cudaMemAdvise):
// - Faults are counted by groups of 64 KiB, the smallest unit that the driver migrates on x86: one
// for each group that a kernel finds elsewhere, and one for each that the host touches between two
// requests and that is elsewhere. The whole group migrates. (The driver also prefetches up to 2
// MiB, which is left out.) First touches fault and migrate nothing.
// - The host's touches are those that its page table shows between two requests (client/shared.c).
// A read also shows the neighbours in its 64 KiB.
// - A device can access pages on the host over the bus, and pages on other devices over their
// links; the host cannot access pages on a device. So with SetPreferredLocation pages stay there,
// unless the host touches them: a group's first touch by another device faults and migrates
// nothing. With SetAccessedBy that device accesses pages elsewhere without faults.
// - SetReadMostly: what a kernel reads, or a host touches, is copied and is then on both. A write
// drops the other copies. A host's write is recognised by the page's changed bytes.
// - cudaMemPrefetchAsync migrates pages without faults. Copies and fills leave what they write on
// the device, and read pages where they are, without faults.
// - Nothing is evicted to make room.
#include <sys/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <driver_types.h>

#include "carried.h"
#include "coalesce.h"
#include "counts.h"
#include "flight.h"
#include "link.h"
#include "managed.h"
#include "machine/profile.h"
#include "streams/clock.h"
#include "report/report.h"
#include "base/need.h"
#include "slots.h"

enum {
    PAGE = MANAGED_PAGE,
    GROUP = 16, // pages in a group
    MOST_UNFINISHED = 256,
    MOST_TOUCHED = 1 << 20,
};

enum { ON_HOST = 1 << MOST_DEVICES, ON_DEVICES = ON_HOST - 1 }; // bit d: device d has the page
enum { READ_MOSTLY = 1, PREFER_HOST = 2, PREFER_DEVICE = 4, TO_HOST = 8, TO_DEVICE = 16 };

typedef struct Page {
    u32 where;
    u16 mapped, accessed_by; // devices that access it where it is; devices that were advised to
    u8 advice;
    u8 preferred, prefetched; // PREFER_DEVICE, TO_DEVICE: which device
    u32 writer;               // the latest launch that wrote it; 0: none
    u64 digest;               // of its bytes when it was copied to both
} Page;

// A launch that wrote managed memory and that the host has not waited for.
typedef struct Unfinished {
    u32 launch;
    bool reported;
    double done; // ns
    char signature[256];
    u64 callers[ORIGIN_CALLERS];
} Unfinished;

static const u64 page_count = MEMORY_SHARED_SPAN / PAGE,
                 managed_pages = (MEMORY_PINNED - MEMORY_SHARED) / PAGE;
static Page *pages; // of managed and pinned memory; NULL before there is any
static Unfinished unfinished[MOST_UNFINISHED];
static u32 unfinished_count;

typedef struct ManagedGrid {
    u64 faults, moved, linked, remote; // in bytes, except for the first
    bool wrote;                        // it wrote managed memory
    bool fenced, told; // it ran a fence of system scope, and then released to the host, which may
                       // know of its writes by that
} ManagedGrid;

static ManagedGrid *managed_grid(const Grid *g) { return g->kept[GRID_MANAGED]; }

static PageRange *touched; // by the host since the last request
static size_t touched_count, touched_room;
static double host_ns; // that the host's faults take

static inline bool is_shared(u64 address) { return address - MEMORY_SHARED < MEMORY_SHARED_SPAN; }
static inline u64 page_of(u64 address) { return (address - MEMORY_SHARED) / PAGE; }

// The time of page faults and of the bytes that they migrated.
static double seconds_of(u64 faults, u64 bytes)
{
    return faults * profile.managed_fault_seconds + bytes / profile.managed_bytes_per_second;
}

double managed_kernel_seconds(const Grid *g)
{
    const ManagedGrid *m = managed_grid(g);
    return seconds_of(m->faults, m->moved) + m->remote / profile.copy_bytes_per_second;
}

void managed_allocated(const Allocation *a)
{
    if (!pages)
        pages = need(mmap(NULL, page_count * sizeof *pages, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    u64 first = page_of(a->base), last = page_of(a->base + a->size - 1);
    Page fresh = { 0 };
    if (a->kind == MEMORY_PINNED_HOST) fresh.where = ON_HOST, fresh.mapped = ON_DEVICES;
    for (u64 n = first; n <= last; n++) pages[n] = fresh;
    carried_allocated(a);
}

// Tells whether a page's bytes have changed.
static u64 digest(u64 page)
{
    const u64 *words = (const u64 *)(MEMORY_SHARED + page * PAGE);
    u64 sum = 0;
    for (u32 n = 0; n < PAGE / 8; n++) sum = (sum ^ words[n]) * 0x9e3779b97f4a7c15ull + (sum >> 29);
    return sum;
}

// The page is copied there.
static void share(u64 page, u32 place)
{
    pages[page].where |= place;
    pages[page].digest = digest(page);
}

// The pages of a page's group: [first, end). Allocations begin with a group, and may end within
// one.
typedef struct Pages {
    u64 first, end;
} Pages;

static Pages group_of(u64 page)
{
    u64 first = page / GROUP * GROUP, end = first + GROUP;
    const Allocation *a = memory_find(MEMORY_SHARED + first * PAGE);
    if (a && page_of(a->base + a->size - 1) + 1 < end) end = page_of(a->base + a->size - 1) + 1;
    return (Pages){ first, end };
}

// ---- The host ----

// The page is there alone.
static void lie(Page *p, u32 place)
{
    p->where = place;
    p->mapped = 0;
}

// The host touches a page that is not there. Returns the bytes that migrate.
static u64 host_fault(u64 page)
{
    u64 moved = 0;
    Pages group = group_of(page);
    for (u64 n = group.first; n < group.end; n++) {
        if (!pages[n].where || pages[n].where & ON_HOST) continue;
        if (pages[n].advice & READ_MOSTLY) share(n, ON_HOST);
        else lie(&pages[n], ON_HOST);
        moved += PAGE;
    }
    if (!pages[page].where) pages[page].where = ON_HOST;
    return moved;
}

static void remember_touched(const PageRange *range)
{
    if (touched_count == MOST_TOUCHED) return; // no program touches memory in so many pieces
    if (touched_count == touched_room) {
        size_t more = touched_room ? 2 * touched_room : 64;
        PageRange *larger = realloc(touched, more * sizeof *touched);
        if (!larger) return;
        touched = larger;
        touched_room = more;
    }
    touched[touched_count++] = *range;
}

// Ranges come from the program: is this one within one live allocation of managed memory?
static bool is_live(const PageRange *range)
{
    if (!range->count || range->first >= managed_pages) return false;
    const Allocation *a = memory_find(MEMORY_SHARED + range->first * (u64)PAGE);
    return a && !a->freed && a->kind == MEMORY_MANAGED
        && (u64)range->first + range->count <= page_of(a->base + a->size - 1) + 1;
}

void managed_touched(const PageRange *ranges, size_t count)
{
    u64 faults = 0, moved = 0, faulted = ~0ull; // faulted: the latest group that did
    carried_look();
    for (size_t r = 0; r < count && pages; r++) {
        if (!is_live(&ranges[r])) continue;
        remember_touched(&ranges[r]);
        for (u64 n = ranges[r].first; n < (u64)ranges[r].first + ranges[r].count; n++) {
            Page *p = &pages[n];
            if (p->where & ON_HOST && p->where & ON_DEVICES && p->digest != digest(n))
                lie(p, ON_HOST);
            if (p->where & ON_HOST) continue;
            if (n / GROUP != faulted) faults++;
            faulted = n / GROUP;
            moved += host_fault(n);
        }
    }
    if (!faults) return;
    host_ns += seconds_of(faults, moved) * 1e9;
    report_migration("DtoH", "cpu-fault", moved, faults);
}

// ---- The device ----

static bool has(const Page *p, u32 device) { return p->where >> device & 1; }

// Can the device access the page where it is, over the bus or a link?
static bool is_reached(const Page *p, u32 device)
{
    if (p->mapped >> device & 1) return true;
    return p->where && !has(p, device) && p->accessed_by >> device & 1
        && !(p->advice & READ_MOSTLY);
}

// The place where a page stays although a kernel elsewhere touches it; 0: none.
static u32 stays(const Page *p, u32 device)
{
    if (p->advice & PREFER_HOST) return p->where & ON_DEVICES ? 0 : ON_HOST;
    u32 place = p->advice & PREFER_DEVICE && p->preferred != device ? 1u << p->preferred : 0;
    return !p->where || p->where == place ? place : 0;
}

// A page of the group that faulted on a device. Returns the place from which its bytes migrate; 0:
// they do not.
static u32 arrive(u64 page, bool store, u32 device)
{
    Page *p = &pages[page];
    u32 here = 1u << device, from = has(p, device) ? 0 : p->where & ON_HOST ? ON_HOST : p->where;
    bool reads = p->advice & READ_MOSTLY && !store;
    if (p->where == here || is_reached(p, device)) return 0;
    if (!reads && stays(p, device)) {
        p->where = stays(p, device);
        p->mapped |= here;
        return 0;
    }
    if (reads && p->where) share(page, here);
    else lie(p, here);
    return from;
}

static void device_fault(u64 page, bool store, const Grid *g, Counts *t)
{
    u32 device = g->launch->device;
    u64 moved = 0, linked = 0;
    Pages group = group_of(page);
    for (u64 n = group.first; n < group.end; n++) {
        u32 from = arrive(n, store, device);
        moved += from == ON_HOST ? PAGE : 0;
        linked += from & ON_DEVICES ? PAGE : 0;
    }
    t->faults++;
    t->moved += moved;
    managed_grid(g)->faults++;
    managed_grid(g)->moved += moved;
    managed_grid(g)->linked += linked;
    link_moves(g, t, linked, 0);
}

enum { OVER_BUS = 1, OVER_LINK = 2 };

// The host may see at once what is strong at system scope.
static void note_write(u64 page, const Insn *i, const Grid *g)
{
    if (i->strong && i->scope == SCOPE_SYS) {
        managed_grid(g)->told |= managed_grid(g)->fenced || i->order >= ORDER_RELEASE;
        return;
    }
    if (page >= managed_pages) return;
    pages[page].writer = g->number;
    managed_grid(g)->wrote = true;
}

static u32 touch(u64 page, const Access *a, const Grid *g, Counts *t)
{
    Page *p = &pages[page];
    u32 device = g->launch->device;
    if (a->store) note_write(page, a->insn, g);
    if (p->where == 1u << device || (has(p, device) && !a->store)) return 0;
    if (!is_reached(p, device)) device_fault(page, a->store, g, t);
    return !is_reached(p, device) ? 0 : p->where & ON_HOST ? OVER_BUS : OVER_LINK;
}

static u32 touch_lanes(const Access *a, const Grid *g, Counts *t)
{
    u32 remote = 0;
    u64 before = ~0ull;
    for (u32 l = a->first; l < LANES; l++) {
        if (!(a->mask >> l & 1) || !is_shared(a->address[l])) continue;
        u64 page = page_of(a->address[l]); // an aligned access crosses no page
        if (page != before) remote |= touch(page, a, g, t);
        before = page;
    }
    return remote;
}

static bool lies_there(const Access *a)
{
    for (u32 l = a->first; l < LANES; l++)
        if (a->mask >> l & 1 && is_shared(a->address[l])) return true;
    return false;
}

// The access comes to pinned memory: what was brought there must be there, and what it stores is in
// flight, unless it is strong at system scope: the host may see that at once.
static void reach_pinned(const Access *a, const Launch *launch)
{
    bool stays = a->store && !(a->insn->strong && a->insn->scope == SCOPE_SYS);
    for (u32 l = a->first; l < LANES; l++) {
        if (!(a->mask >> l & 1) || a->address[l] - MEMORY_PINNED >= MEMORY_SHARED_SPAN / 2)
            continue;
        flight_reach(a->address[l], a->bytes);
        if (stays) flight_stored(launch, a->address[l], a->bytes);
    }
}

// The sectors that it touches from one address to another. Lanes of one access can be in several
// memories, so that the first lane says nothing of the others.
static u32 sectors_in(Access *a, u64 from, u64 end)
{
    u32 lanes = 0;
    for (u32 l = a->first; l < LANES; l++)
        lanes |= (u32)(a->mask >> l & 1 && a->address[l] - from < end - from) << l;
    return lanes ? access_sectors_of(a, lanes) : 0;
}

static void count(Access *a, u32 remote, Grid *g, Counts *t)
{
    u32 managed = sectors_in(a, MEMORY_SHARED, MEMORY_PINNED),
        pinned = sectors_in(a, MEMORY_PINNED, MEMORY_SHARED + MEMORY_SHARED_SPAN);
    t->managed_sectors += managed;
    t->host_sectors += pinned + (remote & OVER_BUS ? managed : 0);
    if (pinned && (!a->store || a->atomic)) carried_pinned((u64)pinned * SECTOR_BYTES);
    if (remote & OVER_BUS) managed_grid(g)->remote += (u64)(managed + pinned) * SECTOR_BYTES;
}

static bool managed_access(Access *a)
{
    if (a->space != SPACE_GLOBAL || !pages) {
        access_pass_all(a);
        return true;
    }
    Grid *g = a->warp->block->grid;
    if (g->shard && lies_there(a)) {
        shard_abort(g);
        return false;
    }
    Counts *t = &counts_of(g)[a->insn - g->kernel->code];
    u64 first = a->address[a->first], last = a->address[31 - __builtin_clz(a->mask)];
    u32 remote = 0;
    if (a->regular && !is_shared(first) && !is_shared(last)) return true;
    if (!lies_there(a)) return true;
    reach_pinned(a, g->launch);
    if (!a->regular) remote = touch_lanes(a, g, t);
    else if (page_of(first) == page_of(last)) remote = touch(page_of(first), a, g, t);
    else remote = touch_lanes(a, g, t);
    count(a, remote, g, t);
    if (!remote) return true;
    u64 bytes = (u64)access_sectors(a) * SECTOR_BYTES;
    if (!(remote & OVER_BUS))
        link_moves(g, t, a->store && !a->atomic ? 0 : bytes, a->store ? bytes : 0);
    return true;
}

static void managed_grid_start(Grid *g)
{
    carried_launch(g->launch);
    g->kept[GRID_MANAGED] = need(calloc(1, sizeof(ManagedGrid)));
}

static void managed_fence(Warp *w, const Insn *i)
{
    if (i->scope == SCOPE_SYS) managed_grid(w->block->grid)->fenced = true;
}

static void managed_grid_end(Grid *g)
{
    const ManagedGrid *m = managed_grid(g);
    if (m->faults) report_migration("HtoD", "gpu-fault", m->moved, m->faults);
    if (m->linked) report_migration("DtoD", "gpu-fault", m->linked, 0);
}

static void managed_grid_free(Grid *g) { free(managed_grid(g)); }

const Observer managed_observer = {
    .grid_start = managed_grid_start,
    .access = managed_access,
    .fence = managed_fence,
    .grid_end = managed_grid_end,
    .grid_free = managed_grid_free,
};

void managed_written(u64 address, u64 bytes, u32 device)
{
    if (address - MEMORY_SHARED >= MEMORY_PINNED - MEMORY_SHARED || !bytes) return;
    for (u64 n = page_of(address); n <= page_of(address + bytes - 1); n++)
        lie(&pages[n], 1u << device);
    carried_written(address, bytes);
}

// ---- Who waited for whom ----

void managed_launched(const Grid *g, const u64 callers[ORIGIN_CALLERS], double done)
{
    u32 n = 0;
    carried_done();
    if (!managed_grid(g)->wrote || managed_grid(g)->told) return;
    while (n < unfinished_count && unfinished[n].launch != g->number) n++;
    if (n == MOST_UNFINISHED)
        memmove(unfinished, unfinished + 1, --n * sizeof *unfinished), unfinished_count--;
    Unfinished *u = &unfinished[n];
    if (n == unfinished_count) {
        *u = (Unfinished){ .launch = g->number };
        snprintf(u->signature, sizeof u->signature, "%s", g->kernel->signature);
        memcpy(u->callers, callers, sizeof u->callers);
        unfinished_count++;
    }
    u->done = done;
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
    Report r = { .cause = a && a->name ? CAUSE_host_touches_variable_while_kernel_writes
                                       : CAUSE_host_touches_while_kernel_writes,
                 .kernel = u->signature,
                 .address = address,
                 .allocation = a };
    origin_place(u->callers, ORIGIN_CALLERS, &r.place);
    report_error(&r);
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

double managed_prefetch(u64 address, u64 bytes, s32 to)
{
    u64 moved = 0, linked = 0;
    u32 here = to < 0 ? ON_HOST : 1u << to;
    for (u64 n = page_of(address); n <= page_of(address + bytes - 1); n++) {
        Page *p = &pages[n];
        p->advice = (p->advice & ~(TO_HOST | TO_DEVICE)) | (to < 0 ? TO_HOST : TO_DEVICE);
        p->prefetched = (u8)to;
        if (p->where & here) continue;
        if (to >= 0 && p->where & ON_DEVICES && !(p->where & ON_HOST)) linked += PAGE;
        else if (p->where) moved += PAGE;
        if (p->where && p->advice & READ_MOSTLY) share(n, here);
        else lie(p, here);
    }
    if (moved) report_migration(to < 0 ? "DtoH" : "HtoD", "prefetch", moved, 0);
    if (linked) report_migration("DtoD", "prefetch", linked, 0);
    return seconds_of(0, moved) + linked / profile.link_bytes_per_second;
}

void managed_discard(u64 address, u64 bytes)
{
    for (u64 n = page_of(address + PAGE - 1); n < page_of(address + bytes); n++) lie(&pages[n], 0);
}

// Only what prefers the host, or that device, lets others access the page there.
static void settle(Page *p)
{
    u32 place = p->advice & PREFER_HOST   ? ON_HOST
              : p->advice & PREFER_DEVICE ? 1u << p->preferred
                                          : 0;
    if (p->where != place) p->mapped = 0;
}

static bool advise(Page *p, u32 advice, s32 at)
{
    u16 device = at < 0 ? 0 : (u16)(1u << at);
    switch (advice) {
    case cudaMemAdviseSetReadMostly: p->advice |= READ_MOSTLY; break;
    case cudaMemAdviseUnsetReadMostly: p->advice &= ~READ_MOSTLY; break;
    case cudaMemAdviseSetPreferredLocation:
        p->advice =
            (p->advice & ~(PREFER_HOST | PREFER_DEVICE)) | (at < 0 ? PREFER_HOST : PREFER_DEVICE);
        p->preferred = (u8)at;
        break;
    case cudaMemAdviseUnsetPreferredLocation: p->advice &= ~(PREFER_HOST | PREFER_DEVICE); break;
    case cudaMemAdviseSetAccessedBy: p->accessed_by |= device; break;
    case cudaMemAdviseUnsetAccessedBy: p->accessed_by &= ~device; break;
    default: return false;
    }
    settle(p);
    return true;
}

bool managed_advise(u64 address, u64 bytes, u32 advice, s32 at)
{
    bool good = true;
    for (u64 n = page_of(address); good && n <= page_of(address + bytes - 1); n++)
        good = advise(&pages[n], advice, at);
    return good;
}

static s32 location(const Page *p, u8 host, u8 on_device, u8 device)
{
    return p->advice & host      ? cudaCpuDeviceId
         : p->advice & on_device ? device
                                 : cudaInvalidDeviceId;
}

ManagedFacts managed_facts(u64 address, u64 bytes)
{
    const Page *first = &pages[page_of(address)];
    ManagedFacts facts = {
        .read_mostly = READ_MOSTLY,
        .accessed_by = ON_DEVICES,
        .preferred = location(first, PREFER_HOST, PREFER_DEVICE, first->preferred),
        .prefetched = location(first, TO_HOST, TO_DEVICE, first->prefetched),
    };
    for (u64 n = page_of(address); n <= page_of(address + bytes - 1); n++) {
        const Page *p = &pages[n];
        facts.read_mostly &= p->advice;
        facts.accessed_by &= p->accessed_by;
        if (location(p, PREFER_HOST, PREFER_DEVICE, p->preferred) != facts.preferred)
            facts.preferred = cudaInvalidDeviceId;
        if (location(p, TO_HOST, TO_DEVICE, p->prefetched) != facts.prefetched)
            facts.prefetched = cudaInvalidDeviceId;
    }
    return facts;
}
