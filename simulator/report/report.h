// The reports of the simulated device: errors, kernels, copies and the end of the program. They are
// written as text for people on stderr, or as JSON lines for a grader (--report FD).

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/place.h"
#include "wire/wire.h"

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

// The cause of an error. Its row in causes.def has its kind and its words.
enum report_cause {
    CAUSE_NONE,
#define CAUSE(name, kind, message, why, next) CAUSE_##name,
#include "causes.def"
#undef CAUSE
    REPORT_CAUSES
};

// What an access or a call does to memory.
enum report_access {
    ACCESS_NONE,
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_ATOMIC, // reads and writes in one step
    ACCESS_COPY,   // an asynchronous copy or a bulk copy
    ACCESS_NAME,   // a call names the memory, and does not access it
};

enum report_space { IN_UNKNOWN, IN_GLOBAL, IN_SHARED, IN_LOCAL };

// What an undefined value is used for.
enum report_use { USE_NONE, USE_ADDRESS, USE_STORE, USE_BRANCH, USE_ATOMIC, USE_MBARRIER };

// Why copied bytes are undefined.
enum report_undefined {
    UNDEFINED_NONE,
    UNDEFINED_UNWRITTEN,
    UNDEFINED_COMPUTED,
    UNDEFINED_SHUFFLED
};

// What fails to order the two sides of a race.
enum report_between {
    BETWEEN_NONE,
    BETWEEN_DEVICES,
    BETWEEN_OPERATIONS, // launches, copies and fills
    BETWEEN_FLAG,       // a flag, but no fence
    BETWEEN_BLOCKS,
    BETWEEN_LINE, // one source line makes both stores
    BETWEEN_BARRIER,
    BETWEEN_BULK, // a copy in bulk that nothing waits for
};

// A fact that only a few causes have: a name, which includes the unit, and a number. NULL: none.
enum { REPORT_NUMBERS = 13 };
typedef struct {
    const char *name;
    int64_t value;
} ReportNumber;

// The other access of a race, or another thread or operation that is involved.
typedef struct {
    Place place;
    enum report_access access;
    const char *kernel; // NULL: the same kernel
    const char *call;   // the call of the host that made the access; NULL: a thread made it
    const char *label;  // what it did, in a note: "destroyed by"
    uint32_t thread[3];
    bool same_warp;
    bool has_block; // it is in another block: `block`
    uint32_t block[3];
} ReportOther;

// Where a bad pointer came from.
enum report_from { FROM_UNKNOWN, FROM_ARGUMENT, FROM_MEMORY, FROM_MALLOC };
typedef struct {
    enum report_from from;
    bool null;
    uint32_t argument;            // of the kernel, from 1
    uint64_t byte, bytes;         // where in the argument, of so many bytes, or in the allocation
    uint64_t address;             // of the memory that it was read from,
    const Allocation *allocation; // which is in this one
    bool no_malloc;               // malloc has returned null, here,
    Place malloc_place;
    uint64_t wanted, heap; // bytes that it was asked for, and that it has in all
} ReportPointer;

// A range of the message that report_error() has made: the words that tell a certain fact.
typedef struct {
    uint32_t from, to; // bytes; both 0: the message does not tell the fact
} ReportWords;

// An error. Zero-initialise it and fill in what is known: what is NULL or 0 is left out. The
// strings need to live only until report_error(), which makes the words, returns.
typedef struct {
    enum report_cause cause;
    enum report_kind kind;        // the kind of the cause
    const char *message;          // one line: what happened, with the numbers
    const char *why;              // one line: what it means
    const char *next;             // one line: what usually mends it
    const char *detail;           // a name or a text of the program
    const char *kernel;           // its name; NULL: a call of the host
    const char *call;             // the call of the host: "cudaMemcpy"
    Place place;                  // where it happened, in device or host code
    Place callers[PLACE_CALLERS]; // where that code was inlined, innermost first; the first
                                  // without a file ends them
    bool has_thread;              // `block` and `thread` are set
    uint32_t block[3], thread[3];
    uint32_t device; // of the kernel
    enum report_access access;
    enum report_space space;
    uint64_t bytes;   // that each thread, or the call, accesses
    uint32_t threads; // how many threads of the warp do it; 0: the message leaves it out
    uint64_t address;
    const Allocation *allocation;            // that was accessed or missed
    ReportWords allocation_says, freed_says; // the words on the allocation, and on its freeing
    ReportPointer pointer;                   // by which the thread came there
    bool has_owner;                          // it is shared memory of another block,
    uint32_t owner[3];                       // this one
    enum report_use use;
    enum report_undefined undefined;
    uint64_t undefined_bytes;
    enum report_between between;
    bool has_other;
    ReportOther other;
    ReportNumber number[REPORT_NUMBERS];
    char *waiting_warps; // where warps wait: a line of text for each place
    bool note;           // no error: a call was refused, and the program can know. In text only
    int severity;        // of several errors of one kind and line, the most severe is reported
} Report;

typedef struct {
    const char *name;  // Nsight Compute's name
    bool estimate;     // printed with ~
    bool aside;        // in JSON only, not in text
    const char *words; // what it says
} CounterName;

// A figure on a launch's details page.
typedef struct {
    const char *section, *label; // Nsight Compute's
    const char *unit;            // "" if it has none
    const CounterName *of;
    double value; // 0: it does not apply, or did not happen
    double share; // of its peak, in percent; below 0: it has none
} Detail;

typedef struct {
    Place place;
    const uint64_t *values; // a value for each counter of the report, in the same order
} CounterLine;

// The place of a launch on the roofline. Its numbers are figures as well (model/counters.def).
typedef struct {
    const char *memory;  // the memory that is nearest its peak: "DRAM", "L2"; NULL: none is used
    const char *pipe;    // the same of what computes: "FP32"; NULL: nothing was computed
    double intensity;    // FLOP for each byte of that memory; 0: there is none
    double ridge;        // the intensity at which both would be equally near their peaks
    double percent;      // of the lowest roof; 0: there is no roof
    bool memory_is_roof; // the lowest roof is the memory's, not the pipe's
} RoofReport;

// How far predicted times of kernels bound by the same were off, on a GPU: of half and of nine
// tenths of them, in percent.
typedef struct {
    const char *device, *bound; // "NVIDIA H200", "memory"
    int kernels, half, nine_tenths;
} PredictionError;

// What a copy in one piece brought to the host: its address there, and how many of the
// source's words each writer (base/written_by.h) wrote last.
// Kept only for an owner.
typedef struct {
    uint64_t to, words[WRITERS];
} CopyReport;

// An argument of a launch, as it lies in the parameter block: its first words of 8 bytes, the last
// one filled up with zeros.
enum { CALL_ARGUMENTS = 64, CALL_WORDS = 8 };
typedef struct {
    uint64_t bytes, word[CALL_WORDS];
} ArgumentReport;

// The bytes that a copy or a fill moves: `rows` rows of `width` bytes, which begin that many bytes
// apart at either end.
typedef struct {
    uint64_t to, from, width, rows, to_pitch, from_pitch;
    bool fills; // with `value`, and not from anywhere
    uint32_t value;
    bool pinned; // the host's memory
} MoveReport;

// A launch: `count` arguments, which may be fewer than it has.
typedef struct {
    const char *signature; // NULL: there is no such kernel
    uint32_t grid[3], block[3];
    uint64_t shared; // dynamic, bytes
    ArgumentReport *arguments;
    size_t count;
    bool ignored; // the program gets no result, as of <<<>>>
} LaunchReport;

// A call of CUDA's. What is NULL or 0 is left out.
typedef struct {
    const char *name;        // "cudaMemcpy"
    double start_ns, end_ns; // on the simulated clock; both 0: there is no timeline
    const char *did;         // with a timeline: the same as `does`; NULL: none of that
    bool blocks;             // with a timeline: the host waits until earlier work is done
    const char *does;        // "copy", "launch" ...; NULL: nothing more is known
    Place place;             // object and address only
    uint32_t site;           // a number of the place, for report_site()
    uint32_t device;
    int64_t stream; // its row in the timeline, 0 for the default stream; -1: left out
    int status;     // cudaError_t
    bool within;    // part of a graph launch
    const char *waits,
        *asks;               // for what the host waits, or asks: "stream", "event", "device", "all"
    const char *variable;    // of __device__ or __constant__ memory: its name
    const char *memory;      // allocated: "device", "managed", "pinned", "registered"
    const char *kind;        // of a copy or a prefetch: "HtoD", "DtoH", "DtoD", "HtoH"
    uint64_t address, bytes; // of memory
    uint64_t event;          // recorded or waited for
    int64_t count;           // operations of a graph
    const MoveReport *move;
    const LaunchReport *launch;
} CallReport;

// A column of the table of source lines. `value` computes it from the line's counters and the
// launch's; 0: the line has no such figure.
typedef struct {
    const char *first, *second; // the two lines of its heading
    int width, digits;
    double (*value)(const uint64_t *line, const uint64_t *launch);
} CounterColumn;

// What costs a launch time.
typedef struct {
    const char *title, *cure;
    char *words;       // what there is, with the numbers; malloc'ed
    Place place;       // no line: the kernel as a whole, or
    bool lineless;     // a line of it that is not known
    double cost;       // of the predicted time, 0 to 1
    double without_ns; // the time that was predicted again without it; 0: `cost` is what the model
                       // of time says of the launch as it is
} Finding;

// One finished launch, with its counters.
typedef struct {
    const char *name;      // as in the PTX
    const char *signature; // "transpose(float*, float const*, int, int)"
    uint32_t grid[3], block[3], device;
    int status; // cudaError_t of the launch; 0: success
    const CounterName *counters;
    const uint64_t *values; // counter_count totals
    size_t counter_count;
    const CounterName *metrics; // figures of the whole launch, which are not sums
    const double *figures;      // a value for each metric; 0: it does not apply
    size_t metric_count;
    const Detail *details; // in the order of the page: the rows of a section together
    size_t detail_count;
    const Finding *findings; // what costs most is first
    size_t finding_count;
    const CounterLine *lines; // in any order; report.c leaves out zeros
    size_t line_count;
    const CounterColumn *columns; // of text, column_count of them, at most 16
    size_t column_count;
    double time_ns;    // predicted; 0: no prediction
    const char *bound; // what bounds it: "memory", "compute", "latency",
                       // "atomics", or "transfers" of pages or over links
    RoofReport roof;
    const PredictionError *error; // NULL: no such kernels were compared with such a device
} KernelReport;

// Chooses the form. fd < 0: text on stderr. profile: text also gives each kernel's counters.
void report_open(int fd, bool profile);

// There are several devices: from now on reports of kernels name the device.
void report_several(void);
bool report_has_several(void);

// From now on this thread's errors are not recorded, but set *instead. NULL: they are recorded
// again.
void report_hold(bool *instead);

// Records an error. Thread-safe. Errors of the same kind, kernel and line are counted, and written
// once, as the first of them, at the next report_flush().
void report_error(const Report *report);

// How many errors of this kind were recorded so far, repeats included.
uint64_t report_count(enum report_kind kind);

// Writes the errors recorded since the last flush, in order. To be called when a kernel or a call
// ends.
void report_flush(void);

// Of which launches report_kernel() tells: of kernels whose signature an extended regular
// expression matches, and of these launches, from 1 on, in each process. Returns why the expression
// is none; NULL: it is one.
const char *report_kernels(const char *pattern);
void report_launches(uint64_t from, uint64_t to);

// Will findings of this launch be read? They take time to make.
bool report_wants_findings(const KernelReport *kernel);

// Writes the errors, then the kernel.
void report_kernel(const KernelReport *kernel);

// What else than copies crosses from the program to the device or back.
enum crossing {
    CROSSING_MODULE,
    CROSSING_FILL,   // its value
    CROSSING_PRINT,  // text of kernels, values of conditions, times, waits and queries
    CROSSING_HOSTS,  // what the host has brought by copies and worked out (model/carried.h)
    CROSSING_PAGES,  // what it has changed in managed memory (and, where it is told, worked out)
    CROSSING_SHOWN,  // what the device has changed there
    CROSSING_PINNED, // what kernels have read in pinned memory
    CROSSING_WHERE,  // where copies and fills go, and what launches are given that is new
    CROSSING_SMALL,  // what copies within the devices have moved in pieces of a few bytes
    CROSSINGS
};
void report_crossing(enum crossing kind, uint64_t bytes);

// Writes the sums of all kinds since the last time. In JSON only.
void report_crossings(void);

// Writes the errors, then the copy. kind: "HtoD", "DtoH", "DtoD", "HtoH".
void report_copy(const char *kind, uint64_t bytes, const CopyReport *back);

// Bytes that were moved over the link from one device to another.
typedef struct {
    uint32_t from, to;
    uint64_t bytes;
} LinkReport;

// Writes when a kernel or a copy (kind: "kernel", "copy") began and ended on the simulated clock,
// and what it moved between devices, over their links or through the host. In JSON only, and only
// with several devices or a timeline. stream: its row in the timeline, 0 for the default stream;
// -1: left out.
void report_work(const char *kind, uint32_t device, int stream, double start_ns, double end_ns,
                 bool by_host, const LinkReport *links, size_t count);

// Writes that the device refuses a launch with a cudaError_t. The report says why and where. In
// JSON only.
void report_refused(const Report *report, int status);

// Writes that the program has called cudaProfilerStart or cudaProfilerStop, or that the owner has
// said the same, and for how long the device is still busy then. In JSON only.
void report_range(bool begins, bool by_owner, double busy_ns);

// Writes a call of the program. In JSON only.
void report_call(const CallReport *call);

// Writes the source line of calls. In JSON only.
void report_site(uint32_t site, const Place *place);

// Writes that the call before was made `again` times more, one right after the other; or, if `does`
// is not NULL, that so many calls that do that are left out. In JSON only.
void report_calls_more(uint64_t again, const char *does, uint64_t left_out);

// Writes the errors, then a migration of managed memory. direction: "HtoD", "DtoH"; cause:
// "gpu-fault", "cpu-fault", "prefetch".
void report_migration(const char *direction, const char *cause, uint64_t bytes, uint64_t faults);

// Writes the errors when a device process ends, and in text how often earlier ones were repeated
// and the profile.
void report_end(void);

// Writes the last line, in text with the errors of each kind, the first time it is called. signal:
// 0: the program exited, with `status`.
void report_exit(int status, int signal);

// Has any process of the machine written an error?
bool report_found(void);
char *report_found_words(void); // "3 errors: data race (2), leak", malloc'ed; NULL: there are none

// Says something to the person at the terminal: "warpwise: ..." on stderr, wrapped.
void report_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
