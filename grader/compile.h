// Compiling a submission.
#pragma once
#include <jansson.h>
#include <stdbool.h>

enum compiled {
    COMPILED,
    COMPILE_REFUSED,     // the compiler has said why, on our stderr, in its own words
    COMPILE_LATE,        // it was stopped after COMPILE_SECONDS
    COMPILE_NO_COMPILER, // nvcc cannot be started; errno says why
    COMPILE_NO_HARNESS,  // build/grader/worker.o is not there
    COMPILE_NO_SANDBOX,  // in the sandbox it does not start, or refuses even an empty file
    COMPILE_STARVED,     // the sandbox's limit of memory was not enough
    COMPILE_NO_MEMORY,   // the machine's was not: never the file's fault alone
};

enum { COMPILE_SECONDS = 60, COMPILE_MORE = 8 };

// Compiles and links `source`, a submission or a peer, with the harness of the
// project at `root`, into `folder`/`name`. more: further options ("-DVERSION=1",
// "-lcublas"), COMPILE_MORE at most, then NULL. ours: the source is the course's own, and is
// compiled outside of the sandbox (confine.h). Environment: NVCC (nvcc) and ARCH (90).
enum compiled compile_program(const char *root, const char *folder, const char *name,
                              const char *source, const char *const *more, bool ours);

// The fact (record.h) that says why there is no program: the file's fault, or the grader's. errno
// is as compile_program() has left it.
json_t *compile_refusal(enum compiled end);

// Where it leaves the list of all files that it read to make that program: gcc's -MD.
const char *compile_list(const char *worker);
