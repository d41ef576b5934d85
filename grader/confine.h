// The words that stand before a program of a submission's, or before the compiler that reads one:
// the sandbox (grader/sandbox/), and what it shows. Where the environment's WARPWISE_SANDBOX, a
// path, names none, there are no words, and the program has what its user has.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { CONFINE_WORDS = 112 };

bool confine_is_on(void);

// Writes the words for the worker, or the compiler, to argv, CONFINE_WORDS at most, and returns how
// many. The worker sees itself, the toolkit, and the libraries that stand in for CUDA's, or on a
// GPU the driver's library, /sys, and the nodes of the GPUs that it may have (gpu_nodes). The
// compiler (nvcc, a path) sees its toolkit, the host compiler that it takes (NVCC_CCBIN is set, if
// that is in no folder of the sandbox's PATH), `source`, its lesson's contract, the harness, and
// `folder`, into which it writes. Paths outlive the words.
size_t confine_worker(const char **argv, const char *root, const char *worker);
size_t confine_compiler(const char **argv, const char *root, const char *compiler,
                        const char *source, const char *folder);

// The path by which a program is found that is called by `name`: from here, or by PATH; links are
// left as they are. NULL: it is not there. The caller frees it.
char *confine_find(const char *name);

// The sandbox tells of a signal as a shell does: 128 more than its number. Makes it a signal again;
// also of what was killed as it took more memory than it may (ends.h).
void confine_end(int *status, int *signal);

// What is to be said of such a status, where it is the sandbox or the machine that has failed and
// not the program; or NULL.
const char *confine_failure(int status);
