// Memory of the device on behalf of the program: allocating, freeing, what managed memory is told,
// and host code that touches what it may not.

#include "streams/clock.h"
#include "machine/heap.h"
#include "ipc.h"
#include "model/managed.h"
#include "memory/memory.h"
#include "report/origin.h"
#include "pool.h"
#include "ran.h"
#include "machine/profile.h"
#include "range.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    Allocation *a =
        memory_alloc(request->alloc.bytes, align, kind, request->device, request->caller);
    if (!a) {
        call->reply.error = WIRE_MEMORY_ALLOCATION;
        return;
    }
    a->registered = request->alloc.kind == WIRE_OF_PROGRAM;
    call->reply.memory.address = a->base;
    call->reply.memory.size = a->size;
}

// The call that frees memory of this kind.
static const char *free_of(const Allocation *a)
{
    if (a->pooled) return "cudaFreeAsync";
    return a->kind == MEMORY_PINNED_HOST ? "cudaFreeHost" : "cudaFree";
}

void transfer_bad_free(Call *call, u64 address)
{
    call->reply.error = WIRE_INVALID_VALUE;
    const Allocation *a = memory_find(address);
    char text[512];
    Report report = {
        .kind = REPORT_INVALID_FREE, .place = serve_place(call), .address = address, .allocation = a
    };
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
                      name, a->size, made,
                      a->kind == MEMORY_PINNED_HOST ? "pinned host" : "device");
    } else if (a) {
        report.why = "Only what cudaMalloc returned can be freed, not a part of it.";
        report.next = "Keep the pointer that cudaMalloc gave, and free that.";
        report_errorf(&report, "%s was given an address %s", name,
                      report_beside(a, address, text, sizeof text));
    } else {
        report.why = "Only what cudaMalloc returned can be freed with cudaFree.";
        report.next = "Free host memory with free, delete or cudaFreeHost, whichever it came with.";
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
        char next[96];
        snprintf(next, sizeof next, "Call %s for it when its last use is over.", free_of(a));
        Report report = { .kind = REPORT_LEAK,
                          .address = a->base,
                          .allocation = a,
                          .next = next,
                          .why =
                              "What is allocated and not freed is lost until the program ends." };
        origin_place(a->made, MEMORY_CALLERS, &report.place);
        report_errorf(&report, "%" PRIu64 " byte%s allocated here and never freed", a->size,
                      a->size == 1 ? "" : "s");
    }
    heap_leaks(of);
}

void transfer_free_all(u32 of, const u64 *callers)
{
    for (const Allocation *a = memory_first(); a; a = a->next)
        if (is_left(a, of)) {
            memory_free(a->base, callers);
            pool_freed(a);
            ipc_freed(a);
        }
    heap_free_all(of);
}

// ---- Managed memory ----

_Static_assert((int)MANAGED_PAGE == (int)WIRE_PAGE, "the host tells of such pages");

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
    if (!clock_stream_known(request->stream)) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return false;
    }
    call->reply.error = WIRE_INVALID_VALUE;
    Allocation *a = NULL;
    if (request->range.bytes)
        a = range_check(call, "names", request->range.address, request->range.bytes);
    if (!a) return false;
    if (a->kind == MEMORY_MANAGED) {
        call->reply.error = WIRE_SUCCESS;
        return true;
    }
    char made[256];
    report_made(a, made, sizeof made);
    Report report = { .kind = REPORT_API,
                      .place = serve_place(call),
                      .allocation = a,
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
    if (!check_managed(call)) return;
    s32 to = request->range.location;
    double seconds = managed_prefetch(request->range.address, request->range.bytes, to);
    clock_operation(request->stream);
    clock_work(request->stream, to < 0 ? ENGINE_COPY_OUT : ENGINE_COPY_IN, 1, seconds * 1e9, false);
    ran_work(request->stream, "prefetch", "Memory prefetch", seconds * 1e9, request->range.bytes);
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
    bool notes = report->address == near->base - sizeof(size_t) && !call->request.fault.writes;
    report->kind = stale ? REPORT_USE_AFTER_FREE : REPORT_BOUNDS;
    report->why =
        stale ? "Freed memory belongs to nobody." : "The host's index is outside the array.";
    report->next = stale ? "Free it after its last use, on the host as on the device."
                         : "Compare the index with the number of elements.";
    if (notes) {
        report->why = "There free() looks for the C library's notes on what malloc gave; or an "
                      "index is negative.";
        report->next =
            near->kind == MEMORY_MANAGED
                ? "If the line calls free: what cudaMallocManaged gave goes back with cudaFree."
                : "If the line calls free: what cudaMallocHost gave goes back with cudaFreeHost.";
    }
    report_errorf(report, "host code %s %s memory %s",
                  call->request.fault.writes ? "writes" : "reads", kind_of(near), beside);
}

void transfer_fault(Call *call)
{
    u64 address = call->request.fault.address;
    char beside[512] = "device memory";
    const Allocation *near = memory_nearest(address);
    if (near) report_beside(near, address, beside, sizeof beside);
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
