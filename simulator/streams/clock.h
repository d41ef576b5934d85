// The simulated clock: when the host is, and when the work of each stream is done, in nanoseconds.
// Host code takes no simulated time but for its calls of CUDA (cost.h); waiting for work moves the
// host to the work's end.
#pragma once
#include "base/base.h"
#include "engine.h"
#include "stream_order.h"

void clock_reset(void);              // the program has ended
void clock_reset_device(u32 device); // its streams and events are gone

// Streams, each of one device. The id of a device's default stream is the device's number; it waits
// for all others of its device (but non-blocking ones) and they for it.
u64 clock_stream_create(u32 device, bool non_blocking, int priority); // its id; 0: too many
bool clock_stream_destroy(u64 stream);
bool clock_stream_known(u64 stream);
u32 clock_stream_device(u64 stream); // of one that is known

typedef struct StreamFacts {
    u64 number; // that no other stream ever has
    u32 device;
    bool non_blocking;
    int priority;
} StreamFacts;

StreamFacts clock_stream_facts(u64 stream); // of one that is known
bool clock_stream_set_priority(u64 stream, int priority);

// A new operation (a copy, a fill, a launch) on the stream, which comes after what was issued to
// the stream before, and what that and the host have waited for. Its number (stream_order.h); 0:
// there is no such stream.
u64 clock_operation(u64 stream);
// Does one come before another, which is the last of its stream so far?
bool clock_ordered(u64 earlier, u64 later);
// Do all of them so far come before the last one, and before whatever is issued next, on any stream
// that there is?
bool clock_settled(u64 last);
const Order *clock_before(u64 operation);      // what lies before it, and it itself
bool clock_after(u64 later, const Order *all); // and all of these?

// Work that is issued now and done later (work.h): when that was, and what lies before it.
typedef struct Issue {
    u64 stream, operation; // 0: it is none that has a number
    double at;             // ns
    Order before;
} Issue;

void clock_issue(Issue *, u64 stream, bool numbered);
void clock_issue_free(Issue *);
// From now on that is what is done, as if it were then: the functions of this page that concern
// operations and their time take it so. NULL: the present again.
void clock_take_up(const Issue *);
void clock_remember(double from); // what engines did after that moment may still matter

// What lies before the next operation of the stream; before the end of those that it has, which is
// less where it waits for a default stream; before the event. NULL: it is none.
const Order *clock_order(u64 stream);
const Order *clock_own_order(u64 stream);
const Order *clock_event_order(u64 event);
// The event will be recorded when the work before it is done; the stream will wait for the event
// then.
bool clock_event_expect(u64 event, u64 stream);
bool clock_stream_expect_event(u64 stream, u64 event);
double clock_start(u64 stream); // ns: when work issued to it can start

// The operation that began last takes `ns` on the engine, of which it needs a share (0 to 1); with
// `host_waits` the host goes on at its end.
void clock_work(u64 stream, enum engine engine, double share, double ns, bool host_waits);
// A copy from one device's memory to another's, over their link or by way of the host. In a default
// stream it starts when all earlier work of both is done, which is to be said before the operation
// begins, and their later work waits for it.
void clock_join_devices(u64 stream, u32 from, u32 to);
void clock_work_between(u64 stream, u32 from, u32 to, bool link, double ns, bool host_waits);
double clock_now(void);              // ns: where the host is
double clock_stream_end(u64 stream); // ns: when the work issued to it so far is done
double clock_all_end(void);          // ns: the same of all streams
void clock_host(double ns);          // the host is busy for so long
void clock_wait_stream(u64 stream);  // the host waits for the stream,
void clock_wait_device(u32 device);  // or for all of a device's
// Is the stream's work done? If it is not, the host has asked, and goes on when some work ends.
bool clock_stream_done(u64 stream);

// Events, each of one device too, which must be that of the stream in which it is recorded. Each of
// these but the first is false for an id that is none.
u64 clock_event_create(u32 device, bool timed, bool exportable);
bool clock_event_known(u64 event);
bool clock_event_timed(u64 event); // false: or it is none
u32 clock_event_device(u64 event); // of one that is known

// An event that processes share: its number (shared_event.h); 0: none yet; NULL: it is none that
// may be shared.
u32 *clock_event_shared(u64 event);
void clock_event_share(u64 event, u32 number);
bool clock_event_destroy(u64 event);
bool clock_event_record(u64 event, u64 stream);
bool clock_event_wait(u64 event); // the host waits for it
bool clock_stream_wait_event(u64 stream, u64 event);
bool clock_event_done(u64 event); // as clock_stream_done(), of one that is known

enum clock_elapsed { ELAPSED_GOOD, ELAPSED_NOT_READY, ELAPSED_WRONG };

// Wrong are ids that are none, and events that were not recorded, were created without timing, or
// are of two devices. Not ready: the host has not come so far.
enum clock_elapsed clock_event_elapsed(u64 from, u64 to, double *milliseconds);
