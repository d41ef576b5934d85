// A lesson's check for the grader's own tests: it calls vector_add with n = 1000, twice, and prints
// what the trace tells of the second call, whatever has come of it, to the file $TRACE_OUT.
#define _GNU_SOURCE
#include "check.h"
#include "grader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *out;

static const Trace *trace(void) { return &check.session.events.trace; }

// "b+0", "own 2+0", where 2 is the number of the allocation in the trace, "host", "nobody".
static void print_whose(Whose w)
{
    static const char *const words[] = { [WHOSE_NOBODY] = "nobody", [WHOSE_HOST] = "host" };
    if (w.whose == WHOSE_ARGUMENT) fprintf(out, " %s+%d", w.array->name, (int)w.offset);
    else if (w.whose == WHOSE_OWN)
        fprintf(out, " own %d+%d%s", (int)w.made->number, (int)w.offset, w.freed ? " freed" : "");
    else fprintf(out, " %s", words[w.whose]);
}

static void print_value(TracedValue v)
{
    if (v.kind == VALUE_POINTER) print_whose(v.whose);
    if (v.kind == VALUE_INTEGER) fprintf(out, " %lld", (long long)v.integer);
    if (v.kind == VALUE_REAL) fprintf(out, " %g", v.real);
    if (v.kind == VALUE_BYTES) fprintf(out, " bytes");
    fprintf(out, " (%s)", v.type);
}

// Is the source line that is told for a call one that makes it?
static const char *line_words(const Traced *c)
{
    const char *makes = c->does == DEED_LAUNCH ? "<<<" : c->variable ? c->variable : c->name;
    char text[512] = "";
    FILE *f = c->file ? fopen(c->file, "r") : NULL;
    for (int n = 0; f && n < c->line && fgets(text, sizeof text, f); n++)
        ;
    if (f) fclose(f);
    return !f ? "no line" : strstr(text, makes) ? "its line" : "another line";
}

static void print_call(const Traced *c)
{
    static const char *const untils[] = { "", ", waits for the stream", ", waits for the event",
                                          ", waits for the device", ", waits for all" };
    static const char *const reads[] = { "", ", unread", ", read", ", returned" };
    fprintf(out, "%d: %s", (int)c->number, c->variable ? c->variable : c->name);
    if (c->times > 1) fprintf(out, ", %d times", (int)c->times);
    if (c->bytes) fprintf(out, ", %d bytes", (int)c->bytes);
    if (c->rows > 1) fprintf(out, ", %d rows of %d", (int)c->rows, (int)c->width);
    if (c->does == DEED_FREE) print_whose(trace_whose(trace(), c->address, c));
    if (c->does == DEED_COPY) {
        fprintf(out, ", %s from", c->kind);
        print_whose(trace_whose(trace(), c->from, c));
    }
    if (c->does == DEED_COPY || c->does == DEED_FILL) {
        fprintf(out, " to");
        print_whose(trace_whose(trace(), c->to, c));
    }
    if (c->does == DEED_LAUNCH) fprintf(out, ", %u blocks of %u:", c->grid[0], c->block[0]);
    for (size_t n = 0; n < c->argc; n++) print_value(trace_value(trace(), c, n));
    fprintf(out, "%s%s", untils[c->waits], c->status ? ", failed" : "");
    fprintf(out, "%s; %s\n", reads[c->read], line_words(c));
}

static const Traced *first_asynchronous_copy(void)
{
    const Traced *c = NULL;
    while ((c = trace_next(trace(), c, TRACE(COPY))) && c->waits)
        ;
    return c;
}

static void print_wait(const char *what, const Traced *work)
{
    const Traced *wait = work ? trace_wait(trace(), work) : NULL;
    if (work) fprintf(out, "the host waits for %s: %s\n", what, wait ? wait->name : "no");
}

// What diagnoses would ask.
static void print_answers(void)
{
    const Traced *launch = trace_next(trace(), NULL, TRACE(LAUNCH));
    const Traced *to = trace_copy_to(trace(), 0, NULL), *unread = trace_unread(trace(), NULL);
    fprintf(out, "a is copied: %s\n", trace_copy_from(trace(), 1, NULL) ? "yes" : "no");
    fprintf(out, "b is copied: %s\n", trace_copy_from(trace(), 2, NULL) ? "yes" : "no");
    fprintf(out, "c is copied to: %s\n", to ? "yes" : "no");
    print_wait("the first launch", launch);
    print_wait("the first asynchronous copy", first_asynchronous_copy());
    fprintf(out, "an error is unread: %s\n", unread ? unread->name : "no");
    fprintf(out, "complete: %s\n", trace_is_complete(trace(), TRACE_ALL) ? "yes" : "no");
}

static void end(void)
{
    int fills = 0;
    out = fopen(getenv("TRACE_OUT"), "w");
    call_lines();
    for (const Traced *c = NULL; (c = trace_next(trace(), c, TRACE_ALL));)
        if (c->does != DEED_FILL || fills++ < 2) print_call(c);
    if (fills) fprintf(out, "%d fills are traced\n", fills);
    print_answers();
    fclose(out);
    grader_end_check();
}

Test(first_kernel, traced, .init = grader_begin_check, .fini = end)
{
    enum { N = 1000 };
    Buffer *a = input_f32("a", N), *b = input_f32("b", N), *c = output_f32("c", N);
    float *want = reference_f32(N);
    for (int i = 0; i < N; i++) want[i] = a->f32[i] + b->f32[i];
    for (int times = 0; times < 2; times++) {
        call("vector_add", host(c), host(a), host(b), i32(N));
        expect_equal_f32(c, want);
    }
}
