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
