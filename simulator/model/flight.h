// Pinned memory in flight: the bytes there that issued work reads or writes, until the host knows
// that the work is complete. Until then host code must not write those bytes, nor read what the
// work writes. Their pages are guarded (guard.h), so that the device is told when host code does.
// What a copy or a fill brings lands only when the host knows of it, or when other work reaches for
// those bytes: before that the host finds what was there.
//
// A launch may write the pinned allocations that it has pointers to. When it has run, the bytes
// that it has written are known. A kernel that talks to the host through memory, by strong
// operations or fences of system scope, can order the host's accesses in ways that are not seen: it
// puts nothing in flight, and what comes before it counts as known.
#pragma once
#include "machine/grid.h"
#include "memory/memory.h"
#include "report/origin.h"
#include "streams/stream_order.h"
#include "wire/wire.h"

// The host's side of a copy or fill.
typedef struct FlightBytes {
    WireBox box; // addresses of pinned memory
    u64 width, rows, slices;
} FlightBytes;

// A copy or a fill of the host's is issued that writes those bytes, or reads them.
void flight_begin(u64 operation, const FlightBytes *, bool writes, const WireRequest *);

// Room for the bytes that the operation writes, row by row; they land later. NULL: they land now.
u8 *flight_bring(u64 operation);

// Work of the device reaches for those bytes: what was brought there lands.
void flight_reach(u64 address, u64 bytes);

// The operation has run. And it will not run before others have done something: what host code has
// done so far may come before that.
void flight_ran(u64 operation);
void flight_excuse(u64 operation);

// A launch is issued; a kernel of it has begun; it has stored to pinned memory; it has ended.
void flight_launch(const Launch *, const WireRequest *);
void flight_kernel_begins(const Launch *, const Order *before);
void flight_stored(const Launch *, u64 address, u64 bytes);
void flight_kernel_ended(const Launch *, const WireRequest *);

// The host makes no request: it may be polling for what launches are about to write.
void flight_polled(void);

// Host code has accessed bytes of a guarded page.
void flight_touched(u64 address, u64 bytes, bool writes, const u64 callers[ORIGIN_CALLERS]);

bool flight_waits(void);               // is there anything that has not landed?
void flight_settle(void);              // what the host knows of now is no longer in flight
void flight_told(const Order *before); // nor is what comes before that point
void flight_freed(const Allocation *); // nor is anything in that allocation
void flight_land_all(void);            // the host may be polling for what was brought
void flight_forget(void);              // the device has failed, or the program has ended
