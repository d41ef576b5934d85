// A check in Criterion's child process: what it is given, what is found, and the
// record that it leaves behind.
#define _GNU_SOURCE
#include "check.h"
#include "buffer.h"
#include "process.h"
#include "file.h"
#include "record.h"
#include "run.h"
#include "text.h"
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check check;

void grader_begin_check(void)
{
    const char *name = criterion_current_test->name;
    process_die_with_parent();
    check.facts = json_array();
    check.notes = json_array();
    uint64_t key = buffer_key(run_lesson(), buffer_key(name, buffer_key(run_seed(), 0)));
    if (run_seed_is_secret()) buffer_seed_secret(key);
    else buffer_seed(key);
}

void grader_begin_measure(void)
{
    grader_begin_check();
    check.is_measure = true;
}

// A sentence's capital, unless its first word is a name ("cudaMemcpy", "05-transpose.cu").
static void capitalise(char *words)
{
    size_t n = strspn(words, "abcdefghijklmnopqrstuvwxyz");
    const char *function = check.function ? check.function : "";
    bool is_function = n == strlen(function) && strncmp(words, function, n) == 0;
    if (n && words[n] == ' ' && !is_function) words[0] -= 'a' - 'A';
}

json_t *check_add_fact(enum verdict v, const char *says, const char *why, const char *next)
{
    bool prefixed = *check.given && v != VERDICT_NODEVICE && v != VERDICT_PASS;
    char *words = text_format("%s%s%s", prefixed ? check.given : "", prefixed ? ": " : "", says);
    if (!prefixed) capitalise(words);
    json_t *fact = fact_new(v, words, why, next);
    if (check.function) json_object_set_new(fact, "function", json_string(check.function));
    json_array_append_new(v == VERDICT_PASS ? check.notes : check.facts, fact);
    free(words);
    return fact;
}

void check_keep_call(json_t *fact, const Traced *at)
{
    if (!at || !at->line) return;
    char *file = text_clean(at->file);
    json_object_set_new(fact, "file", json_string(file));
    json_object_set_new(fact, "line", json_integer(at->line));
    free(file);
}

void check_suspect(const char *says, const char *why, const char *next)
{
    json_t *fact = check_add_fact(VERDICT_SUSPECT, says, why, next);
    if (!check.suspicion) check.suspicion = json_incref(fact);
    json_array_remove(check.facts, json_array_size(check.facts) - 1);
}

void check_stop_if_failed(void)
{
    const json_t *first = json_array_get(check.facts, 0);
    if (first) cr_assert_fail("%s", json_string_value(json_object_get(first, "says")));
}

void diagnose(const char *(*explain)(const Mismatch *)) { check.explain = explain; }

void advise(const char *next) { check.advice = next; }

void given(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(check.given, sizeof check.given, format, args);
    va_end(args);
}

void compulsory(uint64_t bytes_read, uint64_t bytes_written)
{
    check.compulsory_read += bytes_read;
    check.compulsory_write += bytes_written;
}

void compulsory_journey(uint64_t bytes_htod, uint64_t bytes_dtoh)
{
    check.compulsory_htod += bytes_htod;
    check.compulsory_dtoh += bytes_dtoh;
}

void compulsory_link(uint64_t bytes) { check.compulsory_link += bytes; }

void compulsory_operations(uint64_t count) { check.compulsory_operations += count; }

void count_from_here(void)
{
    check.calls = 0;
    check.compulsory_read = check.compulsory_write = check.compulsory_operations = 0;
    check.compulsory_htod = check.compulsory_dtoh = check.compulsory_link = 0;
    events_forget(&check.session.events);
}

void figure(const char *name, double value)
{
    cr_assert(isfinite(value), "the figure '%s' is no number", name);
    if (!check.figures) check.figures = json_object();
    const json_t *before = json_object_get(check.figures, name);
    if (!before || json_number_value(before) < value)
        json_object_set_new(check.figures, name, json_real(value));
}

uint64_t counter(const char *name)
{
    return json_integer_value(json_object_get(check.session.events.call, name));
}

// What the program has left shows now: a leak, or an exit status.
static void end_session(void)
{
    bool failed = json_array_size(check.facts) > 0;
    enum outcome outcome = session_end(&check.session);
    check.given[0] = 0;
    check.argc = 0; // the arguments went with the test's own frame
    check.over = !failed;
    blame_events();
    if (!failed) // otherwise how the rest ended is of no interest
        blame_end(outcome);
}

void begin_anew(void)
{
    if (!check.started) return;
    end_session();
    check_stop_if_failed();
    check.started = check.over = false;
    check.errors_seen = 0;
    count_from_here();
}

// What the program printed, cleaned line by line.
static char *clean_output(void)
{
    char *clean, *text = check.session.output, *line;
    size_t bytes;
    FILE *f = open_memstream(&clean, &bytes);
    while (text && (line = strsep(&text, "\n"))) {
        char *words = text_clean(line);
        fprintf(f, "%s%s", words, text ? "\n" : "");
        free(words);
    }
    fclose(f);
    return clean;
}

// Of the check that runs: what Criterion tells its process of it lies at any address.
static int source_line(void)
{
    unsigned line;
    memcpy(&line,
           (const char *)criterion_current_test->data
               + offsetof(struct criterion_test_extra_data, line_),
           sizeof line);
    return (int)line;
}

static json_t *record(void)
{
    const struct criterion_test *test = criterion_current_test;
    const Events *e = &check.session.events;
    char *output = clean_output();
    json_t *r = json_pack(
        "{ss si sI sI sI sI sI sI sI sI sI sO* sO* sO* sf sO* sO sO ss sb}", "check", test->name,
        "source_line", source_line(), "calls", (json_int_t)check.calls, "expectations",
        (json_int_t)check.expectations, "compulsory_read", (json_int_t)check.compulsory_read,
        "compulsory_write", (json_int_t)check.compulsory_write, "compulsory_htod",
        (json_int_t)check.compulsory_htod, "compulsory_dtoh", (json_int_t)check.compulsory_dtoh,
        "compulsory_link", (json_int_t)check.compulsory_link, "compulsory_operations",
        (json_int_t)check.compulsory_operations, "kernels", (json_int_t)e->kernels, "counters",
        e->counters, "estimates", e->estimates, "lines", e->lines, "time_ns", e->time_ns,
        "by_kernel", e->by_kernel, "facts", check.facts, "notes", check.notes, "output", output,
        "output_cut", check.session.output_cut);
    if (check.figures) json_object_set_new(r, "figures", check.figures);
    if (check.pictures) json_object_set_new(r, "pictures", check.pictures);
    if (check.measured) json_object_set_new(r, "measured", check.measured);
    free(output);
    return r;
}

void grader_end_check(void)
{
    if (check.started) end_session();
    if (json_array_size(check.facts) == 0 && check.suspicion)
        json_array_append(check.facts, check.suspicion);
    if (json_array_size(check.facts) == 0 && (!check.calls || !check.expectations))
        check_add_fact(VERDICT_GRADER_ERROR, "the check calls nothing, or expects nothing", NULL,
                       NULL);

    char *path = text_format("%s/%s.json", run_folder(), criterion_current_test->name);
    cr_expect(json_write(path, record()), "no record %s", path);
    free(path);
}
