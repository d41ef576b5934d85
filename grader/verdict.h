// The verdicts, in the order in which they apply: of several facts about one
// run, the one that stands first here is the verdict.
#pragma once
#include <stdbool.h>

#define VERDICTS(X)                                                                                \
    X(GRADER_ERROR, "GRADER-ERROR") /* the grader or the device failed: never the student */       \
    X(NODEVICE, "NODEVICE")         /* there is nothing to run on: nor is this */                  \
    X(BUILD, "BUILD")               /* the compiler refuses it, or the function is not there */    \
    X(BOUNDS, "BOUNDS")             /* out of bounds, misaligned, freed */                         \
    X(RACE, "RACE")                 /* races, barriers */                                          \
    X(TIMEOUT, "TIMEOUT")           /* too many instructions, or too long by the clock */          \
    X(CRASH, "CRASH")               /* a signal, or an error of the device */                      \
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

// The verdict of that word, or VERDICT_GRADER_ERROR if there is none.
enum verdict verdict_from_word(const char *word);

// The verdict that an error event of kind `kind` leads to. PASS: it decides
// nothing by itself ("api": a call that failed, and that the program may have
// handled). A kind that is not known is a GRADER_ERROR: never overlooked.
enum verdict verdict_of_event(const char *kind);

// What a file with this verdict is told when it still has a TODO line.
enum verdict verdict_with_todo(enum verdict v, bool has_todo);
