// Expectations: every element against the reference, and words about the first
// that is wrong. The comparisons are written so that a NaN fails.
#include "buffer.h"
#include "check.h"
#include "grader.h"
#include "pattern.h"
#include "text.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// The comparison in progress: what Mismatch's functions, which take an index alone, look at.
static struct {
    const Buffer *out;
    const float *f32;
    const double *f64;
    const int32_t *i32;
    double absolute, relative;
} now;

static double want(size_t i)
{
    return now.f32 ? now.f32[i] : now.f64 ? now.f64[i] : now.i32[i];
}

static bool is_poison(size_t i)
{
    return ((const uint32_t *)now.out->data)[i] == POISON;
}

// NaN where the reference has NaN, but not the one that nobody wrote.
static bool both_nan(double got, size_t i)
{
    return isnan(want(i)) && isnan(got) && !is_poison(i);
}

static bool is_wrong_f32(size_t i)
{
    float got = now.out->f32[i];
    return !(got == now.f32[i] || both_nan(got, i));
}

static bool is_wrong_i32(size_t i)
{
    return now.out->i32[i] != now.i32[i];
}

static bool is_wrong_f64(size_t i)
{
    double got = now.out->f32[i], due = now.f64[i];
    if (isinf(due) || isnan(due))
        return !(got == due || both_nan(got, i));
    return !(fabs(got - due) <= now.absolute + now.relative * fabs(due));
}

static char *due_value(size_t i)
{
    return now.i32 ? text_format("%d", now.i32[i]) : text_format("%.9g", want(i));
}

static void report(const Mismatch *m)
{
    char *place = buffer_place(m->out, m->first), *got = buffer_value(m->out, m->first);
    char *due = due_value(m->first), *pattern = NULL;
    bool silent = is_poison(m->first);
    char *says = text_format("%s %s%s, should be %s (%zu of %zu wrong)", place,
                             silent ? "was " : "is ", got, due, m->wrong, m->out->count);

    const char *words = check.explain ? check.explain(m) : NULL;
    if (!words)
        words = pattern = pattern_words(m);
    check_add_fact(VERDICT_WRONG, says, words, NULL);

    free(place);
    free(got);
    free(due);
    free(says);
    free(pattern);
    check_stop_if_failed();
}

// What a peer was expected to answer, and did not.
static void report_peer(const Mismatch *m)
{
    char *place = buffer_place(m->out, m->first), *got = buffer_value(m->out, m->first);
    char *due = due_value(m->first);
    check_add_fact(VERDICT_GRADER_ERROR,
                   text_format("the peer %s is wrong: its %s is %s, should be %s (%zu of %zu wrong)",
                               m->out->store->peer, place, got, due, m->wrong, m->out->count),
                   NULL, NULL);
    free(place);
    free(got);
    free(due);
    check_stop_if_failed();
}

static Mismatch mismatch(const Buffer *out, bool (*is_wrong)(size_t))
{
    Mismatch m = {.out = out, .is_wrong = is_wrong, .want = want};
    now.out = out;
    for (size_t i = out->count; i-- > 0;)
        if (is_wrong(i)) {
            m.first = i;
            m.wrong++;
        }
    return m;
}

static void compare(const Buffer *out, bool (*is_wrong)(size_t))
{
    Mismatch m = mismatch(out, is_wrong);
    check.expectations++;
    if (m.wrong)
        report(&m);
    for (const struct Store *s = out->store->twins; s; s = s->twins) {
        m = mismatch(&s->buffer, is_wrong);
        if (m.wrong)
            report_peer(&m);
    }
}

void expect_equal_f32(const Buffer *out, const float *reference)
{
    now = (typeof(now)){.out = out, .f32 = reference};
    compare(out, is_wrong_f32);
}

void expect_equal_i32(const Buffer *out, const int32_t *reference)
{
    now = (typeof(now)){.out = out, .i32 = reference};
    compare(out, is_wrong_i32);
}

void expect_close_f32(const Buffer *out, const double *reference, double absolute, double relative)
{
    now = (typeof(now)){.out = out, .f64 = reference, .absolute = absolute, .relative = relative};
    compare(out, is_wrong_f64);
}

void expect(bool holds, const char *format, ...)
{
    check.expectations++;
    if (holds)
        return;
    char says[512];
    va_list args;
    va_start(args, format);
    vsnprintf(says, sizeof says, format, args);
    va_end(args);
    check_add_fact(VERDICT_WRONG, says, NULL, NULL);
    check_stop_if_failed();
}
