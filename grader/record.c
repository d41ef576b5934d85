// Facts and records, and the only way in which the grader writes JSON.
#define _GNU_SOURCE
#include "record.h"
#include "text.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void set_clean(json_t *object, const char *key, const char *text)
{
    if (!text)
        return;
    char *clean = text_clean(text);
    json_object_set_new(object, key, json_string(clean));
    free(clean);
}

json_t *fact_new(enum verdict v, const char *says, const char *why, const char *next)
{
    json_t *fact = json_pack("{ss}", "verdict", verdict_word(v));
    set_clean(fact, "says", says);
    set_clean(fact, "why", why);
    set_clean(fact, "next", next);
    return fact;
}

enum verdict fact_verdict(const json_t *fact)
{
    return verdict_from_word(json_string_value(json_object_get(fact, "verdict")));
}

json_t *record_deciding_fact(const json_t *record)
{
    json_t *best = NULL, *fact;
    size_t i;
    json_array_foreach(json_object_get(record, "facts"), i, fact)
        if (!best || fact_verdict(fact) < fact_verdict(best))
            best = fact;
    return best;
}

enum verdict record_verdict(const json_t *record)
{
    const json_t *fact = record_deciding_fact(record);
    return fact ? fact_verdict(fact) : VERDICT_PASS;
}

static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count) {
        ssize_t n = write(fd, bytes, count);
        if (n <= 0)
            return false;
        bytes += n;
        count -= n;
    }
    return true;
}

bool json_write(const char *path, const json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (!text)
        return false;
    char *temporary = text_format("%s.XXXXXX", path), *line = text_format("%s\n", text);
    int fd = mkostemp(temporary, O_CLOEXEC);

    bool good = fd >= 0 && fchmod(fd, 0644) == 0 && write_all(fd, line, strlen(line)) &&
                fsync(fd) == 0;
    if (fd >= 0)
        good &= close(fd) == 0;
    good = good && rename(temporary, path) == 0;
    if (!good && fd >= 0)
        unlink(temporary);
    free(temporary);
    free(line);
    free(text);
    return good;
}
