// The check in progress: one process runs one check, so there is one of it.
//
//     check.c  begins and ends it, and writes its record
//     call.c   makes its calls
//     measure.c times them on a GPU
//     blame.c  turns what came of a call into facts
//     expect.c compares its answers
#pragma once
#include "grader.h"
#include "session.h"
#include "verdict.h"
#include <jansson.h>

struct check {
    Session session;              // of all calls; begun by the first
    bool started, shuffled, late; // begun; with blocks in another order than by their numbers; with
                                  // kernels that begin late
    bool over;                    // all calls came to their end, and the program ends
    json_t *facts, *notes;        // record.h
    json_t *suspicion;            // a fact, should all else be right; NULL: none
    size_t errors_seen;           // of session.events.errors, in facts or notes already
    const char *function;         // of the last call, with its arguments and its answer
    size_t argc;
    const Arg *argv;
    Answer answer;
    uint64_t address[PROTOCOL_ARGS][PROTOCOL_PARTS]; // of its arrays, part by part
    char given[256];
    uint64_t calls, expectations, compulsory_read, compulsory_write;
    uint64_t compulsory_htod, compulsory_dtoh, compulsory_link, compulsory_operations;
    const char *(*explain)(const Mismatch *);
    const char *advice; // that it gave with its last explanation, or NULL
    json_t *figures;    // by name, said by figure(); NULL: none
    json_t *pictures;   // names of those shown; NULL: none
    json_t *measured;   // record.h; NULL: nothing was
    bool is_measure;    // this is a Measure()
};
extern struct check check;

enum { MEASURE_SECONDS = 120 }; // that a whole measurement may take

// ---- check.c

// Adds a fact about the student's function (a note, if v is PASS): "given: says".
json_t *check_add_fact(enum verdict v, const char *says, const char *why, const char *next);

// The fact's place is where that call of CUDA is made, if its line is known. at NULL: its place
// stays.
void check_keep_call(json_t *fact, const Traced *at);

// Keeps a fact of a SUSPECT answer: it is one when the check ends and nothing else is wrong, for a
// wrong answer is no deceit. The first stands.
void check_suspect(const char *says, const char *why, const char *next);

// Ends the check if there is any fact. Criterion's jump: it does not return then.
void check_stop_if_failed(void);

// ---- call.c: the parts of a call, for who times calls

bool call_is_buffer(const Arg *a);

// Starts a session on the device in use; a fact says why it cannot be.
void call_start(Session *s, const char *worker, double seconds);

// A request, to a session that has begun. The memory files of what the worker makes are appended
// to fds.
Request call_request(const Session *s, const char *name, bool returns_i32, size_t argc,
                     const Arg *argv, int *fds, size_t *fd_count);

// Has the worker open the devices, where the grader owns memory on them.
enum outcome call_ready(Session *s, Answer *answer);

// Blames what came of the last request on whom it may concern.
void call_settle(enum outcome outcome);

// Asks the device where the calls of session.events.trace are made: their `file` and `line`. That
// takes it some milliseconds, so it is for checks that fail. If the program has ended badly, they
// are known already.
void call_lines(void);

// Reads the buffers back.
void call_take_buffers(size_t argc, const Arg *argv);

// ---- blame.c

// The device's error events that are new since the last time.
void blame_events(void);

// A function that was given pinned memory, and returned before the device was done with it, as far
// as that is known.
void blame_return(void);

// An output on the device of whose words a copy, or another process, has written some last, where a
// kernel should have.
void blame_writers(const Arg *a, size_t argc, const Arg *argv);

// A host output of which more than a few words are in no piece of what the device has made.
void blame_made(const Arg *a);

// A call with its answer on the devices, of which as much went to the host and came from there as
// the host needs to compute it, whatever carried the bytes. Or with its answer on the host, of
// which as much went to the devices as the answer holds and the host has worked it out.
void blame_journey(size_t argc, const Arg *argv);

// How a call ended, or the worker's stage, unless the device has said it better.
void blame_outcome(enum outcome outcome);
void blame_stage(void);

// The program's own end, after the last call.
void blame_end(enum outcome outcome);
