#define _GNU_SOURCE
#include "totals.h"
#include "base/names.h"
#include "details.h"
#include "kept.h"
#include "text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MOVES = 16 };
enum { MOST_PAGES = 5 };
static const double LEAST_SHARE = 0.01; // of all time, of a kernel that has a page

static struct {
    KernelTotals *kernel;
    size_t count, room;
    MoveTotals move[MOST_MOVES];
    size_t moves;
} totals;

// ---- Gathering

static KernelTotals *entry(const KernelReport *k)
{
    for (size_t n = 0; n < totals.count; n++)
        if (strcmp(totals.kernel[n].longest->signature, k->signature) == 0)
            return &totals.kernel[n];
    return NULL;
}

bool totals_is_longest(const KernelReport *k)
{
    const KernelTotals *t = entry(k);
    return !t || k->time_ns > t->most_ns;
}

static bool same_shape(const KernelReport *a, const KernelReport *b)
{
    return memcmp(a->grid, b->grid, sizeof a->grid) == 0
        && memcmp(a->block, b->block, sizeof a->block) == 0;
}

static KernelTotals *new_entry(const KernelReport *k)
{
    if (totals.count == totals.room) {
        size_t room = totals.room ? 2 * totals.room : 16;
        KernelTotals *more = realloc(totals.kernel, room * sizeof *more);
        if (!more) return NULL;
        totals.kernel = more;
        totals.room = room;
    }
    KernelTotals *t = &totals.kernel[totals.count];
    *t = (KernelTotals){ .longest = kept_copy(k), .least_ns = k->time_ns, .most_ns = k->time_ns };
    if (!t->longest) return NULL;
    totals.count++;
    return t;
}

void totals_kernel(const KernelReport *k)
{
    KernelTotals *t = entry(k);
    if (!t && !(t = new_entry(k))) return;
    t->launches++;
    t->total_ns += k->time_ns;
    t->other_grids |= !same_shape(k, t->longest);
    if (k->time_ns < t->least_ns) t->least_ns = k->time_ns;
    if (k->time_ns > t->most_ns || t->launches == 1) {
        KernelReport *kept = t->launches > 1 ? kept_copy(k) : NULL;
        if (kept) kept_free(t->longest), t->longest = kept;
        t->number = t->launches;
        t->most_ns = k->time_ns;
    }
}

void totals_move(const char *kind, const char *cause, uint64_t bytes, uint64_t faults)
{
    size_t n = 0;
    while (n < totals.moves
           && (strcmp(totals.move[n].kind, kind) != 0 || totals.move[n].cause != cause))
        n++;
    if (n == MOST_MOVES) return;
    if (n == totals.moves) totals.move[totals.moves++] = (MoveTotals){ kind, cause, 0, 0, 0 };
    totals.move[n].times++;
    totals.move[n].bytes += bytes;
    totals.move[n].faults += faults;
}

static int by_time(const void *a, const void *b)
{
    const double x = ((const KernelTotals *)a)->total_ns, y = ((const KernelTotals *)b)->total_ns;
    return (x < y) - (x > y);
}

const KernelTotals *totals_kernels(size_t *count)
{
    *count = totals.count;
    if (totals.count) qsort(totals.kernel, totals.count, sizeof *totals.kernel, by_time);
    return totals.kernel;
}

const MoveTotals *totals_moves(size_t *count)
{
    *count = totals.moves;
    return totals.move;
}

double totals_time(void)
{
    double ns = 0;
    for (size_t n = 0; n < totals.count; n++) ns += totals.kernel[n].total_ns;
    return ns;
}

// ---- Printing

static void print_moves(void)
{
    for (size_t n = 0; n < totals.moves; n++) {
        const MoveTotals *m = &totals.move[n];
        const FigureText bytes = details_figure((double)m->bytes, "byte");
        fprintf(stderr, "warpwise: %s%s%s%s, %" PRIu64 " time%s: %s %s",
                m->cause ? "managed memory " : "copies ", m->kind, m->cause ? ", " : "",
                m->cause ? m->cause : "", m->times, m->times == 1 ? "" : "s", bytes.value,
                bytes.unit);
        if (m->faults)
            fprintf(stderr, ", %" PRIu64 " fault%s", m->faults, m->faults == 1 ? "" : "s");
        fputc('\n', stderr);
    }
}

static void print_time(double ns)
{
    const FigureText f = details_figure(ns, "ns");
    fprintf(stderr, " %7s %-2s", f.value, f.unit);
}

enum { NAME_COLUMNS = 60 };

static void print_table(const KernelTotals *kernel, size_t count)
{
    fprintf(stderr, "  %7s %8s  %9s  %9s  %9s  %9s  %-9s  %s\n", "Time", "Launches", "Total ",
            "Average ", "Min ", "Max ", "Bound by", "Kernel");
    for (size_t n = 0; n < count; n++) {
        const KernelTotals *t = &kernel[n];
        char *name = names_brief(t->longest->signature, NAME_COLUMNS);
        fprintf(stderr, "  %5.1f %% %8" PRIu64, 100 * t->total_ns / totals_time(), t->launches);
        print_time(t->total_ns);
        print_time(t->total_ns / (double)t->launches);
        print_time(t->least_ns);
        print_time(t->most_ns);
        fprintf(stderr, "  %-9s  %s\n", t->longest->bound, name ? name : t->longest->signature);
        free(name);
    }
}

static void print_kernel(const KernelTotals *t)
{
    char *which = NULL;
    if (t->launches > 1
        && asprintf(&which, "the longest of %" PRIu64 " launches, number %" PRIu64 "%s",
                    t->launches, t->number, t->other_grids ? "; others had other grids" : "")
               < 0)
        which = NULL;
    details_print(t->longest, which);
    free(which);
}

void totals_print(bool each)
{
    size_t count, left_out = 0, launches = 0;
    const KernelTotals *kernel = totals_kernels(&count);
    const double all = totals_time();
    print_moves();
    for (size_t n = 0; n < count; n++) launches += kernel[n].launches;
    if (launches > 1) {
        const FigureText time = details_figure(all, "ns");
        fprintf(stderr, "warpwise: %zu kernel%s, %zu launches: %s %s of predicted time\n", count,
                count == 1 ? "" : "s", launches, time.value, time.unit);
        print_table(kernel, count);
    }
    for (size_t n = 0; n < count; n++)
        if (each || (n < MOST_PAGES && kernel[n].total_ns >= LEAST_SHARE * all))
            print_kernel(&kernel[n]);
        else left_out++;
    if (left_out)
        report_say("the last %zu kernel%s of the table: --kernel REGEX shows the details of those "
                   "whose signature matches.",
                   left_out, left_out == 1 ? "" : "s");
    for (size_t n = 0; n < count; n++) kept_free(kernel[n].longest);
    totals.count = totals.moves = 0;
}
