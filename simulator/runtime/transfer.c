// The handlers of memory: allocating, freeing, prefetching and advising managed memory, and
// accesses of host code to memory that it cannot access.

#include "streams/clock.h"
#include "machine/heap.h"
#include "ipc.h"
#include "model/flight.h"
#include "model/guard.h"
#include "model/managed.h"
#include "memory/memory.h"
#include "memory/writer.h"
#include "report/origin.h"
#include "pool.h"
#include "activity.h"
#include "machine/profile.h"
#include "range.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- Allocating ----

void transfer_alloc(Call *call)
{
    const WireRequest *request = &call->request;
    u64 align = request->alloc.align, bytes = request->alloc.bytes;
    static const enum memory_kind kinds[] = { MEMORY_DEVICE, MEMORY_MANAGED, MEMORY_PINNED_HOST,
                                              MEMORY_PINNED_HOST };
    if (!align || (align & (align - 1)) || align > 1 << 20
        || request->alloc.kind >= sizeof kinds / sizeof *kinds) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    enum memory_kind kind = kinds[request->alloc.kind];
    Allocation *a = bytes > MEMORY_SPAN
                      ? NULL
                      : memory_alloc(bytes, align, kind, request->device, request->caller);
    if (!a) {
        refusal_full(call, bytes, request->device, kind != MEMORY_DEVICE);
        return;
    }
    a->registered = request->alloc.kind == WIRE_OF_PROGRAM;
    if (call->by_owner) writer_set(a->base, a->size, WRITER_OWNER);
    call->reply.memory.address = a->base;
    call->reply.memory.size = a->size;
}

static enum report_cause cause_of_bad_free(const Allocation *a, u64 address)
{
    if (!a) return CAUSE_free_of_nothing;
    if (a->freed && a->base == address) return CAUSE_freed_twice;
    return !a->freed && a->base == address && memory_is_freeable(a)
             ? CAUSE_freed_by_another_kinds_call
             : CAUSE_free_of_part;
}

void transfer_bad_free(Call *call, u64 address)
{
    call->reply.error = WIRE_INVALID_VALUE;
    const Allocation *a = memory_find(address);
    Report report = { .cause = cause_of_bad_free(a, address),
                      .place = serve_place(call),
                      .call = call->request.call,
                      .address = address,
                      .allocation = a };
    report_error(&report);
}

void transfer_free(Call *call)
{
    u64 address = call->request.pointer.address;
    // cudaFree() waits for the work that may still use the memory.
    const Allocation *a = memory_find(address);
    clock_wait_device(a ? a->device : call->request.device);
    bool pinned = a && a->kind == MEMORY_PINNED_HOST;
    if (pinned) flight_freed(a);
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
    if (!a || a->freed) return;
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
        if (!is_left(a, of) || a->registered) continue;
        Report report = { .cause = a->free_failed ? CAUSE_leak_as_free_failed : CAUSE_leak,
                          .address = a->base,
                          .allocation = a };
        origin_place(a->made, MEMORY_CALLERS, &report.place);
        report_error(&report);
    }
    heap_leaks(of);
}

void transfer_free_all(u32 of, const u64 *callers)
{
    for (const Allocation *a = memory_first(); a; a = a->next)
        if (is_left(a, of)) {
            flight_freed(a);
            memory_free(a->base, callers);
            pool_freed(a);
            ipc_freed(a);
        }
    heap_free_all(of);
}

// ---- Managed memory ----

_Static_assert((int)MANAGED_PAGE == (int)WIRE_PAGE, "the client reports accesses by these pages");

void transfer_touched(Call *call)
{
    static PageRange ranges[WIRE_TAIL / sizeof(WirePages)];
    const WirePages *pages = (const WirePages *)call->tail;
    size_t count = call->tail_bytes / sizeof *pages;
    for (size_t n = 0; n < count; n++) ranges[n] = (PageRange){ pages[n].first, pages[n].count };
    managed_touched(ranges, count);
}

// Is the range of a PREFETCH, ADVISE or RANGE live managed memory? False: the call fails.
static bool check_managed(Call *call)
{
    const WireRequest *request = &call->request;
    if (request->range.location < -1 || request->range.location >= (s32)device.count) {
        call->reply.error = WIRE_INVALID_DEVICE;
        return false;
    }
    if (!handle_stream(call, request->stream)) return false;
    call->reply.error = WIRE_INVALID_VALUE;
    Allocation *a = NULL;
    if (request->range.bytes)
        a = range_check(call, ACCESS_NAME, request->range.address, request->range.bytes);
    if (!a) return false;
    if (a->kind == MEMORY_MANAGED) {
        call->reply.error = WIRE_SUCCESS;
        return true;
    }
    Report report = { .cause = CAUSE_not_managed,
                      .place = serve_place(call),
                      .call = request->call,
                      .allocation = a };
    report_error(&report);
    return false;
}

void transfer_prefetch(Call *call)
{
    const WireRequest *request = &call->request;
    if (!check_managed(call)) return;
    s32 to = request->range.location;
    double seconds = managed_prefetch(request->range.address, request->range.bytes, to);
    clock_operation(request->stream);
    clock_work(request->stream, to < 0 ? ENGINE_COPY_OUT : ENGINE_COPY_IN, 1, seconds * 1e9, false);
    activity_work(request->stream, "prefetch", "Memory prefetch", seconds * 1e9,
                  request->range.bytes);
}

void transfer_discard(Call *call)
{
    const WireRequest *request = &call->request;
    if (!check_managed(call)) return;
    managed_discard(request->range.address, request->range.bytes);
    clock_operation(request->stream);
}

void transfer_advise(Call *call)
{
    const WireRequest *request = &call->request;
    if (check_managed(call)
        && !managed_advise(request->range.address, request->range.bytes, request->range.advice,
                           request->range.location))
        call->reply.error = WIRE_INVALID_VALUE;
}

void transfer_range(Call *call)
{
    if (!check_managed(call)) return;
    ManagedFacts facts = managed_facts(call->request.range.address, call->request.range.bytes);
    call->reply.range.read_mostly = facts.read_mostly;
    call->reply.range.accessed_by = facts.accessed_by;
    call->reply.range.preferred = facts.preferred;
    call->reply.range.prefetched = facts.prefetched;
}

// ---- Accesses of host code ----

void transfer_touch(Call *call)
{
    const WireRequest *r = &call->request;
    if (r->fault.opened) guard_opened(r->fault.address);
    flight_touched(r->fault.address, r->fault.bytes, r->fault.writes, r->caller);
}

void transfer_land(Call *call)
{
    const Allocation *a = memory_find(call->request.pointer.address);
    if (a) flight_freed(a);
}

void transfer_guards(Call *call)
{
    size_t count = guard_take_news((WireGuard *)call->out, WIRE_TAIL / sizeof(WireGuard));
    call->reply.tail = (uint32_t)(count * sizeof(WireGuard));
}

// The host also has managed and pinned memory: it has accessed freed memory, or an address beside
// an allocation.
static enum report_cause cause_of_miss(const Call *call, const Allocation *near)
{
    u64 address = call->request.fault.address;
    if (address == near->base - sizeof(size_t) && !call->request.fault.writes)
        return near->kind == MEMORY_MANAGED ? CAUSE_host_frees_managed : CAUSE_host_frees_pinned;
    return near->freed && address - near->base < near->size ? CAUSE_host_uses_freed
                                                            : CAUSE_host_index_outside;
}

void transfer_fault(Call *call)
{
    u64 address = call->request.fault.address;
    const Allocation *near = memory_nearest(address);
    bool hosts = near && near->base >= MEMORY_SHARED && address >= MEMORY_SHARED;
    device.faulted = true;
    Report report = { .cause = hosts ? cause_of_miss(call, near) : CAUSE_host_touches_device_memory,
                      .place = serve_place(call),
                      .access = call->request.fault.writes ? ACCESS_WRITE : ACCESS_READ,
                      .address = address,
                      .allocation = near };
    report_error(&report);
}
