// The simulated device beside a GPU: kernel after kernel, what each counts and how long it says
// that the kernel takes.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { MOST_KERNELS = 512 };

typedef struct Kernel {
    const char *name, *program;
    char exercise[64]; // that it is a version of, as its source says; "": of none
    bool held_out;     // no part of the model was fitted on it
    bool computes;     // one of three grids of a kernel that computes: it is only timed
    double microseconds, simulated; // median between two events, without a profiler; 0: unknown
    json_t *counters;               // ncu's, by name; of traffic the median
    json_t *traffic; // of some of them the lowest of all runs, the median and the highest, and the
                     // lowest and the highest median of those that were measured several times
    json_t *counted; // the simulated device's
    json_t *estimates; // names of those that are estimates
    char bound[16];    // what bounds its time, as the simulated device says
} Kernel;

typedef struct Set {
    json_t *record;               // what was measured on the GPU: the file as it is
    Kernel kernels[MOST_KERNELS]; // program after program
    size_t count;
} Set;

// The programs of profiles/accuracy/kernels, by name. The caller frees the list with json_decref().
json_t *programs(void);

// What this machine has: {"device", "driver", "date", "toolkit", "ncu"}. NULL, with a message, if
// it has no GPU or no ncu.
json_t *look(void);

// Runs every program on the GPU of this machine, once under ncu and `rounds` times without, and
// returns the record:
// {"device", "driver", "date", ..., "kernels": {name: {"program", "microseconds", "counters"}}}.
// NULL, with a message, if there is no GPU, no ncu, or if one of them fails.
json_t *measure(const char *simulator, int rounds);

// Times, on the GPU of this machine, the kernels of programs of which the record has none and that
// are only timed, and adds them: {name: {"program", "microseconds", "date"}}. False, with a
// message, if the GPU is another one, or one of them fails.
bool measure_times(json_t *record, int rounds);

// Is it one of the three grids of a kernel that computes (kernels/exercise.h)?
bool only_timed(const char *kernel);

// Runs them under ncu several times more, for what L2 and DRAM move, and adds it to what is there:
// "traffic": {counter: [[lowest, median, highest], ...]} of each kernel of the record. And the
// record's own "traffic": [{"date", "runs", ...}, ...]. False, with a message, if one fails.
bool measure_traffic(json_t *record);

// The record's file (record.c). Reading returns NULL, with a message, if there is no such record;
// writing false, with errno.
json_t *record_read(const char *from);
bool record_write(const json_t *record, const char *to);

// Fills the set from the record, and marks what is held out. False, with a message, if a name is
// unknown.
bool set_make(Set *set, json_t *record, const char *held_out);

// Runs every program of the set on the simulated device. False, with a message, when one fails.
bool simulate(Set *set, const char *simulator);

// The lines of a command's output, one after another; NULL at the end, or if the command failed:
// *status then is not 0.
typedef struct Command {
    void *pipe;
    char *line;
    size_t room;
    int status;
} Command;
bool command_open(Command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *command_line(Command *command);

// What starts ncu, but for the counters and the program; and the number of a kernel that a line of
// what it prints says, false if none.
extern const char profiler[];
typedef struct Number {
    const char *kernel, *counter;
    double value;
} Number;
bool number_in(char *line, Number *number);
json_t *json_of(double value); // a whole number, where it is one

double time_error(const Kernel *kernel);  // of the simulated one, as a part of the GPU's
double median(double *values, int count); // sorts them; 0: there are none

// The errors of the times by what bounds them: a section of the page, and, whole or not at all, the
// file that the simulated device takes them from (simulator/model/errors.def). False, with a
// message, if that cannot be written.
void errors_on_page(const Set *set, FILE *page);
bool errors_write(const Set *set, const char *to);

// Writes the table, with the text of `shortfalls` in it. Returns how many of the bounds of `bounds`
// (libconfig) are exceeded, each of which it names on stderr.
int table_write(const Set *set, const char *why, const char *shortfalls, const char *bounds,
                const char *to);
