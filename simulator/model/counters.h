// The counters of a launch and the metrics derived from them (counters.def).
#pragma once
#include "machine/occupancy.h"
#include "machine/observer.h"
#include "report/report.h"
#include "counts.h"
#include "roofline.h"
#include "timing.h"

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
    double blocks; // of the grid
    Timing timing;
    double seconds;    // with what it waits for from elsewhere
    const char *bound; // what bounds that (timing.h)
    Roofline roofline;
    u32 warps_per_block, shared_per_block, shared_config; // bytes
    u64 sum[COUNTERS];
} Totals;

extern const CounterName counter_names[COUNTERS], metric_names[METRICS];

// The figures of a launch in the order of its details page (sections.def). Returns their number.
enum { MOST_DETAILS = 160 };
size_t details_fill(Detail details[MOST_DETAILS], const Totals *totals, const KernelReport *kernel);

// The sectors of global memory that an instruction's accesses would touch, were the bytes of each
// warp's lanes contiguous. `threads`: by how many it was executed.
u64 counters_least_sectors(const Counts *counts, u64 threads);

// The value of a metric. One that does not apply, such as sectors per load without loads, is 0.
double metric_value(enum metric metric, const Totals *t);

// The counters of each source line (columns.c).
extern const CounterColumn counter_columns[];
extern const u32 counter_column_count;
