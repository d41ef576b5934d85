// Memory that host and device share, by pages: where managed pages are, what migrates them, and
// which kernels wrote them that the host has not waited for. Pinned memory never migrates.
#pragma once
#include "memory/memory.h"
#include "report/origin.h"

// A fresh allocation of managed or pinned memory.
void managed_allocated(const Allocation *a);

enum { MANAGED_PAGE = 4096 }; // bytes
typedef struct PageRange {    // of managed memory, by number
    u32 first, count;
} PageRange;

// Host code has touched these pages since the last request.
void managed_touched(const PageRange *ranges, size_t count);

// A copy or fill on a device has written this range. Memory that is not managed is ignored.
void managed_written(u64 address, u64 bytes, u32 device);

// The kernel has run on that device, and may have written managed memory; on the clock it ends at
// `done`, in ns.
struct Grid;
void managed_launched(const struct Grid *, const u64 callers[ORIGIN_CALLERS], double done);

// All earlier launches have run: reports those whose memory the host touched too early, and charges
// the host for its page faults.
void managed_settle(void);

// The host has waited: the launches that end by now, or all of them, are complete.
void managed_waited(bool all);

// Migrates a range within one managed allocation to a device, or to the host (-1). Returns the
// seconds.
double managed_prefetch(u64 address, u64 bytes, s32 to);

// Discards the range: its whole pages are nowhere, and the next access to them migrates nothing.
void managed_discard(u64 address, u64 bytes);

// `advice` is a cudaMemoryAdvise, `at` a location as above. False: there is no such advice.
bool managed_advise(u64 address, u64 bytes, u32 advice, s32 at);

// The attributes that all pages of a range share.
typedef struct ManagedFacts {
    u32 read_mostly, accessed_by; // accessed_by: a bit for each device
    s32 preferred, prefetched;    // a device; -1: the host; -2: nowhere
} ManagedFacts;

ManagedFacts managed_facts(u64 address, u64 bytes);

// The seconds of the kernel's page faults and of its accesses to host memory over the bus.
double managed_kernel_seconds(const struct Grid *);
