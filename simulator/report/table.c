// What did not happen is not listed: a sum of 0, a figure that does not apply, a column without an
// entry.
#include "table.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (k->time_ns <= 0) return;
    fprintf(stderr, "  %-58s ~%.3f us\n    bound by %s: ", "time, predicted", k->time_ns / 1e3,
            k->bound);
    if (k->error)
        fprintf(stderr,
                "of %d such kernels, half took within %d %% of that on an %s, nine in ten within "
                "%d %%\n",
                k->error->kernels, k->error->half, k->error->device, k->error->nine_tenths);
    else fputs("no such kernel was compared with a GPU\n", stderr);
}

// ---- By source line ----

enum { PLACE_COLUMNS = 6, MOST_COLUMNS = 16 };

static bool has_entry(const KernelReport *k, size_t column)
{
    for (size_t n = 0; n < k->line_count; n++)
        if (k->columns[column].value(k->lines[n].values, k->values) > 0) return true;
    return false;
}

static void print_head(const KernelReport *k, const bool shown[])
{
    fprintf(stderr, "  %*s", PLACE_COLUMNS, "");
    for (size_t c = 0; c < k->column_count; c++)
        if (shown[c]) fprintf(stderr, "%*s", k->columns[c].width, k->columns[c].first);
    fprintf(stderr, "\n  %*s", PLACE_COLUMNS, "line");
    for (size_t c = 0; c < k->column_count; c++)
        if (shown[c]) fprintf(stderr, "%*s", k->columns[c].width, k->columns[c].second);
    fputc('\n', stderr);
}

// The lines of one file stand below its name.
static void print_line(const KernelReport *k, const CounterLine *line, const char **file,
                       const bool shown[])
{
    const char *own = line->place.file ? line->place.file : "unknown", *slash = strrchr(own, '/');
    if (!*file || strcmp(*file, own)) fprintf(stderr, "  %s\n", slash ? slash + 1 : own);
    *file = own;
    fprintf(stderr, "  %*u", PLACE_COLUMNS, line->place.line);
    for (size_t c = 0; c < k->column_count; c++) {
        double value = k->columns[c].value(line->values, k->values);
        if (shown[c] && value > 0)
            fprintf(stderr, "%*.*f", k->columns[c].width, k->columns[c].digits, value);
        else if (shown[c]) fprintf(stderr, "%*s", k->columns[c].width, "-");
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
    bool shown[MOST_COLUMNS];
    const char *file = NULL;
    CounterLine *lines = malloc(k->line_count * sizeof *lines);
    if (!lines) return;
    memcpy(lines, k->lines, k->line_count * sizeof *lines);
    qsort(lines, k->line_count, sizeof *lines, by_place);
    for (size_t c = 0; c < k->column_count; c++) shown[c] = has_entry(k, c);
    print_head(k, shown);
    for (size_t n = 0; n < k->line_count; n++) print_line(k, &lines[n], &file, shown);
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
