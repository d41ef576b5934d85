// The verdicts, in the order in which they apply: of several facts about one
// run, the one that stands first here is the verdict.
#pragma once
#include <jansson.h>
#include <stdbool.h>

#define VERDICTS(X)                                                                                \
    X(GRADER_ERROR, "GRADER-ERROR") /* the grader or the device failed: never the student */       \
    X(NODEVICE, "NODEVICE")         /* there is nothing to run on: nor is this */                  \
    X(BUILD, "BUILD")               /* the compiler refuses it, or the function is not there */    \
    X(BOUNDS, "BOUNDS")             /* out of bounds, misaligned, freed */                         \
    X(RACE, "RACE")                 /* races, barriers */                                          \
    X(TIMEOUT, "TIMEOUT")           /* too many instructions, or too long by the clock */          \
    X(CRASH, "CRASH")               /* a signal, or an error of the device or CUDA */              \
    X(PROTOCOL, "PROTOCOL")         /* it ended, or spoke, where it should have returned */        \
    X(MEMORY, "MEMORY")             /* uninitialised values, leaks */                              \
    X(WRONG, "WRONG")               /* another answer than the reference's */                      \
    X(SUSPECT, "SUSPECT")           /* less work than any right answer needs */                    \
    X(SLOW, "SLOW")                 /* right, beyond a claim's upper bound */                      \
    X(PASS, "PASS")                                                                                \
    X(TODO, "TODO") /* a TODO line is left: stands for BOUNDS to SLOW */

enum verdict {
#define X(id, word) VERDICT_##id,
    VERDICTS(X)
#undef X
        VERDICT_COUNT
};

const char *verdict_word(enum verdict v);

// The colour in which a terminal shows it (text_state).
const char *verdict_colour(enum verdict v);

// What to do first where nothing more is known. NULL: nothing, of PASS and TODO.
const char *verdict_next(enum verdict v);

// The verdict of that word, or VERDICT_GRADER_ERROR if there is none.
enum verdict verdict_from_word(const char *word);

// The kinds of errors by their names in the device's report and in facts, and the verdict that each
// leads to. PASS: it decides nothing by itself (an "api" is a call that failed, and that the
// program may have handled).
#define KINDS(X)                                                                                   \
    X(BOUNDS, "bounds", BOUNDS)                                                                    \
    X(MISALIGNED, "misaligned", BOUNDS)                                                            \
    X(USE_AFTER_FREE, "use-after-free", BOUNDS)                                                    \
    X(INVALID_FREE, "invalid-free", BOUNDS)                                                        \
    X(RACE, "race", RACE)                                                                          \
    X(BARRIER, "barrier", RACE)                                                                    \
    X(MBARRIER, "mbarrier", RACE)                                                                  \
    X(UNFINISHED_COPY, "unfinished-copy", RACE)                                                    \
    X(DEADLOCK, "deadlock", TIMEOUT)                                                               \
    X(HANG, "hang", TIMEOUT)                                                                       \
    X(TIMEOUT, "timeout", TIMEOUT)                                                                 \
    X(HOST_ACCESS, "host-access", CRASH)                                                           \
    X(TRAP, "trap", CRASH)                                                                         \
    X(UNINITIALIZED, "uninitialized", MEMORY)                                                      \
    X(LEAK, "leak", MEMORY)                                                                        \
    X(UNSUPPORTED, "unsupported", GRADER_ERROR)                                                    \
    X(API, "api", PASS)                                                                            \
    X(UNSEEN, "unseen", WRONG) /* the grader's own: a call left its error to be found */

enum kind {
    KIND_UNKNOWN,
#define X(id, name, verdict) KIND_##id,
    KINDS(X)
#undef X
};

// The kind of an event or a fact: that of its "kind".
enum kind kind_of(const json_t *object);

const char *kind_name(enum kind kind);

// The verdict that it leads to. A kind that is not known is a GRADER_ERROR: never overlooked.
enum verdict verdict_of_kind(enum kind kind);

// What a file with this verdict is told when it still has a TODO line.
enum verdict verdict_with_todo(enum verdict v, bool has_todo);
