// What did not happen is not listed: a sum of 0, a figure that does not apply, a column without an
// entry.
#include "table.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/counters.h"

static void print_sums(const KernelReport *k)
{
    for (size_t n = 0; n < k->counter_count; n++)
        if (k->values[n] && !k->counters[n].aside)
            fprintf(stderr, "  %-58s %c%" PRIu64 "\n", k->counters[n].name,
                    k->counters[n].estimate ? '~' : ' ', k->values[n]);
    for (size_t n = 0; n < k->metric_count; n++)
        if (k->figures[n] > 0)
            fprintf(stderr, "  %-58s %c%.*f\n", k->metrics[n].name,
                    k->metrics[n].estimate ? '~' : ' ',
                    k->figures[n] == rint(k->figures[n]) ? 0 : 2, k->figures[n]);
    if (k->time_ns > 0) fprintf(stderr, "  %-58s ~%.3f us\n", "time, predicted", k->time_ns / 1e3);
}

// ---- By source line ----

static double part(uint64_t a, uint64_t b) { return b ? (double)a / b : 0; }
static uint64_t requests(const uint64_t *v)
{
    return v[GLOBAL_LD_REQUESTS] + v[GLOBAL_ST_REQUESTS] + v[GLOBAL_ATOM_REQUESTS]
         + v[GLOBAL_RED_REQUESTS] + v[LOCAL_LD_REQUESTS] + v[LOCAL_ST_REQUESTS];
}
static uint64_t sectors(const uint64_t *v)
{
    return v[GLOBAL_LD_SECTORS] + v[GLOBAL_ST_SECTORS] + v[GLOBAL_ATOM_SECTORS]
         + v[GLOBAL_RED_SECTORS] + v[LOCAL_LD_SECTORS] + v[LOCAL_ST_SECTORS];
}

static double line_share(const uint64_t *v, const uint64_t *all)
{
    return 100 * part(v[INSTRUCTIONS], all[INSTRUCTIONS]);
}
static double line_lanes(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return part(v[THREAD_INSTRUCTIONS], v[INSTRUCTIONS]);
}
static double line_requests(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return requests(v);
}
static double line_sectors(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return part(sectors(v), requests(v));
}
static double line_hits(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return 100
         * part(v[GLOBAL_LD_HITS] + v[LOCAL_LD_HITS], v[GLOBAL_LD_SECTORS] + v[LOCAL_LD_SECTORS]);
}
static double line_dram(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return v[DRAM_READ];
}
static double line_passes(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return v[SHARED_LD_WAVEFRONTS] + v[SHARED_ST_WAVEFRONTS] + v[SHARED_ATOM_WAVEFRONTS];
}
static double line_conflicts(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return v[SHARED_LD_CONFLICTS] + v[SHARED_ST_CONFLICTS] + v[SHARED_ATOM_CONFLICTS];
}

static const struct {
    const char *first, *second; // the words above it
    int width, digits;
    double (*value)(const uint64_t *line, const uint64_t *launch);
} columns[] = {
    { "~% of", "instr.", 8, 1, line_share },        { "active", "threads", 8, 1, line_lanes },
    { "memory", "requests", 10, 0, line_requests }, { "sectors", "each", 9, 1, line_sectors },
    { "~hits", "in L1 %", 8, 1, line_hits },        { "~bytes", "from DRAM", 10, 0, line_dram },
    { "shared", "passes", 9, 0, line_passes },      { "bank", "conflicts", 10, 0, line_conflicts },
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns, PLACE_COLUMNS = 6 };

static bool has_entry(const KernelReport *k, size_t column)
{
    for (size_t n = 0; n < k->line_count; n++)
        if (columns[column].value(k->lines[n].values, k->values) > 0) return true;
    return false;
}

static void print_head(const bool shown[COLUMN_COUNT])
{
    fprintf(stderr, "  %*s", PLACE_COLUMNS, "");
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        if (shown[c]) fprintf(stderr, "%*s", columns[c].width, columns[c].first);
    fprintf(stderr, "\n  %*s", PLACE_COLUMNS, "line");
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        if (shown[c]) fprintf(stderr, "%*s", columns[c].width, columns[c].second);
    fputc('\n', stderr);
}

// The lines of one file stand below its name.
static void print_line(const CounterLine *line, const char **file, const uint64_t *launch,
                       const bool shown[COLUMN_COUNT])
{
    const char *own = line->place.file ? line->place.file : "unknown", *slash = strrchr(own, '/');
    if (!*file || strcmp(*file, own)) fprintf(stderr, "  %s\n", slash ? slash + 1 : own);
    *file = own;
    fprintf(stderr, "  %*u", PLACE_COLUMNS, line->place.line);
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        double value = columns[c].value(line->values, launch);
        if (shown[c] && value > 0)
            fprintf(stderr, "%*.*f", columns[c].width, columns[c].digits, value);
        else if (shown[c]) fprintf(stderr, "%*s", columns[c].width, "-");
    }
    fputc('\n', stderr);
}

static int by_place(const void *a, const void *b)
{
    const Place *p = &((const CounterLine *)a)->place, *q = &((const CounterLine *)b)->place;
    int order = strcmp(p->file ? p->file : "", q->file ? q->file : "");
    return order ? order : (p->line > q->line) - (p->line < q->line);
}

static void print_lines(const KernelReport *k)
{
    bool shown[COLUMN_COUNT];
    const char *file = NULL;
    CounterLine *lines = malloc(k->line_count * sizeof *lines);
    if (!lines) return;
    memcpy(lines, k->lines, k->line_count * sizeof *lines);
    qsort(lines, k->line_count, sizeof *lines, by_place);
    for (size_t c = 0; c < COLUMN_COUNT; c++) shown[c] = has_entry(k, c);
    print_head(shown);
    for (size_t n = 0; n < k->line_count; n++) print_line(&lines[n], &file, k->values, shown);
    free(lines);
}

void table_kernel(const KernelReport *k)
{
    fprintf(stderr, "warpwise: %s, grid (%u,%u,%u), block (%u,%u,%u)", k->signature, k->grid[0],
            k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2]);
    if (report_has_several()) fprintf(stderr, ", device %u", k->device);
    fputc('\n', stderr);
    print_sums(k);
    if (k->line_count) print_lines(k);
}
