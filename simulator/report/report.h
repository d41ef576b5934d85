// What the simulated device says: errors, kernels, copies and the end of the program.
// One sink, two forms: text for a person on stderr, or JSON lines for a grader on --report FD.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/place.h"

typedef struct Allocation Allocation; // memory.h

enum report_kind {
    REPORT_BOUNDS,
    REPORT_MISALIGNED,
    REPORT_USE_AFTER_FREE,
    REPORT_UNINITIALIZED,
    REPORT_RACE,
    REPORT_BARRIER,
    REPORT_TIMEOUT,
    REPORT_UNSUPPORTED,
    REPORT_TRAP,
    REPORT_LEAK,
    REPORT_INVALID_FREE,
    REPORT_HOST_ACCESS,
    REPORT_API,
    REPORT_DEADLOCK,
    REPORT_HANG,
    REPORT_UNFINISHED,
    REPORT_MBARRIER,
    REPORT_KINDS
};

// What happened, by name: causes.def has its kind, and the words for it.
enum report_cause {
    CAUSE_NONE,
#define CAUSE(name, kind, message, why, next) CAUSE_##name,
#include "causes.def"
#undef CAUSE
    REPORT_CAUSES
};

// What an access or a call does.
enum report_access {
    ACCESS_NONE,
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_ATOMIC, // reads and writes in one step
    ACCESS_COPY,   // an asynchronous copy, or one in bulk
    ACCESS_NAME,   // a call names the memory, and touches none of it
};

enum report_space { IN_UNKNOWN, IN_GLOBAL, IN_SHARED, IN_LOCAL };

// What a value that nothing defined is used for.
enum report_use { USE_NONE, USE_ADDRESS, USE_STORE, USE_BRANCH, USE_ATOMIC, USE_MBARRIER };

// Why bytes that are copied are undefined.
enum report_undefined {
    UNDEFINED_NONE,
    UNDEFINED_UNWRITTEN,
    UNDEFINED_COMPUTED,
    UNDEFINED_SHUFFLED
};

// How the two sides of a race are to one another, of which nothing orders them.
enum report_between {
    BETWEEN_NONE,
    BETWEEN_DEVICES,
    BETWEEN_OPERATIONS, // launches, copies and fills
    BETWEEN_FLAG,       // a flag, but no fence
    BETWEEN_BLOCKS,
    BETWEEN_LINE, // one line stores both
    BETWEEN_BARRIER,
};

// Facts that a few causes have: a name, with the unit in it, and a number. A NULL name: none.
enum { REPORT_NUMBERS = 13 };
typedef struct {
    const char *name;
    int64_t value;
} ReportNumber;

// The other access of a race, or what else is concerned.
typedef struct {
    Place place;
    enum report_access access;
    const char *kernel; // if it is another one
    const char *call;   // no thread's, but this call's of the host
    uint32_t thread[3];
    bool same_warp;
    bool has_block; // it is not in the same block, but in this one
    uint32_t block[3];
} ReportOther;

// A stretch of what report_error() has written in a message, where that says something.
typedef struct {
    uint32_t from, to; // bytes; both 0: it does not
} ReportWords;

// One error. Zero-initialise it and fill in what is known: whatever is NULL or 0 is left out.
// The strings need to live only until report_error() returns, which makes the words.
typedef struct {
    enum report_cause cause;
    enum report_kind kind;        // that of the cause
    const char *message;          // one line: what happened, with the numbers
    const char *why;              // one line: what it means
    const char *next;             // one line: what usually mends it
    const char *detail;           // a name or a text that is not ours
    const char *kernel;           // name; NULL: a call of the host
    const char *call;             // the host's: "cudaMemcpy"
    Place place;                  // where it happened, in device or host code
    Place callers[PLACE_CALLERS]; // where that code was inlined, innermost first; the first
                                  // without a file ends them
    bool has_thread;              // block and thread below are meant
    uint32_t block[3], thread[3];
    uint32_t device; // of the kernel
    enum report_access access;
    enum report_space space;
    uint64_t bytes;   // that each thread, or the call, touches
    uint32_t threads; // so many threads of the warp do it; 0: it is not told
    uint64_t address;
    const Allocation *allocation;            // the one touched or missed
    ReportWords allocation_says, freed_says; // where the message tells it, and where it was freed
    bool has_owner;                          // of shared memory that is not the thread's own: the
    uint32_t owner[3];                       // block that has it
    enum report_use use;
    enum report_undefined undefined;
    uint64_t undefined_bytes;
    enum report_between between;
    bool has_other;
    ReportOther other;
    ReportNumber number[REPORT_NUMBERS];
    char *waiting_warps; // where warps stand that wait: a line of text for each place
    int severity;        // of several errors of one kind and line the one with the most is told
} Report;

typedef struct {
    const char *name; // Nsight Compute's name
    bool estimate;    // printed with ~
    bool aside;       // not printed, in JSON alone
} CounterName;

typedef struct {
    Place place;
    const uint64_t *values; // one for each counter name of the report, in its order
} CounterLine;

// A figure of each source line in tables, from its counters and those of the launch; 0: it has
// none.
typedef struct {
    const char *first, *second; // the words above it
    int width, digits;
    double (*value)(const uint64_t *line, const uint64_t *launch);
} CounterColumn;

// One finished launch, with its counters.
typedef struct {
    const char *name;      // as in the PTX
    const char *signature; // "transpose(float*, float const*, int, int)"
    uint32_t grid[3], block[3], device;
    int status; // cudaError_t of the launch; 0: it ran well
    const CounterName *counters;
    const uint64_t *values; // counter_count totals
    size_t counter_count;
    const CounterName *metrics; // figures of the whole launch that are no sums
    const double *figures;      // metric_count of them; 0: it does not apply
    size_t metric_count;
    const CounterLine *lines; // in any order; report.c leaves zeros out
    size_t line_count;
    const CounterColumn *columns; // of text, column_count of them, at most 16
    size_t column_count;
    double time_ns; // predicted; 0: no prediction
} KernelReport;

// Chooses the form. fd < 0: text on stderr. profile: text also gives each kernel's counters.
void report_open(int fd, bool profile);

// There are several devices: from now on kernels are told with theirs.
void report_several(void);
bool report_has_several(void);

// From now on this thread's errors are not noted: *instead is set. NULL: they are again.
void report_hold(bool *instead);

// Notes an error. Safe from several threads. Identical ones (same kind, kernel and line) are
// counted, and given once, as the first one was, at the next report_flush().
void report_error(const Report *report);

// How many errors of this kind were noted so far, repeats included.
uint64_t report_count(enum report_kind kind);

// Writes the errors noted since the last flush, in order. Call it when a kernel or a call ends.
void report_flush(void);

// Writes the errors, then the kernel.
void report_kernel(const KernelReport *kernel);

// Writes the errors, then the copy. kind: "HtoD", "DtoH", "DtoD", "HtoH".
void report_copy(const char *kind, uint64_t bytes);

// Bytes that went over the link from one device to another.
typedef struct {
    uint32_t from, to;
    uint64_t bytes;
} LinkReport;

// On a machine with several devices, or with a timeline, in JSON alone: a kernel's or a copy's
// ("kernel", "copy") beginning and end on the simulated clock, and what it moved between devices,
// over their links or by way of the host. stream: its row in the timeline, 0 for the default
// stream, or -1, which is not told.
void report_work(const char *kind, uint32_t device, int stream, double start_ns, double end_ns,
                 bool by_host, const LinkReport *links, size_t count);

// In JSON alone: the device refuses a launch with a cudaError_t; the report says why, and where.
void report_refused(const Report *report, int status);

// In JSON alone: the program begins to be profiled, or ends it (cudaProfilerStart,
// cudaProfilerStop), and for how long after that the device will still be at work.
void report_range(bool begins, double busy_ns);

// In JSON alone: a call of the program, when it began and returned on the simulated clock.
void report_call(const char *name, double start_ns, double end_ns);

// Writes the errors, then what managed memory moved. direction: "HtoD", "DtoH"; cause: "gpu-fault",
// "cpu-fault", "prefetch".
void report_migration(const char *direction, const char *cause, uint64_t bytes, uint64_t faults);

// A device process ends: writes the errors, and in text how often earlier ones came again.
void report_end(void);

// Writes, the first time, the last line. signal: 0 if the program exited, with status.
void report_exit(int status, int signal);

// Says something to the person at the terminal: "warpwise: ..." on stderr, wrapped.
void report_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
