// A session is one device with one worker on it: started for a check, asked for
// calls, ended with it. Everything the student's code can do ends here: the
// session watches the worker's answers, the device's report and what is printed
// together, under one clock, and kills all of it at the end.
#pragma once
#include "events.h"
#include "harness.h"
#include "protocol.h"
#include "../simulator/wire/wire.h"
#include "process.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Session {
    pid_t device;                // 0: not started
    bool reports;                // it is a simulated device, which reports what it sees
    int worker, report, printed; // the socket, and the reading ends of two pipes; -1: closed
                                 // (report: of a device that does not, its pidfd)
    int owner; // the socket over which the grader owns memory on the device; -1: it owns none
    ProcessClock clock; // of all calls, and then of the end
    bool late;          // a call ran past it: no end is waited for
    bool lost;          // a GPU's owner has ended
    Harness harness;    // in the worker's program
    Events events;
    char *output; // what the program printed, the first 64 KiB of it
    size_t output_bytes;
    bool output_cut; // there was more
} Session;

enum outcome {
    OUTCOME_ANSWER,   // *answer is the worker's
    OUTCOME_ENDED,    // the program ended instead; events.status and .signal say how
    OUTCOME_LATE,     // the clock ran out
    OUTCOME_NONSENSE, // something that is no answer came
    OUTCOME_LOST,     // the device itself ended, or cannot be understood
};

// Does this device's command report events? One that ends in simulator/run does,
// as ours: it takes --report FD --limit N -- before the program. Any other is
// put before the worker as it is: nothing at all on a GPU, or a profiler.
bool session_device_reports(const char *device);

// What holds for a session. Of all but the seconds only a device that reports knows.
typedef struct Terms {
    double seconds; // the limit of the clock, less what the processes waited for a core while
                    // others had it
    uint64_t instructions; // that of warp instructions
    const char *timeline;  // the file to which is written when everything ran; NULL: none
    bool shuffled;         // blocks begin in another order than by their numbers
    bool late;             // kernels begin when all is launched, not when the next one is
} Terms;

// Starts `device` (a command, words split at spaces) with the worker on it. Returns NULL, or
// what kept it from starting. If *s was a session that has ended, its output stays, and this one's
// follows it.
const char *session_start(Session *s, const char *device, const char *worker, const Terms *terms);

// Sends a request with its descriptors, and waits for what comes of it. When it
// returns, all events until then are in s->events. (A new call begins with events_new_call().)
enum outcome session_call(Session *s, const Request *request, const int *fds, size_t fd_count,
                          Answer *answer);

// Asks the device, or a GPU's owner (gpu_memory.h), over the channel that the worker has not seen
// (wire.h, "The owner"). file: what a copy reads or writes, else -1. The outcome is ANSWER, and
// *reply the device's, *memory (if not NULL) the descriptor of a GPU's memory that came with it, or
// -1; or ENDED, LATE or LOST. All events until then are in s->events.
enum outcome session_ask(Session *s, const WireRequest *request, int file, WireReply *reply,
                         int *memory);

// Hangs up, lets the program end (what it leaked is then in s->events), and
// leaves no process behind. The outcome is ENDED, LATE or LOST.
enum outcome session_end(Session *s);

// The same for one of several sessions: the processes of others go on.
void session_hang_up(Session *s);
