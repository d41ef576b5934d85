// Verdicts: their words, and which kind of error leads to which.
#include "verdict.h"
#include <stddef.h>
#include <string.h>

static const char *const words[VERDICT_COUNT] = {
#define X(id, word) [VERDICT_##id] = word,
    VERDICTS(X)
#undef X
};

static const struct {
    const char *name;
    enum verdict verdict;
} kinds[] = { [KIND_UNKNOWN] = { "", VERDICT_GRADER_ERROR },
#define X(id, name, verdict) [KIND_##id] = { name, VERDICT_##verdict },
              KINDS(X)
#undef X
};

const char *verdict_word(enum verdict v) { return words[v]; }

const char *verdict_colour(enum verdict v)
{
    switch (v) {
    case VERDICT_PASS: return "1;32";
    case VERDICT_TODO: return "1;36";
    case VERDICT_SLOW:
    case VERDICT_GRADER_ERROR:
    case VERDICT_NODEVICE: return "1;33";
    default: return "1;31";
    }
}

const char *verdict_next(enum verdict v)
{
    static const char *const next[VERDICT_COUNT] = {
        [VERDICT_GRADER_ERROR] = "run it once more; if it stays, report what is printed here",
        [VERDICT_NODEVICE] = "make doctor",
        [VERDICT_BUILD] = "compare the function with the declaration in the lesson's header",
        [VERDICT_BOUNDS] = "compare the index with the number of elements before it is used",
        [VERDICT_RACE] = "put the two accesses in order: a barrier, an atomic, or a wait",
        [VERDICT_TIMEOUT] = "look for a loop that does not end, and count the threads at work",
        [VERDICT_CRASH] = "look at each pointer and divisor of the host's code, for these "
                          "arguments",
        [VERDICT_PROTOCOL] = "let the function return, and write to its outputs alone",
        [VERDICT_MEMORY] = "write memory before it is read, and free it once",
        [VERDICT_WRONG] = "work the answer out by hand for these arguments, and compare",
        [VERDICT_SUSPECT] = "let the kernel read every input and write every output itself",
        [VERDICT_SLOW] = "look at the lines of the kernels that cost most",
    };
    return next[v];
}

enum verdict verdict_from_word(const char *word)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (word && strcmp(words[v], word) == 0) return v;
    return VERDICT_GRADER_ERROR;
}

enum kind kind_of(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "kind"));
    for (size_t k = 1; k < sizeof kinds / sizeof *kinds; k++)
        if (name && strcmp(kinds[k].name, name) == 0) return k;
    return KIND_UNKNOWN;
}

const char *kind_name(enum kind kind) { return kinds[kind].name; }

enum verdict verdict_of_kind(enum kind kind) { return kinds[kind].verdict; }

enum verdict verdict_with_todo(enum verdict v, bool has_todo)
{
    return has_todo && v >= VERDICT_BOUNDS && v <= VERDICT_SLOW ? VERDICT_TODO : v;
}
