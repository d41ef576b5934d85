// The counters of a launch and the metrics derived from them (counters.def).
#pragma once
#include "machine/occupancy.h"
#include "machine/observer.h"
#include "report/report.h"

enum counter {
#define COUNTER(id, how, name, words) id,
#define METRIC(id, how, name, value, words)
#include "counters.def"
#undef COUNTER
#undef METRIC
    COUNTERS
};

enum metric {
#define COUNTER(id, how, name, words)
#define METRIC(id, how, name, value, words) METRIC_##id,
#include "counters.def"
#undef COUNTER
#undef METRIC
    METRICS
};

typedef struct Totals { // the figures of a launch that has ended
    const Launch *launch;
    Occupancy occupancy;
    double blocks;                                        // of the grid
    double warps_held;                                    // by an SM, on average
    const char *bound;                                    // what bounds the time (timing.h)
    u32 warps_per_block, shared_per_block, shared_config; // bytes
    u64 sum[COUNTERS];
} Totals;

extern const CounterName counter_names[COUNTERS], metric_names[METRICS];

// The value of a metric. One that does not apply, such as sectors per load without loads, is 0.
double metric_value(enum metric metric, const Totals *t);

// The counters of each source line (columns.c).
extern const CounterColumn counter_columns[];
extern const u32 counter_column_count;
