// The properties of each request: the rows of wire.def. Code that depends on the kind of a request
// reads a property, and does not compare the request's number.
#pragma once
#include "wire.h"
#include <stdbool.h>
#include <stddef.h>

enum wire_when { WIRE_NEVER, WIRE_IF_BLOCKING, WIRE_ALWAYS }; // IF_BLOCKING: if .copy.blocks is set

// What a request returns after a kernel has failed with a sticky error.
enum wire_sticky {
    WIRE_STICKY_FAILS,    // the sticky error
    WIRE_STICKY_ANSWERED, // its usual answer: it needs no context
    WIRE_STICKY_RESETS,   // success; it replaces the sticky error by another
};

// The direction in which a copy's chunks pass through the slots: from the program or to it.
enum wire_slots { WIRE_SLOTS_NONE, WIRE_SLOTS_IN, WIRE_SLOTS_OUT };

// The earlier work that must be complete before the request is handled.
enum wire_after {
    WIRE_AFTER_NOTHING,
    WIRE_AFTER_STREAM,       // of its stream, and of streams for which a default stream waits
    WIRE_AFTER_STREAM_ALONE, // of its stream only
    WIRE_AFTER_EVENT,        // the work before the latest record of the event .object.id
    WIRE_AFTER_DEVICE,       // all work of the device
    WIRE_AFTER_ALL,          // all work of the process
};

// What happens to the request while some of that work is incomplete. A deferred request is answered
// at once, and handled when the work is complete.
enum wire_then {
    WIRE_THEN_WAIT,         // its reply is sent when the work is complete
    WIRE_THEN_NOT_READY,    // it returns cudaErrorNotReady
    WIRE_THEN_DEFER,        // deferred, as an operation of its stream
    WIRE_THEN_DEFER_COPY,   // the same for a copy; the program may wait for its bytes
    WIRE_THEN_DEFER_MARK,   // deferred, but no operation of its stream
    WIRE_THEN_DEFER_RECORD, // the same; the event counts as recorded from now on
    WIRE_THEN_DEFER_WAIT,   // the same; the stream waits for the event from now on
    WIRE_THEN_RUN,          // a launch whose configuration is valid: always deferred
};

// What a request does for the program, which the owner is told of (runtime/trace.c).
enum wire_does {
    WIRE_DOES_NOTHING,    // that the owner is told of
    WIRE_DOES_ALLOC,      // .alloc; the reply has the address
    WIRE_DOES_POOL_ALLOC, // .pool.bytes: the size, and the reply has the address; or, where the
                          // reply has none, the address
    WIRE_DOES_FREE,       // .pointer.address
    WIRE_DOES_POOL_FREE,  // .pool.bytes: the address
    WIRE_DOES_COPY,       // .copy
    WIRE_DOES_FILL,       // .copy
    WIRE_DOES_PREFETCH,   // .range
    WIRE_DOES_LAUNCH,     // .launch; the tail is the parameter block
    WIRE_DOES_GRAPH,      // .object.id operations follow
    WIRE_DOES_WAIT,       // it waits, or asks, for the work before it
    WIRE_DOES_RECORD,     // .event.event
    WIRE_DOES_ORDER,      // .event.event
    WIRE_DOES_VARIABLE,   // .name; the tail is its text, and the reply has the address
    WIRE_DOES_RESET,      // frees all memory of its device
    WIRE_DOES_CHECK,      // reads an error
    WIRE_DOES_MISUSE,     // is refused by the client
    WIRE_DEEDS
};

// What follows, and is part of this call: so many operations, or what a library needs for so many
// calls; or, where a conditional node is read, the operations of a graph.
enum wire_announces {
    WIRE_ANNOUNCES_NOTHING,
    WIRE_ANNOUNCES_OPERATIONS, // .object.id
    WIRE_ANNOUNCES_CALLS,      // .object.id
    WIRE_ANNOUNCES_BODY,       // .condition.value
};

// The host functions that the client waits for before it sends the request.
enum wire_host { WIRE_HOST_NONE, WIRE_HOST_STREAM, WIRE_HOST_ALL };

typedef struct WireRow {
    const char *name;            // "STREAM_SYNC"
    const char *member;          // of WireRequest's union: "object"
    bool one_way;                // it has no reply
    bool for_owner;              // an owner may make it (wire.h)
    bool unasked;                // the client makes it by itself: no work starts at it
    bool to_machine;             // sent over the inherited socket (runtime/machine.c)
    const char *tail;            // what follows the request; NULL: nothing
    const char *reply_tail;      // what follows the reply; NULL: nothing
    enum wire_slots slots;       // the direction of a copy
    enum wire_sticky sticky;     // its result while there is a sticky error
    enum wire_when waits;        // does the host wait in it for earlier work?
    enum wire_when shows_prints; // does the host receive what kernels have printed after it?
    bool trims_pools;            // memory pools release what they hold beyond their thresholds
    enum wire_does does;         // what the owner is told of it
    enum wire_announces announces;
    bool issues;               // it issues work, and neither queries earlier work nor waits for it
    enum wire_after after;     // how the device orders it
    enum wire_then then;       // what the device does while it must wait
    enum wire_host after_host; // how the client orders it after host functions
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

// Is it the last chunk of its copy?
static inline bool wire_is_last_chunk(const WireRequest *request)
{
    const WireChunk *chunk = &request->copy.chunk;
    return chunk->offset + chunk->bytes == chunk->total;
}

// Does a property hold for this request?
static inline bool wire_holds(enum wire_when when, const WireRequest *request)
{
    return when == WIRE_ALWAYS || (when == WIRE_IF_BLOCKING && request->copy.blocks);
}
