// Starting programs that may misbehave, and leaving none of them behind.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Descriptors that a child gets: from[i] of ours becomes its to[i]; 0, 1 and 2
// are /dev/null, ours and ours unless they are named. All others are closed.
typedef struct Spawn {
    const char *const *argv;        // argv[0] is looked for in PATH
    const char *const *environment; // "NAME=value" put on top of ours, "NAME" taken out of it, NULL
                                    // at the end; or NULL
    int from[8], to[8];
    size_t descriptors;
    bool trusted; // it keeps root's capabilities; else it, and what it starts, can look into no
                  // process of ours
} Spawn;

// Starts it in a process group of its own; it dies when we die. Returns its
// process id, or -1 with errno set, also when it is the exec that failed.
pid_t process_start(const Spawn *spawn);

// Makes orphans among our descendants our children, so that process_sweep()
// finds them. Call it once, before process_start().
void process_adopt(void);

// When our parent is killed, we are too, and with us what we have started.
void process_die_with_parent(void);

// A clock with a limit in seconds. On a busy machine it runs on for as long as our descendants
// waited for a core, up to PROCESS_BUSY times the limit: a right answer takes longer while others
// have the cores, and who waits for what never comes does not wait for a core.
enum { PROCESS_BUSY = 10 };
typedef struct ProcessClock {
    double start, seconds, looked, delay, waited;
} ProcessClock;

ProcessClock process_clock(double seconds);

// The seconds that are left on it; 0: none. It asks what was waited for, at most twice a second.
double process_left(ProcessClock *c);

// Waits until `pid` ends, at most `seconds` on such a clock. True: it did, with *status as of
// waitpid(). False: it still runs.
bool process_wait(pid_t pid, double seconds, int *status);

// Kills all our descendants, also those in other groups and sessions, and reaps
// them. Needs process_adopt().
void process_sweep(void);

// The seconds that our descendants have waited for a core while others had it: of each process the
// thread that waited longest. 0 where the system does not tell.
double process_delay(void);

// For how many seconds this machine, if it is a virtual one, has not been given a core that it
// wanted, on the average of its cores, since it was started ("steal" of proc_stat(5)).
double process_stolen(void);

// Seconds on a clock that nobody sets.
double seconds_now(void);
