// Verdicts: their words, and which event of the device leads to which.
#include "verdict.h"
#include <stddef.h>
#include <string.h>

static const char *const words[VERDICT_COUNT] = {
#define X(id, word) [VERDICT_##id] = word,
    VERDICTS(X)
#undef X
};

static const struct {
    const char *kind;
    enum verdict verdict;
} event_verdicts[] = {
    { "bounds", VERDICT_BOUNDS },
    { "misaligned", VERDICT_BOUNDS },
    { "use-after-free", VERDICT_BOUNDS },
    { "invalid-free", VERDICT_BOUNDS },
    { "race", VERDICT_RACE },
    { "barrier", VERDICT_RACE },
    { "mbarrier", VERDICT_RACE },
    { "unfinished-copy", VERDICT_RACE },
    { "deadlock", VERDICT_RACE },
    { "hang", VERDICT_TIMEOUT },
    { "timeout", VERDICT_TIMEOUT },
    { "host-access", VERDICT_CRASH },
    { "trap", VERDICT_CRASH },
    { "uninitialized", VERDICT_MEMORY },
    { "leak", VERDICT_MEMORY },
    { "unsupported", VERDICT_GRADER_ERROR },
    { "api", VERDICT_PASS },
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

enum verdict verdict_from_word(const char *word)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (word && strcmp(words[v], word) == 0) return v;
    return VERDICT_GRADER_ERROR;
}

enum verdict verdict_of_event(const char *kind)
{
    for (size_t i = 0; i < sizeof event_verdicts / sizeof *event_verdicts; i++)
        if (kind && strcmp(event_verdicts[i].kind, kind) == 0) return event_verdicts[i].verdict;
    return VERDICT_GRADER_ERROR;
}

enum verdict verdict_with_todo(enum verdict v, bool has_todo)
{
    return has_todo && v >= VERDICT_BOUNDS && v <= VERDICT_SLOW ? VERDICT_TODO : v;
}
