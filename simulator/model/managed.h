// Memory that host and device share, page by page: where managed memory lies, what moves it and
// when, and which kernel wrote it that the host has not waited for. Pinned memory never moves.
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

// A device has written this range in a copy or a fill. Other memory than managed is let be.
void managed_written(u64 address, u64 bytes, u32 device);

// The kernel, launched there, has run so far, and may have written managed memory; the clock has it
// end at `done`, in ns.
struct Grid;
void managed_launched(const struct Grid *, const u64 callers[ORIGIN_CALLERS], double done);

// All earlier launches have run: reports those whose memory the host touched too early, and lets
// the host's page faults take their time.
void managed_settle(void);

// The host has waited: launches that end by now, or all of them, are over.
void managed_waited(bool all);

// Moves a range of managed memory that lies in one allocation to a device, or to the host (-1);
// returns the seconds that it takes.
double managed_prefetch(u64 address, u64 bytes, s32 to);

// What is there is no longer wanted: its whole pages lie nowhere, and the next to touch them moves
// nothing.
void managed_discard(u64 address, u64 bytes);

// `advice` is a cudaMemoryAdvise, `at` its location, as above. False: there is none of that number.
bool managed_advise(u64 address, u64 bytes, u32 advice, s32 at);

// What holds for all pages of a range.
typedef struct ManagedFacts {
    u32 read_mostly, accessed_by; // accessed_by: a bit for each device
    s32 preferred, prefetched;    // a device; -1: the host; -2: nowhere
} ManagedFacts;

ManagedFacts managed_facts(u64 address, u64 bytes);

// The time of the kernel's page faults and its reads and writes of host memory over the bus, in
// seconds.
double managed_kernel_seconds(const struct Grid *);
