// A column without an entry is left out.
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_COLUMNS = 6 };

bool table_has_entry(const KernelReport *k, size_t column)
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

CounterLine *table_sorted(const KernelReport *k)
{
    CounterLine *lines = k->line_count ? malloc(k->line_count * sizeof *lines) : NULL;
    if (!lines) return NULL;
    memcpy(lines, k->lines, k->line_count * sizeof *lines);
    qsort(lines, k->line_count, sizeof *lines, by_place);
    return lines;
}

void table_lines(const KernelReport *k)
{
    bool shown[TABLE_COLUMNS];
    const char *file = NULL;
    CounterLine *lines = table_sorted(k);
    if (!lines) return;
    for (size_t c = 0; c < k->column_count; c++) shown[c] = table_has_entry(k, c);
    print_head(k, shown);
    for (size_t n = 0; n < k->line_count; n++) print_line(k, &lines[n], &file, shown);
    free(lines);
}
