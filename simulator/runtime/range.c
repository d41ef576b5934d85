// What is wrong with a range of device or pinned memory that the program names: it is told to the
// student.

#include "streams/clock.h"
#include "memory/memory.h"
#include "range.h"
#include <inttypes.h>
#include <stdio.h>

typedef struct {
    const Call *call;
    const char *verb; // "reads", "writes"
    u64 address, bytes;
} Range;

static void report_stale(const Range *range, const Allocation *a)
{
    char made[256], freed[256];
    report_made(a, made, sizeof made);
    report_freed(a, freed, sizeof freed);
    Report report = { .kind = REPORT_USE_AFTER_FREE,
                      .place = serve_place(range->call),
                      .address = range->address,
                      .allocation = a,
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
    bool pinned = a->kind == MEMORY_PINNED_HOST;
    Report report = { .kind = REPORT_BOUNDS,
                      .place = serve_place(range->call),
                      .address = end,
                      .allocation = a,
                      .why = "The copy would run into memory that belongs to something else.",
                      .next = pinned ? "Sizes are in bytes: a count of elements times sizeof, the "
                                       "same in cudaMallocHost and here."
                                     : "Sizes are in bytes: a count of elements times sizeof, the "
                                       "same in cudaMalloc and here." };
    report_errorf(&report,
                  "%s %s %" PRIu64 " bytes%s from byte %" PRIu64 " on, %" PRIu64
                  " of them past the end of the %" PRIu64 "-byte allocation%s",
                  range->call->request.call, range->verb, range->bytes,
                  pinned ? " of pinned memory" : "", range->address - a->base, past, a->size, made);
}

static void report_wild(const Range *range)
{
    char beside[512] = "no allocation";
    const Allocation *near = memory_nearest(range->address);
    if (near) report_beside(near, range->address, beside, sizeof beside);
    Report report = { .kind = REPORT_BOUNDS,
                      .place = serve_place(range->call),
                      .address = range->address,
                      .allocation = near,
                      .why = "No allocation of the device lies at that address.",
                      .next = "Check the arithmetic on the pointer." };
    report_errorf(&report, "%s %s device memory at 0x%" PRIx64 ", %s", range->call->request.call,
                  range->verb, range->address, beside);
}

Allocation *range_check(const Call *call, const char *verb, u64 address, u64 bytes)
{
    Range range = { call, verb, address, bytes };
    Allocation *a = memory_find(address);
    if (a && a->freed) report_stale(&range, a);
    else if (a && bytes > a->base + a->size - address) report_past_end(&range, a);
    else if (a) return a;
    else report_wild(&range);
    return NULL;
}

// The bytes from the first to the last of the box; false: they cannot exist.
static bool box_extent(const WireBox *box, u64 width, u64 rows, u64 slices, u64 *bytes)
{
    u64 last_row, last_slice;
    if (!width || !rows || !slices || (rows > 1 && box->pitch < width)) return false;
    if (__builtin_mul_overflow(box->pitch, rows - 1, &last_row)
        || __builtin_mul_overflow(box->slice, slices - 1, &last_slice))
        return false;
    return !__builtin_add_overflow(last_row, width, bytes) && !(slices > 1 && box->slice < *bytes)
        && !__builtin_add_overflow(*bytes, last_slice, bytes) && *bytes <= MEMORY_SPAN;
}

Allocation *range_check_box(Call *call, const char *verb, const WireBox *box)
{
    const WireRequest *request = &call->request;
    u64 bytes;
    Allocation *a = NULL;
    if (!clock_stream_known(request->stream)) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return NULL;
    }
    if (box_extent(box, request->copy.width, request->copy.rows, request->copy.slices, &bytes))
        a = range_check(call, verb, box->address, bytes);
    if (!a) call->reply.error = WIRE_INVALID_VALUE;
    return a;
}

bool range_overruns_pinned(const WireRequest *request, const WireBox *box)
{
    u64 bytes;
    const Allocation *a = memory_find(box->address);
    return a && !a->freed && a->kind == MEMORY_PINNED_HOST
        && box_extent(box, request->copy.width, request->copy.rows, request->copy.slices, &bytes)
        && bytes > a->base + a->size - box->address;
}

bool range_check_host(Call *call, const char *verb, const WireBox *box)
{
    if (range_overruns_pinned(&call->request, box)) range_check_box(call, verb, box);
    return !call->reply.error;
}
