// The simulated clock, in nanoseconds: the host's time, and when the work of each stream ends. Host
// code takes no simulated time except for CUDA calls (cost.h); waiting for work advances the host
// to the work's end.
#pragma once
#include "base/base.h"
#include "engine.h"
#include "stream_order.h"

void clock_reset(void);              // the program has ended
void clock_reset_device(u32 device); // destroys its streams and events

// Streams, each of one device. The id of a device's default stream is the device's number. The
// default stream and the other streams of its device, except non-blocking ones, wait for each
// other.
u64 clock_stream_create(u32 device, bool non_blocking, int priority); // its id; 0: too many
// The stream is known no longer. Its work still ends, and a default stream still waits for it.
bool clock_stream_destroy(u64 stream);
bool clock_stream_known(u64 stream);
u32 clock_stream_device(u64 stream); // of an existing stream

typedef struct StreamFacts {
    u64 number; // unique: no other stream ever has it
    u32 device;
    bool non_blocking;
    int priority;
} StreamFacts;

StreamFacts clock_stream_facts(u64 stream); // of an existing stream
bool clock_stream_set_priority(u64 stream, int priority);

// Begins an operation (a copy, a fill, a launch) on the stream. It comes after the stream's earlier
// operations, and after everything for which the stream and the host have waited. Returns its
// number (stream_order.h); 0: there is no such stream.
u64 clock_operation(u64 stream);
// Does `earlier` come before `later`, the latest operation of its stream?
bool clock_ordered(u64 earlier, u64 later);
// Does every operation so far come before `last`, the latest operation, and before any operation
// that is issued from now on?
bool clock_settled(u64 last);
const Order *clock_before(u64 operation);      // the operation, and everything before it
bool clock_after(u64 later, const Order *all); // does `later` come after all of these?

// Work that is issued now and executed later (work.h): when it was issued, and what comes before
// it.
typedef struct Issue {
    u64 stream, operation; // operation 0: it has no number
    u32 device;            // of the stream
    double at;             // ns
    u32 mark;              // of an event's record, or of a wait for one (mark.h); 0: none
    Order before;
} Issue;

void clock_issue(Issue *, u64 stream, bool numbered);
void clock_issue_more(Issue *more, const Issue *); // more work of the same operation
void clock_issue_free(Issue *);
// Until it is called with NULL, the functions of this header behave as at the time of this issue:
// the operation that begins is the issued one.
void clock_take_up(const Issue *);
void clock_remember(double from); // engines must keep what they did after that time

// Adds to the order what comes before the next operation of the stream; before the end of its own
// operations so far, without those of other streams for which it waits; before the event's latest
// record. False: there is no such stream or event.
bool clock_order(u64 stream, Order *);
bool clock_own_order(u64 stream, Order *);
bool clock_event_order(u64 event, Order *);
// The record of the event, or the stream's wait for it, is issued, and is executed later.
bool clock_event_expect(u64 event, u64 stream);
bool clock_stream_expect_event(u64 stream, u64 event);
double clock_start(u64 stream); // ns: the earliest start of work that is issued to it now

// The stream's latest operation takes `ns` on a share (0 to 1) of the engine. `host_waits`: the
// host waits for its end.
void clock_work(u64 stream, enum engine engine, double share, double ns, bool host_waits);
// The same for a copy between two devices, over their link or through the host. In a default stream
// it starts when all earlier work of both devices is complete, and their later work waits for it;
// for that, clock_join_devices() must be called before the operation begins.
void clock_join_devices(u64 stream, u32 from, u32 to);
void clock_work_between(u64 stream, u32 from, u32 to, bool link, double ns, bool host_waits);
double clock_now(void);               // ns: the host's time
double clock_stream_end(u64 stream);  // ns: the end of all work that was issued to it
double clock_all_end(void);           // ns: the same for all streams
bool clock_host_knows(u64 operation); // has the host waited for it, or asked and been told?
void clock_host(double ns);           // the host is busy for `ns`
void clock_wait_stream(u64 stream);   // the host waits for the stream
void clock_wait_device(u32 device);   // the host waits for all streams of the device
// Is the stream's work complete? If not, the host's time advances to the next end of any work.
bool clock_stream_done(u64 stream);

// Events. An event can be recorded only in streams of its own device. All functions but the first
// return false for an id that is no event.
u64 clock_event_create(u32 device, bool timed, bool exportable);
bool clock_event_known(u64 event);
bool clock_event_timed(u64 event);
u32 clock_event_device(u64 event); // of an existing event

// The event's number among those that processes share (shared_event.h); 0: not shared yet; NULL: it
// cannot be shared.
u32 *clock_event_shared(u64 event);
void clock_event_share(u64 event, u32 number);
bool clock_event_destroy(u64 event);
bool clock_event_record(u64 event, u64 stream);
bool clock_event_wait(u64 event); // the host waits for the event
bool clock_stream_wait_event(u64 stream, u64 event);
bool clock_event_done(u64 event); // as clock_stream_done(), of an existing event

enum clock_elapsed {
    ELAPSED_GOOD,
    ELAPSED_NOT_READY,
    ELAPSED_NEVER_RECORDED,
    ELAPSED_UNTIMED,
    ELAPSED_TWO_DEVICES
};

// Of two events. ELAPSED_NOT_READY: at the host's time one of them is not complete.
enum clock_elapsed clock_event_elapsed(u64 from, u64 to, double *milliseconds);
