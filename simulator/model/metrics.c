// The figures of a launch: what counters.def says of them, and the sections of sections.def.
#include <math.h>

#include "counters.h"
#include "machine/profile.h"

enum { COUNTED, ESTIMATED, OURS, ASIDE };

const CounterName counter_names[COUNTERS] = {
#define COUNTER(id, how, name, words) { name, how == ESTIMATED, how == ASIDE, words },
#define METRIC(id, how, name, value, words)
#include "counters.def"
#undef COUNTER
#undef METRIC
};

const CounterName metric_names[METRICS] = {
#define COUNTER(id, how, name, words)
#define METRIC(id, how, name, value, words) { name, how == ESTIMATED, how == ASIDE, words },
#include "counters.def"
#undef COUNTER
#undef METRIC
};

static double ratio(u64 a, u64 b) { return b ? (double)a / b : 0; }
static double quotient(double a, double b) { return b > 0 ? a / b : 0; }
static double percent(double a, double b) { return 100 * quotient(a, b); }

// The registers that ptxas allocated are known where the kernel's native image is available. A
// launch uses 16 at least.
static bool known(const Totals *t) { return t->launch->kernel->registers_known; }
static double registers(const Totals *t)
{
    return known(t) ? fmax(16, t->launch->kernel->hardware_registers) : 0;
}

// Clocks of the launch; those for which an SM held blocks, on average; and the part of the SMs that
// held any.
static double elapsed(const Totals *t) { return t->seconds * profile.clock_hz; }
static double sms_used(const Totals *t) { return fmin(1, t->blocks / profile.sm_count); }
static double active(const Totals *t) { return t->timing.clocks * sms_used(t); }

static double per_sm(const Totals *t, enum counter n)
{
    return (double)t->sum[n] / profile.sm_count;
}
static double dram_bytes(const Totals *t) { return t->sum[DRAM_READ] + t->sum[DRAM_WRITTEN]; }

double metric_value(enum metric metric, const Totals *t)
{
    switch (metric) {
#define COUNTER(id, how, name, words)
#define METRIC(id, how, name, value, words)                                                        \
    case METRIC_##id:                                                                              \
        return value;
#include "counters.def"
#undef COUNTER
#undef METRIC
    case METRICS: break;
    }
    return 0;
}

// ---- The details page ----

#define NO_PEAK (-1.0)

// Of what a pipe of that many lanes could have executed while blocks ran.
static double of_pipe(const Totals *t, enum counter n, double lanes)
{
    return percent(per_sm(t, n) * LANES, lanes * active(t));
}

static double of_dram(const Totals *t, enum counter n)
{
    return percent(t->sum[n], t->seconds * profile.dram_bytes_per_second);
}

enum detail {
#define SECTION(title)
#define SUM(id, ...) DETAIL_##id,
#define FIGURE(id, ...) DETAIL_METRIC_##id,
#include "sections.def"
#undef SECTION
#undef SUM
#undef FIGURE
    DETAILS
};
_Static_assert((int)DETAILS <= MOST_DETAILS, "a launch's details have room");

size_t details_fill(Detail details[MOST_DETAILS], const Totals *t, const KernelReport *k)
{
    size_t n = 0;
    const char *section = NULL;
#define SECTION(title) section = title;
#define SUM(id, words, of_unit, of_peak)                                                           \
    details[n++] = (Detail){ section, words, of_unit, &k->counters[id], k->values[id], of_peak };
#define FIGURE(id, words, of_unit, of_peak)                                                        \
    details[n++] =                                                                                 \
        (Detail){ section, words, of_unit, &k->metrics[METRIC_##id], k->figures[METRIC_##id],      \
                  of_peak };
#include "sections.def"
#undef SECTION
#undef SUM
#undef FIGURE
    return n;
}
