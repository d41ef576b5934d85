// What both sides know of each request: the rows of wire.def. Nobody compares a request's number to
// find out what kind it is; the number says only which request is built.
#pragma once
#include "wire.h"
#include <stdbool.h>
#include <stddef.h>

enum wire_when { WIRE_NEVER, WIRE_IF_BLOCKING, WIRE_ALWAYS }; // the second: if .copy.blocks is set

// Its reply after a kernel has failed with an error that all later calls return.
enum wire_sticky {
    WIRE_STICKY_FAILS,    // that error
    WIRE_STICKY_ANSWERED, // its answer: it needs no context
    WIRE_STICKY_RESETS,   // success, and the error becomes another
};

// The chunks of a copy pass through the slots, from the program or to it.
enum wire_slots { WIRE_SLOTS_NONE, WIRE_SLOTS_IN, WIRE_SLOTS_OUT };

// The earlier work that must be done first,
enum wire_after {
    WIRE_AFTER_NOTHING,
    WIRE_AFTER_STREAM, // what its stream comes after: with default streams, work of others too
    WIRE_AFTER_STREAM_ALONE, // what was put on that stream itself
    WIRE_AFTER_EVENT,        // what the event .object.id was recorded after
    WIRE_AFTER_DEVICE,       // all of the device's
    WIRE_AFTER_ALL,          // all of the process's
};

// and what happens to the request while some of that work is left. A deferred request is answered
// at once, and done in its turn.
enum wire_then {
    WIRE_THEN_WAIT,         // its reply waits
    WIRE_THEN_NOT_READY,    // its reply says so
    WIRE_THEN_DEFER,        // it is an operation of its stream
    WIRE_THEN_DEFER_COPY,   // the same for a copy, whose bytes the program may wait for
    WIRE_THEN_DEFER_MARK,   // it is no operation of its stream itself
    WIRE_THEN_DEFER_RECORD, // the same: from now on the event is what it will record
    WIRE_THEN_DEFER_WAIT,   // the same: from now on the stream comes after the event
    WIRE_THEN_RUN,          // a launch that is found good: always deferred
};

// Which host functions the library waits for before it sends the request.
enum wire_host { WIRE_HOST_NONE, WIRE_HOST_STREAM, WIRE_HOST_ALL };

typedef struct WireRow {
    const char *name;            // "STREAM_SYNC"
    const char *member;          // of WireRequest's union: "object"
    bool one_way;                // it gets no reply
    bool to_machine;             // it goes over the inherited socket (runtime/machine.c)
    const char *tail;            // what follows the request, NULL: nothing;
    const char *reply_tail;      // and its reply
    enum wire_slots slots;       // copies: which way the bytes go
    enum wire_sticky sticky;     // while there is a sticky error
    enum wire_when waits;        // does the host wait in it, so that earlier work is over for it?
    enum wire_when shows_prints; // does it learn then what kernels have printed?
    bool trims_pools;            // pools give back what they keep beyond their thresholds
    bool issues;                 // more work, and neither asks nor waits for what was issued before
    enum wire_after after;       // how it is ordered,
    enum wire_then then;         // on the device
    enum wire_host after_host;   // and by the library, after host functions
} WireRow;

#define REQUEST(name, handler, member, ...)                                                        \
    _Static_assert(sizeof((WireRequest *)0)->member > 0, "no member of WireRequest");
#include "wire.def"

static inline const WireRow *wire_row(uint32_t op)
{
    static const WireRow rows[] = {
#define REQUEST(name_, handler, member_, seconds, ...)                                             \
    [WIRE_##name_] = { .name = #name_, .member = #member_, __VA_ARGS__ },
#include "wire.def"
    };
    return &rows[op];
}

// Does that hold of this request?
static inline bool wire_holds(enum wire_when when, const WireRequest *request)
{
    return when == WIRE_ALWAYS || (when == WIRE_IF_BLOCKING && request->copy.blocks);
}
