// Checks the ranges of device and pinned memory that requests name, and reports what is wrong.

#include "streams/clock.h"
#include "memory/memory.h"
#include "range.h"
#include <inttypes.h>
#include <stdio.h>

typedef struct {
    const Call *call;
    enum report_access access; // what the call does to it
    u64 address, bytes;
} Range;

static Report report_of(const Range *range, enum report_cause cause, const Allocation *a)
{
    return (Report){ .cause = cause,
                     .place = serve_place(range->call),
                     .call = range->call->request.call,
                     .access = range->access,
                     .bytes = range->bytes,
                     .address = range->address,
                     .allocation = a };
}

static void report_stale(const Range *range, const Allocation *a)
{
    Report report = report_of(range, CAUSE_call_uses_freed, a);
    report_error(&report);
}

static void report_past_end(const Range *range, const Allocation *a)
{
    bool pinned = a->kind == MEMORY_PINNED_HOST;
    Report report =
        report_of(range, pinned ? CAUSE_call_past_end_of_pinned : CAUSE_call_past_end, a);
    report.address = a->base + a->size;
    report.number[0] = (ReportNumber){ "from", (s64)(range->address - a->base) };
    report.number[1] =
        (ReportNumber){ "past", (s64)(range->address + range->bytes - report.address) };
    report_error(&report);
}

static void report_wild(const Range *range)
{
    Report report =
        report_of(range, CAUSE_call_names_no_allocation, memory_nearest(range->address));
    report_error(&report);
}

Allocation *range_check(const Call *call, enum report_access access, u64 address, u64 bytes)
{
    Range range = { call, access, address, bytes };
    Allocation *a = memory_find(address);
    if (a && a->freed) report_stale(&range, a);
    else if (a && bytes > a->base + a->size - address) report_past_end(&range, a);
    else if (a) return a;
    else report_wild(&range);
    return NULL;
}

// The extent of the box, from its first to its last byte. False: it exceeds the address space.
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

Allocation *range_check_box(Call *call, enum report_access access, const WireBox *box)
{
    const WireRequest *request = &call->request;
    u64 bytes;
    Allocation *a = NULL;
    if (!handle_stream(call, request->stream)) return NULL;
    if (box_extent(box, request->copy.width, request->copy.rows, request->copy.slices, &bytes))
        a = range_check(call, access, box->address, bytes);
    if (!a) call->reply.error = WIRE_INVALID_VALUE;
    return a;
}

bool range_is_good(const WireRequest *request, const WireBox *box)
{
    u64 bytes;
    const Allocation *a = memory_find(box->address);
    return a && !a->freed
        && box_extent(box, request->copy.width, request->copy.rows, request->copy.slices, &bytes)
        && bytes <= a->base + a->size - box->address;
}

bool range_is_pinned(const WireRequest *request, const WireBox *box)
{
    return range_is_good(request, box) && memory_find(box->address)->kind == MEMORY_PINNED_HOST;
}

bool range_overruns_pinned(const WireRequest *request, const WireBox *box)
{
    u64 bytes;
    const Allocation *a = memory_find(box->address);
    return a && !a->freed && a->kind == MEMORY_PINNED_HOST
        && box_extent(box, request->copy.width, request->copy.rows, request->copy.slices, &bytes)
        && bytes > a->base + a->size - box->address;
}

bool range_check_host(Call *call, enum report_access access, const WireBox *box)
{
    if (range_overruns_pinned(&call->request, box)) range_check_box(call, access, box);
    return !call->reply.error;
}
