#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/need.h"
#include "flight.h"
#include "guard.h"
#include "isa/isa.h"
#include "program/instruction.h"
#include "program/kernel.h"
#include "report/report.h"
#include "streams/clock.h"

enum { PAGE = WIRE_PAGE, MOST_MARKS = UINT16_MAX, MOST_TOUCHES = 1 << 16 };
static const u64 MOST_WAITING = 256 << 20;

typedef struct Range {
    u64 address, bytes;
} Range;

typedef struct Flight {
    struct Flight *next;
    u64 operation;
    bool writes, ran, reported;
    u64 excused; // so many touches of the host, the first, are not compared with it
    char call[sizeof((WireRequest *)0)->call];
    u64 callers[ORIGIN_CALLERS];
    FlightBytes at; // of a copy or fill
    u8 *bytes;      // that have not landed; NULL: none
    // Of a launch:
    char *kernel;  // its signature; NULL: it is a copy or fill
    u16 mark;      // of the bytes that it has written
    Range *ranges; // that are guarded for it
    size_t range_count, range_room;
} Flight;

static Flight *first;   // in the order in which they were issued
static u64 waiting;     // bytes that have not landed
static Flight *storing; // of the launch that stored last, `storing_launch`; NULL: it has none
static u64 storing_launch;

static u16 *marks;      // of each byte of pinned memory: the launch that wrote it last
static u16 *page_marks; // of each page
static u16 latest_mark;

// What host code has touched while work was under way that has not run.
typedef struct Touch {
    u64 address, bytes, number;
    bool writes;
    u64 callers[ORIGIN_CALLERS];
} Touch;

static Touch *touches;
static size_t touch_count, touch_room;
static u64 touch_number;

static const u64 pinned_span = MEMORY_SHARED + MEMORY_SHARED_SPAN - MEMORY_PINNED;

static bool is_pinned(u64 address) { return address - MEMORY_PINNED < pinned_span; }

static void *reserve(u64 bytes)
{
    return need(mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

// ---- Bytes ----

static u64 row_count(const FlightBytes *at) { return at->rows * at->slices; }

static u64 byte_count(const FlightBytes *at) { return at->width * row_count(at); }

static u64 row_at(const FlightBytes *at, u64 row)
{
    return at->box.address + row / at->rows * at->box.slice + row % at->rows * at->box.pitch;
}

// The first of the bytes from `address` on that is among them; 0: none is.
static u64 first_within(const FlightBytes *at, u64 address, u64 bytes)
{
    for (u64 row = 0; row < row_count(at); row++) {
        u64 begin = row_at(at, row);
        if (begin < address + bytes && address < begin + at->width)
            return begin > address ? begin : address;
    }
    return 0;
}

static u64 first_marked(u64 address, u64 bytes, u16 mark)
{
    for (u64 n = 0; n < bytes; n++)
        if (marks[address - MEMORY_PINNED + n] == mark) return address + n;
    return 0;
}

static void guard_rows(const Flight *f, int by)
{
    for (u64 row = 0; row < row_count(&f->at); row++)
        guard_pages(row_at(&f->at, row), f->at.width, f->writes ? WIRE_CLOSED : WIRE_READ_ONLY, by);
}

// Gives back the room for what a flight brings. The largest is kept for the next.
static struct Room {
    u8 *bytes;
    u64 size;
} spare;

static void give_back(Flight *f)
{
    struct Room room = { f->bytes, byte_count(&f->at) };
    f->bytes = NULL;
    waiting -= room.size;
    if (room.size <= spare.size) {
        free(room.bytes);
        return;
    }
    free(spare.bytes);
    spare = room;
}

static u8 *take_room(u64 size)
{
    if (size > spare.size) return malloc(size);
    u8 *bytes = spare.bytes;
    spare = (struct Room){ 0 };
    return bytes;
}

static void land(Flight *f)
{
    const u8 *from = f->bytes;
    if (!from) return;
    for (u64 row = 0; row < row_count(&f->at); row++, from += f->at.width)
        memcpy((void *)row_at(&f->at, row), from, f->at.width);
    give_back(f);
}

static bool overlaps(const Flight *f, u64 address, u64 bytes)
{
    u64 begin = f->at.box.address, end = row_at(&f->at, row_count(&f->at) - 1) + f->at.width;
    return address < end && begin < address + bytes;
}

// ---- Beginning and ending ----

static Flight *add(u64 operation, const WireRequest *r)
{
    Flight *f = need(calloc(1, sizeof *f)), **end = &first;
    while (*end) end = &(*end)->next;
    *end = f;
    f->operation = operation;
    f->excused = touch_number;
    if (!r) return f;
    memcpy(f->call, r->call, sizeof f->call);
    memcpy(f->callers, r->caller, sizeof f->callers);
    return f;
}

static void drop(Flight **at)
{
    Flight *f = *at;
    *at = f->next;
    if (!f->kernel) guard_rows(f, -1);
    for (size_t n = 0; n < f->range_count; n++)
        guard_pages(f->ranges[n].address, f->ranges[n].bytes, WIRE_CLOSED, -1);
    if (f->bytes) give_back(f);
    if (storing == f) storing = NULL;
    free(f->kernel);
    free(f->ranges);
    free(f);
}

static void end(Flight **at)
{
    land(*at);
    drop(at);
}

// Is the flight over once this one has begun? It is of the same bytes, and came first.
static bool is_followed(const Flight *f, u64 operation, const FlightBytes *at, bool writes)
{
    return f->ran && !f->kernel && f->writes == writes && memcmp(&f->at, at, sizeof *at) == 0
        && clock_ordered(f->operation, operation);
}

void flight_begin(u64 operation, const FlightBytes *at, bool writes, const WireRequest *r)
{
    for (Flight **old = &first; *old;)
        if (is_followed(*old, operation, at, writes)) end(old);
        else old = &(*old)->next;
    Flight *f = add(operation, r);
    f->at = *at;
    f->writes = writes;
    guard_rows(f, 1);
}

static Flight *find(u64 operation)
{
    Flight *f = first;
    while (f && f->operation != operation) f = f->next;
    return f;
}

u8 *flight_bring(u64 operation)
{
    Flight *f = find(operation);
    if (!f || !f->writes || f->kernel || f->bytes) return NULL;
    for (u64 row = 0; row < row_count(&f->at) && waiting; row++)
        flight_reach(row_at(&f->at, row), f->at.width);
    if (waiting + byte_count(&f->at) > MOST_WAITING) flight_land_all();
    f->bytes = take_room(byte_count(&f->at));
    if (f->bytes) waiting += byte_count(&f->at);
    return f->bytes;
}

void flight_reach(u64 address, u64 bytes)
{
    for (Flight *f = first; f && waiting; f = f->next)
        if (f->bytes && overlaps(f, address, bytes)) land(f);
}

void flight_settle(void)
{
    for (Flight **at = &first; *at;)
        if (clock_host_knows((*at)->operation)) end(at);
        else at = &(*at)->next;
    if (!first) touch_count = 0;
}

void flight_told(const Order *before)
{
    for (Flight **at = &first; *at;)
        if (order_has(before, (*at)->operation)) end(at);
        else at = &(*at)->next;
}

void flight_freed(const Allocation *a)
{
    for (Flight **at = &first, *f; (f = *at);) {
        bool within = !f->kernel && overlaps(f, a->base, a->size);
        for (size_t n = 0; n < f->range_count; n++)
            within |= f->ranges[n].address - a->base < a->size;
        if (within) end(at);
        else at = &f->next;
    }
}

bool flight_waits(void) { return waiting; }

void flight_land_all(void)
{
    for (Flight *f = first; f && waiting; f = f->next) land(f);
}

void flight_forget(void)
{
    while (first) drop(&first);
    touch_count = 0;
}

// ---- Launches ----

static bool talks(const Kernel *k)
{
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const Insn *i = &k->code[pc];
        bool elsewhere = i->space == SPACE_SHARED || i->space == SPACE_LOCAL;
        if (i->scope == SCOPE_SYS && (i->op == ISA_fence || (i->strong && !elsewhere))) return true;
    }
    return false;
}

static void guard_range(Flight *f, u64 address, u64 bytes)
{
    if (f->range_count == f->range_room) {
        f->range_room = f->range_room ? 2 * f->range_room : 8;
        f->ranges = need(realloc(f->ranges, f->range_room * sizeof *f->ranges));
    }
    f->ranges[f->range_count++] = (Range){ address, bytes };
    guard_pages(address, bytes, WIRE_CLOSED, 1);
}

static Flight *add_launch(const Launch *l, const WireRequest *r)
{
    if (!marks) marks = reserve(pinned_span * sizeof *marks);
    if (!page_marks) page_marks = reserve(pinned_span / PAGE * sizeof *page_marks);
    if (latest_mark == MOST_MARKS) {
        madvise(marks, pinned_span * sizeof *marks, MADV_DONTNEED);
        madvise(page_marks, pinned_span / PAGE * sizeof *page_marks, MADV_DONTNEED);
        latest_mark = 0;
    }
    Flight *f = add(l->operation, r);
    f->kernel = need(strdup(l->kernel->signature));
    f->mark = ++latest_mark;
    f->writes = true;
    return f;
}

void flight_launch(const Launch *l, const WireRequest *r)
{
    Flight *f = NULL;
    const u8 *params = l->params;
    for (u32 n = 0; n + sizeof(u64) <= l->kernel->param_bytes; n += sizeof(u64)) {
        u64 p;
        memcpy(&p, params + n, sizeof p);
        const Allocation *a = is_pinned(p) ? memory_find(p) : NULL;
        if (!a || a->freed || (!f && talks(l->kernel))) continue;
        if (!f) f = add_launch(l, r);
        guard_range(f, a->base, a->size);
    }
}

void flight_kernel_begins(const Launch *l, const Order *before)
{
    if (first && talks(l->kernel)) flight_told(before);
}

static Flight *flight_of_launch(const Launch *l)
{
    if (storing_launch == l->operation) return storing;
    storing_launch = l->operation;
    storing = find(l->operation);
    if (!storing && !talks(l->kernel)) storing = add_launch(l, NULL);
    return storing;
}

void flight_stored(const Launch *l, u64 address, u64 bytes)
{
    Flight *f = flight_of_launch(l);
    if (!f || !f->mark) return;
    for (u64 n = 0; n < bytes; n++) marks[address - MEMORY_PINNED + n] = f->mark;
    u64 first_page = (address - MEMORY_PINNED) / PAGE,
        last = (address + bytes - 1 - MEMORY_PINNED) / PAGE;
    for (u64 page = first_page; page <= last; page++) {
        if (page_marks[page] == f->mark) continue;
        page_marks[page] = f->mark;
        guard_range(f, MEMORY_PINNED + page * PAGE, PAGE);
    }
}

// ---- What the host does ----

// Host code's own line, and its address there: often it calls the C library's memcpy.
static void place_of(const u64 callers[ORIGIN_CALLERS], Place *place)
{
    for (size_t n = 0; n < ORIGIN_CALLERS && callers[n]; n++)
        if (origin_place(callers + n, 1, place)) return;
    origin_place(callers, ORIGIN_CALLERS, place);
}

static void report(Flight *f, const Touch *t, u64 address)
{
    if (f->reported) return;
    f->reported = true;
    Report r = { .cause = f->kernel  ? CAUSE_host_touches_what_kernel_writes
                        : !f->writes ? CAUSE_host_writes_what_copy_reads
                                     : CAUSE_host_touches_what_copy_writes,
                 .access = t->writes ? ACCESS_WRITE : ACCESS_READ,
                 .kernel = f->kernel,
                 .address = address,
                 .allocation = memory_find(address),
                 .has_other = true,
                 .other = { .call = f->call, .access = f->writes ? ACCESS_WRITE : ACCESS_READ } };
    place_of(t->callers, &r.place);
    origin_place(f->callers, ORIGIN_CALLERS, &r.other.place);
    report_error(&r);
}

static void compare(Flight *f, const Touch *t)
{
    u64 at = f->kernel ? first_marked(t->address, t->bytes, f->mark)
                       : first_within(&f->at, t->address, t->bytes);
    if (at && (t->writes || f->writes) && t->number >= f->excused) report(f, t, at);
}

static void remember(const Touch *t)
{
    if (touch_count == MOST_TOUCHES) return;
    if (touch_count == touch_room) {
        touch_room = touch_room ? 2 * touch_room : 64;
        touches = need(realloc(touches, touch_room * sizeof *touches));
    }
    touches[touch_count++] = *t;
}

void flight_touched(u64 address, u64 bytes, bool writes, const u64 callers[ORIGIN_CALLERS])
{
    u64 left = PAGE - address % PAGE; // the client may have sent anything
    Touch t = { .address = address,
                .bytes = !bytes       ? 1
                       : bytes < left ? bytes
                                      : left,
                .number = touch_number++,
                .writes = writes };
    memcpy(t.callers, callers, sizeof t.callers);
    if (!is_pinned(address)) return;
    bool some_runs = false;
    for (Flight *f = first; f; f = f->next) {
        if (f->ran) compare(f, &t);
        some_runs |= !f->ran;
    }
    if (some_runs) remember(&t);
}

static void ran(Flight *f)
{
    f->ran = true;
    for (size_t n = 0; n < touch_count; n++) compare(f, &touches[n]);
}

void flight_ran(u64 operation)
{
    Flight *f = find(operation);
    if (f && !f->kernel) ran(f);
}

void flight_excuse(u64 operation)
{
    Flight *f = find(operation);
    if (f && !f->ran) f->excused = touch_number;
}

void flight_polled(void)
{
    for (Flight *f = first; f; f = f->next)
        if (!f->ran && f->kernel) f->excused = touch_number;
}

void flight_kernel_ended(const Launch *l, const WireRequest *r)
{
    Flight *f = find(l->operation);
    if (!f || !f->kernel || f->ran) return;
    memcpy(f->call, r->call, sizeof f->call);
    memcpy(f->callers, r->caller, sizeof f->callers);
    // Only the pages that it has written stay guarded.
    size_t kept = 0;
    for (size_t n = 0; n < f->range_count; n++) {
        Range *g = &f->ranges[n];
        bool page = g->bytes == PAGE && page_marks[(g->address - MEMORY_PINNED) / PAGE] == f->mark;
        if (page) f->ranges[kept++] = *g;
        else guard_pages(g->address, g->bytes, WIRE_CLOSED, -1);
    }
    f->range_count = kept;
    ran(f);
}
