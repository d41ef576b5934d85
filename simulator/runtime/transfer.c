// Memory of the device on behalf of the program: allocating, freeing, copying, filling. Every
// range is checked before a byte moves, as no size or address of a request can be trusted; what is
// wrong is told to the student.

#include "model/caches.h"
#include "clock.h"
#include "machine/heap.h"
#include "ipc.h"
#include "managed.h"
#include "machine/memory.h"
#include "report/origin.h"
#include "pool.h"
#include "peer.h"
#include "machine/profile.h"
#include "checks/race.h"
#include "serve.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- What is wrong with a range ----

typedef struct {
    const Call *call;
    const char *verb;                           // "reads", "writes"
    u64 address, bytes;
} Range;

static void report_stale(const Range *range, const Allocation *a)
{
    char made[256], freed[256];
    report_made(a, made, sizeof made);
    report_freed(a, freed, sizeof freed);
    Report report = { .kind = REPORT_USE_AFTER_FREE, .place = serve_place(range->call),
        .address = range->address, .allocation = a,
        .why = "Freed memory may already hold something else.",
        .next = "Free it after its last use, or allocate it again." };
    report_errorf(&report, "%s %s the %" PRIu64 "-byte allocation%s, which was freed%s",
                  range->call->request.call, range->verb, a->size, made, freed);
}

static void report_past_end(const Range *range, const Allocation *a)
{
    char made[256];
    report_made(a, made, sizeof made);
    u64 end = a->base + a->size, past = range->address + range->bytes - end;
    Report report = { .kind = REPORT_BOUNDS,
                      .place = serve_place(range->call),
                      .address = end,
                      .allocation = a,
                      .why = "The copy would run into memory that belongs to something else.",
                      .next = "Sizes are in bytes: a count of elements times sizeof, the same in "
                              "cudaMalloc and here." };
    report_errorf(&report,
                  "%s %s %" PRIu64 " bytes from byte %" PRIu64 " on, %" PRIu64
                  " of them past the end of the %" PRIu64 "-byte allocation%s",
                  range->call->request.call, range->verb, range->bytes, range->address - a->base,
                  past, a->size, made);
}

static void report_wild(const Range *range)
{
    char beside[512] = "no allocation";
    const Allocation *near = memory_nearest(range->address);
    if (near)
        report_beside(near, range->address, beside, sizeof beside);
    Report report = { .kind = REPORT_BOUNDS,
                      .place = serve_place(range->call),
                      .address = range->address,
                      .allocation = near,
                      .why = "No allocation of the device lies at that address.",
                      .next = "Check the arithmetic on the pointer." };
    report_errorf(&report, "%s %s device memory at 0x%" PRIx64 ", %s", range->call->request.call,
                  range->verb, range->address, beside);
}

// The live allocation that holds the whole range; NULL: reported.
static Allocation *check_range(const Call *call, const char *verb, u64 address, u64 bytes)
{
    Range range = { call, verb, address, bytes };
    Allocation *a = memory_find(address);
    if (a && a->freed)
        report_stale(&range, a);
    else if (a && bytes > a->base + a->size - address)
        report_past_end(&range, a);
    else if (a)
        return a;
    else
        report_wild(&range);
    return NULL;
}

// The bytes from the first to the last of the box; false: they cannot exist.
static bool box_extent(const WireBox *box, u64 width, u64 rows, u64 slices, u64 *bytes)
{
    u64 last_row, last_slice;
    if (!width || !rows || !slices || (rows > 1 && box->pitch < width))
        return false;
    if (__builtin_mul_overflow(box->pitch, rows - 1, &last_row)
        || __builtin_mul_overflow(box->slice, slices - 1, &last_slice))
        return false;
    return !__builtin_add_overflow(last_row, width, bytes)
        && !(slices > 1 && box->slice < *bytes)
        && !__builtin_add_overflow(*bytes, last_slice, bytes) && *bytes <= MEMORY_SPAN;
}

static Allocation *check_box(Call *call, const char *verb, const WireBox *box)
{
    const WireRequest *request = &call->request;
    u64 bytes;
    Allocation *a = NULL;
    if (!clock_stream_known(request->stream)) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return NULL;
    }
    if (box_extent(box, request->copy.width, request->copy.rows, request->copy.slices, &bytes))
        a = check_range(call, verb, box->address, bytes);
    if (!a)
        call->reply.error = WIRE_INVALID_VALUE;
    return a;
}

static void report_too_early(const Call *call, const Allocation *a)
{
    char made[256];
    report_made(a, made, sizeof made);
    Report report = { .kind = REPORT_RACE, .place = serve_place(call), .address = a->base,
        .allocation = a, .why = POOL_EARLY_WHY, .next = POOL_EARLY_NEXT };
    report_errorf(&report, "%s uses the %" PRIu64
                  "-byte allocation%s on a stream that does not wait for the allocation",
                  call->request.call, a->size, made);
}

// The copy or fill begins, on one or two allocations.
static void begin(const Call *call, const Allocation *a, const Allocation *b)
{
    u64 operation = clock_operation(call->request.stream);
    Operation transfer = { .number = operation };
    snprintf(transfer.call, sizeof transfer.call, "%s", call->request.call);
    memcpy(transfer.callers, call->request.caller, sizeof transfer.callers);
    race_transfer(&transfer, !call->request.copy.blocks);
    if (!pool_use(a, operation))
        report_too_early(call, a);
    else if (b && !pool_use(b, operation))
        report_too_early(call, b);
}

// How many rows a good copy or fill has in all its slices, and where one of them begins.
static u64 row_count(const Call *call)
{
    return call->request.copy.rows * call->request.copy.slices;
}

static u64 row_at(const Call *call, const WireBox *box, u64 row)
{
    u64 rows = call->request.copy.rows;
    return box->address + row / rows * box->slice + row % rows * box->pitch;
}

// ---- Allocating ----

void transfer_alloc(Call *call)
{
    const WireRequest *request = &call->request;
    u64 align = request->alloc.align;
    if (!align || (align & (align - 1)) || align > 1 << 20 || request->alloc.bytes > MEMORY_SPAN) {
        call->reply.error =
            request->alloc.bytes > MEMORY_SPAN ? WIRE_MEMORY_ALLOCATION : WIRE_INVALID_VALUE;
        return;
    }
    static const enum memory_kind kinds[] = { MEMORY_DEVICE, MEMORY_MANAGED, MEMORY_PINNED_HOST,
                                              MEMORY_PINNED_HOST };
    if (request->alloc.kind >= sizeof kinds / sizeof *kinds) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    enum memory_kind kind = kinds[request->alloc.kind];
    Allocation *a = memory_alloc(request->alloc.bytes, align, kind, request->device, request->caller);
    if (!a) {
        call->reply.error = WIRE_MEMORY_ALLOCATION;
        return;
    }
    a->registered = request->alloc.kind == WIRE_OF_PROGRAM;
    if (kind != MEMORY_DEVICE)
        managed_allocated(a);
    call->reply.memory.address = a->base;
    call->reply.memory.size = a->size;
}

// The call that frees memory of this kind.
static const char *free_of(const Allocation *a)
{
    if (a->pooled)
        return "cudaFreeAsync";
    return a->kind == MEMORY_PINNED_HOST ? "cudaFreeHost" : "cudaFree";
}

void transfer_bad_free(Call *call, u64 address)
{
    call->reply.error = WIRE_INVALID_VALUE;
    const Allocation *a = memory_find(address);
    char text[512];
    Report report = { .kind = REPORT_INVALID_FREE, .place = serve_place(call), .address = address,
        .allocation = a };
    const char *name = call->request.call;
    if (a && a->freed && a->base == address) {
        char made[256], freed[256];
        report_made(a, made, sizeof made);
        report_freed(a, freed, sizeof freed);
        report.why = "Memory is freed once; the second time it may belong to something else.";
        report.next = "Remove one of the two, or set the pointer to nullptr after freeing it.";
        report_errorf(&report,
                      "%s frees the %" PRIu64 "-byte allocation%s a second time; the first was%s",
                      name, a->size, made, freed[0] ? freed : " earlier");
    } else if (a && !a->freed && a->base == address && memory_is_freeable(a)) {
        char made[256], next[64];
        report_made(a, made, sizeof made);
        snprintf(next, sizeof next, "Call %s for it.", free_of(a));
        report.why = "Each kind of memory has its own call that frees it.";
        report.next = next;
        report_errorf(&report, "%s was given the %" PRIu64 "-byte allocation%s, which is %s memory",
                      name, a->size, made, a->kind == MEMORY_PINNED_HOST ? "pinned host" : "device");
    } else if (a) {
        report.why = "Only what cudaMalloc returned can be freed, not a part of it.";
        report.next = "Keep the pointer that cudaMalloc gave, and free that.";
        report_errorf(&report, "%s was given an address %s", name,
                      report_beside(a, address, text, sizeof text));
    } else {
        report.why = "Only what cudaMalloc returned can be freed with cudaFree.";
        report.next =
            "Free host memory with free, delete or cudaFreeHost, whichever it came with.";
        report_errorf(&report, "%s was given 0x%" PRIx64 ", which no cudaMalloc returned", name,
                      address);
    }
}

void transfer_free(Call *call)
{
    u64 address = call->request.pointer.address;
    // Freeing waits for the work that may still use the memory.
    const Allocation *a = memory_find(address);
    clock_wait_device(a ? a->device : call->request.device);
    bool pinned = a && a->kind == MEMORY_PINNED_HOST;
    u32 kind = call->request.pointer.kind;
    if (pinned == (kind == WIRE_OF_HOST || kind == WIRE_OF_PROGRAM)
        && (!a || a->registered == (kind == WIRE_OF_PROGRAM))
        && memory_free(address, call->request.caller)) {
        pool_freed(a);
        ipc_freed(a);
    } else {
        transfer_bad_free(call, address);
    }
}

void transfer_memory_info(Call *call)
{
    call->reply.info.total = memory_capacity();
    u64 used = memory_used(call->request.device) + pool_idle(call->request.device);
    call->reply.info.free = used < memory_capacity() ? memory_capacity() - used : 0;
}

void transfer_pointer(Call *call)
{
    const Allocation *a = memory_find(call->request.pointer.address);
    if (!a || a->freed)
        return;
    call->reply.memory.address = a->base;
    call->reply.memory.size = a->size;
    call->reply.memory.device = a->device;
}

static bool is_left(const Allocation *a, u32 of)
{
    return !a->freed && memory_is_freeable(a) && (of == ALL_DEVICES || a->device == of);
}

void transfer_leaks(u32 of)
{
    for (const Allocation *a = memory_first(); a; a = a->next) {
        if (!is_left(a, of) || a->registered)
            continue;
        char next[96];
        snprintf(next, sizeof next, "Call %s for it when its last use is over.", free_of(a));
        Report report = { .kind = REPORT_LEAK, .address = a->base, .allocation = a, .next = next,
            .why = "What is allocated and not freed is lost until the program ends." };
        origin_place(a->made, MEMORY_CALLERS, &report.place);
        report_errorf(&report, "%" PRIu64 " byte%s allocated here and never freed", a->size,
                      a->size == 1 ? "" : "s");
    }
    heap_leaks(of);
}

void transfer_free_all(u32 of)
{
    for (const Allocation *a = memory_first(); a; a = a->next)
        if (is_left(a, of)) {
            memory_free(a->base, NULL);
            pool_freed(a);
            ipc_freed(a);
        }
    heap_free_all(of);
}

// ---- Definedness ----

static bool bit_of(const u64 *bits, u64 address)
{
    u64 bit = address - MEMORY_BASE;
    return bits[bit / 64] >> bit % 64 & 1;
}

static bool is_defined(u64 address)
{
    return bit_of(memory_defined_bits, address);
}

static void copy_bit(u64 *bits, u64 to, u64 from)
{
    u64 bit = to - MEMORY_BASE, mask = 1ull << bit % 64;
    bits[bit / 64] = bit_of(bits, from) ? bits[bit / 64] | mask : bits[bit / 64] & ~mask;
}

// A copy on the device carries along which of its bytes were ever written.
static void copy_defined(u64 to, u64 from, u64 bytes)
{
    if (memory_undefined(from, bytes) == bytes) {
        memory_define(to, bytes);
        return;
    }
    bool backwards = to > from;
    for (u64 i = 0; i < bytes; i++) {
        u64 at = backwards ? bytes - 1 - i : i;
        copy_bit(memory_defined_bits, to + at, from + at);
        copy_bit(memory_computed_bits, to + at, from + at);
    }
}

static u64 count_undefined(u64 address, u64 bytes)
{
    u64 count = 0;
    for (u64 i = 0; i < bytes; i++)
        count += !is_defined(address + i);
    return count;
}

// Reports the bytes of the box that nothing wrote.
static void check_defined(const Call *call, const Allocation *a)
{
    const WireRequest *request = &call->request;
    u64 undefined = 0, first = 0, width = request->copy.width;
    for (u64 row = 0; row < row_count(call); row++) {
        u64 address = row_at(call, &request->copy.device, row);
        u64 good = memory_undefined(address, width);
        if (good == width)
            continue;
        if (!undefined)
            first = address + good - a->base;
        undefined += count_undefined(address + good, width - good);
    }
    if (!undefined)
        return;
    char made[256];
    report_made(a, made, sizeof made);
    Report report = {
        .kind = REPORT_UNINITIALIZED,
        .place = serve_place(call),
        .address = a->base + first,
        .allocation = a,
        .why = "cudaMalloc does not clear memory: these bytes are whatever lay there before.",
        .next = "Look for elements that the kernel does not write: a grid that is too small, a "
                "wrong index."
    };
    bool computed = bit_of(memory_computed_bits, a->base + first);
    if (computed) {
        report.why = "A kernel stored them, but worked them out from memory that nothing had written.";
        report.next = "Look for what it reads before it is written: an array or a tile that is filled "
                      "only in part.";
    }
    report_errorf(&report,
                  "%s copies %" PRIu64 " byte%s that %s, from byte %" PRIu64 " of the %" PRIu64
                  "-byte allocation%s",
                  request->call, undefined, undefined == 1 ? "" : "s",
                  computed ? "a kernel computed from memory that nothing wrote"
                           : "nothing wrote",
                  first, a->size, made);
}

// The box that a copy or fill reads, or stores to, beside what is at work on other streams.
static void look_for_races(const Call *call, const WireBox *box, bool store)
{
    for (u64 row = 0; row < row_count(call); row++)
        race_range(row_at(call, box, row), call->request.copy.width, store);
}

// ---- Copying ----

// Is the chunk one that can be: within its transfer and its slot?
static bool chunk_good(const Call *call)
{
    const WireChunk *chunk = &call->request.copy.chunk;
    u64 total;
    return !__builtin_mul_overflow(call->request.copy.width, call->request.copy.rows, &total)
        && !__builtin_mul_overflow(total, call->request.copy.slices, &total)
        && chunk->total == total && chunk->slot < WIRE_SLOTS && chunk->bytes <= WIRE_SLOT_BYTES
        && chunk->offset <= total && chunk->bytes <= total - chunk->offset;
}

static double copy_ns(const Call *call, u64 bytes)
{
    double speed = call->request.copy.pinned ? profile.copy_bytes_per_second
                                             : profile.pageable_bytes_per_second;
    return speed > 0 ? (double)bytes / speed * 1e9 : 0;
}

// The last chunk ends the copy: it takes its time and is told.
static void finish_copy(const Call *call, const char *kind, enum engine engine, double ns)
{
    clock_work(call->request.stream, engine, 1, ns, call->request.copy.blocks);
    report_copy(kind, call->request.copy.width * row_count(call));
}

// Moves the chunk between its slot and the box of device memory, in pieces of a row.
static void move_chunk(const Call *call, bool in)
{
    const WireBox *box = &call->request.copy.device;
    const WireChunk *chunk = &call->request.copy.chunk;
    u64 width = call->request.copy.width, offset = chunk->offset, left = chunk->bytes;
    u8 *slot = device.staging + (u64)chunk->slot * WIRE_SLOT_BYTES;
    while (left) {
        u64 column = offset % width, piece = width - column < left ? width - column : left;
        u64 address = row_at(call, box, offset / width) + column;
        if (in) {
            memcpy((void *)address, slot, piece);
            memory_define(address, piece);
            managed_written(address, piece, call->request.device);
            caches_written(address, piece);
        } else {
            memcpy(slot, (void *)address, piece);
        }
        slot += piece;
        offset += piece;
        left -= piece;
    }
}

// The runtime reads pageable memory before it returns, through a buffer of 64 KiB: the host is
// busy for nearly as long as the copy of more than that takes.
static void finish_copy_chunks(const Call *call, bool in)
{
    enum { STAGED_AT_ONCE = 64 << 10 };
    const WireRequest *request = &call->request;
    u64 bytes = request->copy.chunk.total;
    finish_copy(call, in ? "HtoD" : "DtoH", in ? ENGINE_COPY_IN : ENGINE_COPY_OUT,
                copy_ns(call, bytes));
    double end = clock_stream_end(request->stream);
    if (in && !request->copy.pinned && bytes > STAGED_AT_ONCE && end > clock_now())
        clock_host(end - clock_now());
}

static void copy_chunk(Call *call, bool in)
{
    const WireChunk *chunk = &call->request.copy.chunk;
    if (!chunk_good(call)) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    Allocation *a = check_box(call, in ? "writes" : "reads", &call->request.copy.device);
    if (!a)
        return;
    if (chunk->offset == 0) {
        begin(call, a, NULL);
        look_for_races(call, &call->request.copy.device, in);
    }
    if (!in && chunk->offset == 0)
        check_defined(call, a);
    move_chunk(call, in);
    if (chunk->offset + chunk->bytes == chunk->total)
        finish_copy_chunks(call, in);
}

void transfer_copy_in(Call *call)
{
    copy_chunk(call, true);
}

void transfer_copy_out(Call *call)
{
    copy_chunk(call, false);
}

static bool are_peers(const Allocation *a, const Allocation *b)
{
    return a->device != b->device && peer_is_private(a) && peer_is_private(b);
}

static void finish_peer_copy(const Call *call, u32 from, u32 to)
{
    u64 bytes = call->request.copy.width * row_count(call), stream = call->request.stream;
    bool link = peer_linked(from, to);
    double ns = peer_copy_seconds(from, to, bytes) * 1e9;
    clock_work_between(stream, from, to, link, ns, call->request.copy.blocks);
    report_copy("PtoP", bytes);
    LinkReport moved = { from, to, bytes };
    double end = clock_stream_end(stream);
    report_work("copy", from, end - ns, end, !link, &moved, 1);
}

void transfer_copy_device(Call *call)
{
    const WireRequest *request = &call->request;
    const WireBox *to = &request->copy.device, *from = &request->copy.from;
    u64 width = request->copy.width;
    const Allocation *source_of = check_box(call, "reads", from);
    const Allocation *target_of = source_of ? check_box(call, "writes", to) : NULL;
    if (!target_of)
        return;
    bool peers = are_peers(source_of, target_of);
    if (peers)
        clock_join_devices(request->stream, source_of->device, target_of->device);
    begin(call, source_of, target_of);
    look_for_races(call, from, false);
    look_for_races(call, to, true);
    for (u64 row = 0; row < row_count(call); row++) {
        u64 target = row_at(call, to, row), source = row_at(call, from, row);
        memmove((void *)target, (void *)source, width);
        copy_defined(target, source, width);
        managed_written(target, width, request->device);
        caches_written(target, width);
    }
    if (peers) {
        finish_peer_copy(call, source_of->device, target_of->device);
        return;
    }
    double bytes = 2.0 * (double)width * (double)row_count(call);    // each is read and written
    double speed = profile.dram_bytes_per_second;
    finish_copy(call, "DtoD", ENGINE_NONE, speed > 0 ? bytes / speed * 1e9 : 0);
}

void transfer_copy_host(Call *call)
{
    report_copy("HtoH", call->request.copy.width * row_count(call));
}

// Writes a value of 1, 2 or 4 bytes again and again.
static void fill_row(u8 *at, u64 bytes, u32 value, u32 value_bytes)
{
    if (value_bytes == 1)
        memset(at, (int)value, bytes);
    else
        for (u64 i = 0; i < bytes; i += value_bytes)
            memcpy(at + i, &value, value_bytes);
}

// Can the values be so wide: do they fill the rows, each where such a value may lie?
static bool value_good(const WireRequest *request)
{
    u32 bytes = request->copy.value_bytes;
    const WireBox *box = &request->copy.device;
    bool rows = request->copy.rows > 1, slices = request->copy.slices > 1;
    return (bytes == 1 || bytes == 2 || bytes == 4) && request->copy.width % bytes == 0
        && box->address % bytes == 0 && (!rows || box->pitch % bytes == 0)
        && (!slices || box->slice % bytes == 0);
}

void transfer_fill(Call *call)
{
    const WireRequest *request = &call->request;
    if (!value_good(request)) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    const Allocation *a = check_box(call, "writes", &request->copy.device);
    if (!a)
        return;
    begin(call, a, NULL);
    look_for_races(call, &request->copy.device, true);
    u64 width = request->copy.width;
    for (u64 row = 0; row < row_count(call); row++) {
        u64 address = row_at(call, &request->copy.device, row);
        fill_row((u8 *)address, width, request->copy.value, request->copy.value_bytes);
        memory_define(address, width);
        managed_written(address, width, request->device);
        caches_written(address, width);
    }
    double bytes = (double)width * (double)row_count(call);
    double speed = profile.dram_bytes_per_second;
    clock_work(request->stream, ENGINE_NONE, 1, speed > 0 ? bytes / speed * 1e9 : 0,
               request->copy.blocks);
}

// ---- Managed memory ----

void transfer_touched(Call *call)
{
    managed_touched((const WirePages *)call->tail, call->tail_bytes / sizeof(WirePages));
}

// Is the range of a PREFETCH, ADVISE or RANGE live managed memory? False: the call fails.
static bool check_managed(Call *call)
{
    const WireRequest *request = &call->request;
    if (request->range.location < -1 || request->range.location >= (s32)device.count) {
        call->reply.error = WIRE_INVALID_DEVICE;
        return false;
    }
    if (!clock_stream_known(request->stream)) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return false;
    }
    call->reply.error = WIRE_INVALID_VALUE;
    Allocation *a = NULL;
    if (request->range.bytes)
        a = check_range(call, "names", request->range.address, request->range.bytes);
    if (!a)
        return false;
    if (a->kind == MEMORY_MANAGED) {
        call->reply.error = WIRE_SUCCESS;
        return true;
    }
    char made[256];
    report_made(a, made, sizeof made);
    Report report = { .kind = REPORT_API, .place = serve_place(call), .allocation = a,
        .why = "Only managed memory moves between the host and the device by itself.",
        .next = "Allocate it with cudaMallocManaged, or leave this call out." };
    report_errorf(&report,
                  "%s was given the %" PRIu64 "-byte allocation%s, which is not managed memory",
                  request->call, a->size, made);
    return false;
}

void transfer_prefetch(Call *call)
{
    const WireRequest *request = &call->request;
    if (!check_managed(call))
        return;
    s32 to = request->range.location;
    double seconds = managed_prefetch(request->range.address, request->range.bytes, to);
    clock_operation(request->stream);
    clock_work(request->stream, to < 0 ? ENGINE_COPY_OUT : ENGINE_COPY_IN, 1, seconds * 1e9, false);
}

void transfer_advise(Call *call)
{
    const WireRequest *request = &call->request;
    if (check_managed(call) && !managed_advise(request->range.address, request->range.bytes,
                                               request->range.advice, request->range.location))
        call->reply.error = WIRE_INVALID_VALUE;
}

void transfer_range(Call *call)
{
    if (check_managed(call))
        managed_range(call->request.range.address, call->request.range.bytes, &call->reply);
}

// ---- Host code that touches what it may not ----

static const char *kind_of(const Allocation *a)
{
    return a->kind == MEMORY_MANAGED ? "managed" : "pinned";
}

// The host has managed and pinned memory as well: it touched some that was freed, or a place
// beside it.
static void report_missed(const Call *call, Report *report, const Allocation *near,
                          const char *beside)
{
    bool stale = near->freed && report->address - near->base < near->size;
    report->kind = stale ? REPORT_USE_AFTER_FREE : REPORT_BOUNDS;
    report->why =
        stale ? "Freed memory belongs to nobody." : "The host's index is outside the array.";
    report->next = stale ? "Free it after its last use, on the host as on the device."
                         : "Compare the index with the number of elements.";
    report_errorf(report, "host code %s %s memory %s",
                  call->request.fault.writes ? "writes" : "reads", kind_of(near), beside);
}

void transfer_fault(Call *call)
{
    u64 address = call->request.fault.address;
    char beside[512] = "device memory";
    const Allocation *near = memory_nearest(address);
    if (near)
        report_beside(near, address, beside, sizeof beside);
    device.faulted = true;
    Report report = {
        .kind = REPORT_HOST_ACCESS,
        .place = serve_place(call),
        .address = address,
        .allocation = near,
        .why = "A pointer from cudaMalloc means something to kernels only; the host cannot follow "
               "it.",
        .next = "Copy with cudaMemcpy and use the host's copy, or do this in a kernel."
    };
    if (near && near->base >= MEMORY_SHARED && address >= MEMORY_SHARED)
        report_missed(call, &report, near, beside);
    else
        report_errorf(&report, "host code %s device memory at 0x%" PRIx64 ", %s",
                      call->request.fault.writes ? "writes" : "reads", address, beside);
}
