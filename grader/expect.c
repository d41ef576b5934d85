// Expectations: every element against the reference, and words about the first
// that is wrong. The comparisons are written so that a NaN fails.
#include "buffer.h"
#include "reason.h"
#include "check.h"
#include "grader.h"
#include "pattern.h"
#include "text.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The comparison in progress: what Mismatch's functions, which take an index alone, look at.
static struct {
    const Buffer *out;
    const void *equal;   // elements like the output's own
    const double *close; // or this
    double absolute, relative;
} now;

static double want(size_t i)
{
    return now.close ? now.close[i] : element_value(now.out->store->element, now.equal, i);
}

// NaN where the reference has NaN, but not the one that nobody wrote.
static bool both_nan(double got, size_t i)
{
    return isnan(want(i)) && isnan(got) && !buffer_is_poison(now.out, i);
}

static bool is_unequal(size_t i)
{
    double got = value_at(now.out, i);
    return !(got == want(i) || both_nan(got, i));
}

static bool is_far(size_t i)
{
    double got = value_at(now.out, i), due = want(i);
    if (isinf(due) || isnan(due)) return !(got == due || both_nan(got, i));
    return !(fabs(got - due) <= now.absolute + now.relative * fabs(due));
}

static char *due_value(size_t i)
{
    return now.equal ? element_words(now.out->store->element, want(i))
                     : text_format("%.9g", want(i));
}

// Why: what the trace tells for certain, what the lesson knows, what else the trace tells, and then
// what the elements look like.
static Reason explain(const Mismatch *m, const char *place, bool silent)
{
    Reason reason = reason_of_element(m->out, m->first);
    check.advice = NULL;
    const char *words = reason.why || !check.explain ? NULL : check.explain(m);
    if (words) {
        reason.why = strdup(words);
        // Without advice, what another fact says to do tells more than we could.
        reason.next = check.advice ? strdup(check.advice) : NULL;
        return reason;
    }
    if (!reason.why) reason = reason_of_call();
    if (!reason.why) reason.why = pattern_words(m);
    if (!reason.next)
        reason.next = text_format(
            silent ? "find out which thread should write %s, and why it does not"
                   : "find the thread that writes %s, and work out by hand what it should write",
            place);
    return reason;
}

static void report(const Mismatch *m)
{
    char *place = buffer_place(m->out, m->first), *got = buffer_value(m->out, m->first);
    char *due = due_value(m->first);
    bool silent = buffer_is_unwritten(m->out, m->first) || pattern_is_silence(m);
    char *says =
        text_format("%s %s%s, should be %s (%zu of %zu wrong)", place, silent ? "was " : "is ",
                    silent ? "never written" : got, due, m->wrong, m->out->count);
    Reason reason = explain(m, place, silent);
    check_keep_call(check_add_fact(VERDICT_WRONG, says, reason.why, reason.next), reason.at);
    free(place);
    free(got);
    free(due);
    free(says);
    free(reason.why);
    free(reason.next);
    check_stop_if_failed();
}

// What a peer was expected to answer, and did not.
static void report_peer(const Mismatch *m)
{
    char *place = buffer_place(m->out, m->first), *got = buffer_value(m->out, m->first);
    char *due = due_value(m->first);
    check_add_fact(
        VERDICT_GRADER_ERROR,
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
    Mismatch m = { .out = out, .is_wrong = is_wrong, .want = want };
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
    if (m.wrong) report(&m);
    for (const struct Store *s = out->store->twins; s; s = s->twins) {
        m = mismatch(&s->buffer, is_wrong);
        if (m.wrong) report_peer(&m);
    }
}

static void expect_equal(const Buffer *out, enum element element, const void *reference)
{
    cr_assert(out->store->element == element, "%s has other elements", out->name);
    now = (typeof(now)){ .out = out, .equal = reference };
    compare(out, is_unequal);
}

static void expect_close(const Buffer *out, enum element element, const double *reference,
                         double absolute, double relative)
{
    cr_assert(out->store->element == element, "%s has other elements", out->name);
    now =
        (typeof(now)){ .out = out, .close = reference, .absolute = absolute, .relative = relative };
    compare(out, is_far);
}

#define EQUAL(name, ELEMENT, type)                                                                 \
    void expect_equal_##name(const Buffer *out, const type *want)                                  \
    {                                                                                              \
        expect_equal(out, ELEMENT, want);                                                          \
    }
#define CLOSE(name, ELEMENT)                                                                       \
    void expect_close_##name(const Buffer *out, const double *want, double absolute,               \
                             double relative)                                                      \
    {                                                                                              \
        expect_close(out, ELEMENT, want, absolute, relative);                                      \
    }
EQUAL(f32, ELEMENT_F32, float)
EQUAL(f16, ELEMENT_F16, uint16_t)
EQUAL(bf16, ELEMENT_BF16, uint16_t)
EQUAL(i32, ELEMENT_I32, int32_t)
EQUAL(u8, ELEMENT_U8, uint8_t)
CLOSE(f32, ELEMENT_F32)
CLOSE(f16, ELEMENT_F16)
CLOSE(bf16, ELEMENT_BF16)
#undef EQUAL
#undef CLOSE

void expect(bool holds, const char *format, ...)
{
    check.expectations++;
    if (holds) return;
    char says[512];
    va_list args;
    va_start(args, format);
    vsnprintf(says, sizeof says, format, args);
    va_end(args);
    check_add_fact(VERDICT_WRONG, says, NULL, NULL);
    check_stop_if_failed();
}
