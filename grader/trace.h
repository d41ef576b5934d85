// The trace of a check: the calls of CUDA that the submission made, in order, as the simulated
// device reports them (simulator/report/json.h, "call"). A diagnosis reads here why an answer is
// wrong: "nothing was copied to c", "the kernel was launched with n = 0", "the host never waited".
//
//     const Traced *c = NULL;
//     while ((c = trace_next(t, c, TRACE(COPY)))) ...     the copies of the function's last call
//
// trace_whose() says whose memory an address is: an argument's, which has the contract's name,
// memory that the submission allocated, or the host's. The trace leaves out the calls that the
// harness makes for the grader, and those that never reach the device: a copy of 0 bytes,
// cudaFree(NULL). A call that failed has the status of its error, and did nothing else. On a GPU
// the trace is empty.
#pragma once
#include "harness.h"
#include <stddef.h>

// What a call does.
#define DEEDS(X)                                                                                   \
    X(ALLOC, "alloc")                                                                              \
    X(FREE, "free")                                                                                \
    X(VARIABLE, "variable") /* asks for the address of a __device__ or __constant__ variable */    \
    X(COPY, "copy")                                                                                \
    X(FILL, "fill")                                                                                \
    X(PREFETCH, "prefetch")                                                                        \
    X(LAUNCH, "launch")                                                                            \
    X(GRAPH, "graph")   /* launches a graph, whose operations follow, with `within` */             \
    X(WAIT, "wait")     /* waits for earlier work, or asks for it */                               \
    X(RECORD, "record") /* records an event */                                                     \
    X(ORDER, "order")   /* has a stream wait for an event */                                       \
    X(RESET, "reset")   /* frees all memory of its device */                                       \
    X(CHECK, "check")   /* reads the error of a launch (cudaGetLastError) */                       \
    X(MISUSE, "misuse") /* was refused by the runtime: an error of the device's says why */
enum deed {
#define X(name, word) DEED_##name,
    DEEDS(X)
#undef X
        DEEDS_COUNT
};
#define TRACE(name) (1u << DEED_##name)
#define TRACE_ALL ((1u << DEEDS_COUNT) - 1)

enum memory { MEMORY_UNKNOWN, MEMORY_OF_DEVICE, MEMORY_OF_BOTH, MEMORY_PINNED, MEMORY_REGISTERED };

// The work that the host waits for in a call, or asks for: all that was issued before the call to
// the stream, before the event was recorded, to the device, or to all devices.
enum until { UNTIL_NOTHING, UNTIL_STREAM, UNTIL_EVENT, UNTIL_DEVICE, UNTIL_ALL };

// Was the error of a failed call read? UNREAD: the call is a launch that returns nothing (<<<>>>),
// and the same call of the function has not called cudaGetLastError() or cudaPeekAtLastError()
// since. RETURNED: the call returned its error; the trace can't know whether the program looked at
// it.
enum error_read { ERROR_NONE, ERROR_UNREAD, ERROR_READ, ERROR_RETURNED };

enum { TRACED_ARGUMENTS = 64, TRACED_WORDS = 8 };

// An argument of a launch as it lies in the parameter block: its first words of 8 bytes.
typedef struct TracedBytes {
    uint64_t bytes, word[TRACED_WORDS];
} TracedBytes;

// A call. What does not apply is 0 or NULL.
typedef struct Traced {
    enum deed does;
    size_t number;        // its place in the trace, from 0 on
    size_t call;          // of the function's calls in this check, from 1 on; 0: outside of all
    const char *name;     // "cudaMemcpy"; of <<<>>> "cudaLaunchKernel"; of VARIABLE "a symbol"
    const char *file;     // where it is made; NULL: unknown, or not asked for (call_lines, check.h)
    int line;             //
    uint64_t times;       // 1, or more if it was made several times, one right after the other
    int device;           // the calling thread's
    int stream;           // 0: the default stream; -1: none
    int status;           // its cudaError_t; 0: it succeeded (600 of a query: not complete yet)
    enum error_read read; // of its error
    bool within;          // part of a graph's launch
    enum until waits, asks;
    enum memory memory;            // ALLOC
    const char *variable;          // VARIABLE: its name
    uint64_t address, bytes;       // ALLOC, FREE (address), VARIABLE, PREFETCH
    uint64_t to, from;             // COPY; FILL (to); `bytes` are those of all rows
    uint64_t rows, width;          // COPY, FILL: rows of `width` bytes that begin
    uint64_t to_pitch, from_pitch; // so many bytes apart; a plain copy has one row
    char kind[8];                  // COPY, PREFETCH: "HtoD", "DtoH", "DtoD", "HtoH"
    bool pinned;                   // COPY: the host's memory is
    uint32_t value;                // FILL
    const char *signature;         // LAUNCH: "add(float*, float const*, float const*, int)"; NULL:
                                   // there is no such kernel
    uint32_t grid[3], block[3];
    uint64_t shared;       // LAUNCH: dynamic, bytes
    size_t argc;           // LAUNCH: arguments, at most TRACED_ARGUMENTS
    TracedBytes *argv;     //
    uint64_t event, count; // an event's number; GRAPH: operations
    size_t site;           // TracedSite.number of where it is made; 0: unknown
} Traced;

// An array of the function's call in progress, or a part of one that is spread over devices.
typedef struct TracedArray {
    size_t argument, part; // both from 0 on
    const char *name;      // as the contract has it: "c"
    uint64_t address, bytes;
    bool of_host; // memory that is not the device's, pinned or not
} TracedArray;

// Where calls are made.
typedef struct TracedSite {
    size_t number; // the device's
    const char *file;
    int line;
} TracedSite;

typedef struct Trace {
    Traced **all; // of the whole check
    size_t count;
    size_t call;                    // the function's calls that have begun
    bool calling;                   // one is in progress
    uint64_t left_out[DEEDS_COUNT]; // calls of CUDA in the last one that are not in the trace
    TracedArray *array;             // of the last one
    size_t arrays;
    TracedSite *site;
    size_t sites;
    Harness harness;      // whose calls are left out
    Traced *last;         // the call that was taken last; NULL: none yet, or a call
    bool last_is_harness; // of the harness's
} Trace;

// ---- Reading

// The next call after `c` that does one of the deeds, in the function's last call, whether it
// has returned or not; c NULL: the first. NULL: there is none.
const Traced *trace_next(const Trace *t, const Traced *c, unsigned deeds);

// Does the trace have all calls of the function's last call that do one of the deeds? Of a loop it
// has only the first few hundred.
bool trace_is_complete(const Trace *t, unsigned deeds);

// Whose memory lies at an address?
typedef struct Whose {
    enum {
        WHOSE_NOBODY,   // an address of the device's, where no memory is known
        WHOSE_ARGUMENT, // `array`
        WHOSE_OWN,      // the submission's: `made`, an ALLOC or a VARIABLE
        WHOSE_HOST      // the host's, and nothing more is known
    } whose;
    const TracedArray *array;
    const Traced *made;
    const Traced *freed; // what has freed it since; NULL: nothing
    uint64_t offset;     // bytes, from the beginning of the array or the allocation
} Whose;

// As it is when call `at` is made; at NULL: at the end of the trace.
Whose trace_whose(const Trace *t, uint64_t address, const Traced *at);

// The next copy after `c` (NULL: the first) that succeeds and whose destination, or source, begins
// in that argument.
const Traced *trace_copy_to(const Trace *t, size_t argument, const Traced *c);
const Traced *trace_copy_from(const Trace *t, size_t argument, const Traced *c);

// An argument of a launch.
typedef struct TracedValue {
    enum {
        VALUE_BYTES, // a struct, or of an unknown type: see argv
        VALUE_POINTER,
        VALUE_INTEGER, // of any size, bool and char too
        VALUE_REAL
    } kind;
    char type[64];    // as in the signature, "float const*", perhaps cut; "": unknown
    uint64_t address; // POINTER
    Whose whose;      // POINTER: when it was launched
    int64_t integer;  // INTEGER; of an unsigned long its bits
    double real;      // REAL: a float, or a double
} TracedValue;

// Argument `n` of a launch, below argc.
TracedValue trace_value(const Trace *t, const Traced *launch, size_t n);

// The first call, from `c` on, in which the host waits for the work that `c` issued. NULL: there is
// none. A wait for an event counts if the event was recorded after `c` in the same stream. The
// default stream counts as waiting for all other streams of its device, although it does not wait
// for those that are cudaStreamNonBlocking.
const Traced *trace_wait(const Trace *t, const Traced *c);

// The next failed call after `c` (NULL: the first) whose error is ERROR_UNREAD.
const Traced *trace_unread(const Trace *t, const Traced *c);

// ---- Writing: events.c and call.c

void trace_new_call(Trace *t);
void trace_end_call(Trace *t);

// An array of the call in progress. `name` outlives the check.
void trace_add_array(Trace *t, TracedArray array);

// Takes an event "call" or "site". False: it is not as json.h has it, and the trace is as before.
bool trace_take_call(Trace *t, const json_t *event);
bool trace_take_site(Trace *t, const json_t *event);
