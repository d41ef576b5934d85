// What did not happen is not listed: a sum of 0, a figure that does not apply.
#define _GNU_SOURCE
#include "details.h"
#include "base/names.h"
#include "table.h"
#include "text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Numbers ----

// Units that have larger ones, each a thousand times the one before. Nsight Compute's, in its
// spelling.
static const char *const larger[][5] = {
    { "ns", "us", "ms", "s" },
    { "hz", "Khz", "Mhz", "Ghz" },
    { "byte", "Kbyte", "Mbyte", "Gbyte", "Tbyte" },
    { "byte/s", "Kbyte/s", "Mbyte/s", "Gbyte/s", "Tbyte/s" },
    { "FLOP/s", "KFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s" },
};

static const char *scaled(double *value, const char *unit)
{
    enum { STEP = 1000, UNITS = sizeof larger[0] / sizeof *larger[0] };
    for (size_t n = 0; n < sizeof larger / sizeof *larger; n++) {
        if (strcmp(larger[n][0], unit) != 0) continue;
        size_t u = 0;
        while (u + 1 < UNITS && larger[n][u + 1] && *value >= STEP) *value /= STEP, u++;
        return larger[n][u];
    }
    return unit;
}

FigureText details_figure(double value, const char *unit)
{
    enum { MANY = 1000 }; // hundredths say nothing there
    FigureText f;
    char digits[32];
    const char *of = scaled(&value, unit);
    snprintf(f.unit, sizeof f.unit, "%s", of);
    const bool whole_enough = value == rint(value) || value >= MANY;
    snprintf(digits, sizeof digits, "%.*f", whole_enough ? 0 : 2, value);
    size_t whole = strcspn(digits, "."), to = 0;
    for (size_t n = 0; digits[n] && to + 2 < sizeof f.value; n++) {
        if (n && n < whole && (whole - n) % 3 == 0) f.value[to++] = ',';
        f.value[to++] = digits[n];
    }
    f.value[to] = 0;
    return f;
}

// ---- Sentences ----

char *details_bound(const KernelReport *k)
{
    static const char *const means[][2] = {
        { "memory", "L1, L2 or DRAM is busy for most of the time." },
        { "compute", "the schedulers, or the units of one pipe, are busy for most of the time." },
        { "latency", "neither memory nor a pipe is busy for most of the time: warps wait, or no "
                     "block has begun yet." },
        { "atomics", "atomic operations on one place, which wait for one another, take most of the "
                     "time." },
        { "transfers", "most of the time passes with pages or bytes that come from elsewhere." },
    };
    const char *meaning = "";
    char *words = NULL;
    if (k->time_ns <= 0) return NULL;
    for (size_t n = 0; n < sizeof means / sizeof *means; n++)
        if (strcmp(means[n][0], k->bound) == 0) meaning = means[n][1];
    const int made =
        k->error ? asprintf(&words,
                            "Bound by %s: %s Of %d such kernels, half took within %d %% of the "
                            "predicted time on an %s, and nine in ten within %d %%.",
                            k->bound, meaning, k->error->kernels, k->error->half, k->error->device,
                            k->error->nine_tenths)
                 : asprintf(&words, "Bound by %s: %s No such kernel was compared with a GPU.",
                            k->bound, meaning);
    return made < 0 ? NULL : words;
}

char *details_roof(const KernelReport *k)
{
    const RoofReport *r = &k->roof;
    char *words = NULL;
    int made = -1;
    if (r->percent <= 0) return NULL;
    if (r->memory && r->pipe)
        made = asprintf(&words,
                        "By the roofline %s: %.3g FLOP per byte of %s, and the ridge is at %.3g. "
                        "The roof there is "
                        "%s%s, and the kernel reaches %.2g %% of it.",
                        r->memory_is_roof ? "memory-bound" : "compute-bound", r->intensity,
                        r->memory, r->ridge, r->memory_is_roof ? "the bandwidth of " : "the pipe ",
                        r->memory_is_roof ? r->memory : r->pipe, r->percent);
    else if (r->memory)
        made = asprintf(
            &words,
            "By the roofline memory-bound: there are no floating-point operations. The roof is the "
            "bandwidth of %s, and the kernel reaches %.2g %% of it.",
            r->memory, r->percent);
    else
        made = asprintf(&words,
                        "By the roofline compute-bound: nothing is moved beyond L1. The roof is "
                        "the pipe %s, and "
                        "the kernel reaches %.2g %% of it.",
                        r->pipe, r->percent);
    return made < 0 ? NULL : words;
}

// ---- The page ----

// Label, unit, number, share of peak; the name comes last, for it may be long.
#define ROW "    %-28s %-10s %14s %7s  %s\n"

static void print_row(const Detail *d)
{
    const FigureText f = details_figure(d->value, d->unit);
    char value[48], share[16] = "";
    snprintf(value, sizeof value, "%s%s", d->of->estimate ? "~" : "", f.value);
    if (d->share >= 0) snprintf(share, sizeof share, "%.1f %%", d->share);
    fprintf(stderr, ROW, d->label, f.unit, value, share, d->of->name);
}

static bool is_shown(const Detail *d) { return d->value > 0; }

static void print_sentence(char *words)
{
    if (words) text_wrapped("    ", words);
    free(words);
}

// The sentences that follow a section's figures.
static void end_section(const KernelReport *k, const char *section)
{
    if (!section) return;
    if (strcmp(section, DETAILS_OF_TIME) == 0) print_sentence(details_bound(k));
    if (strcmp(section, DETAILS_OF_ROOF) == 0) print_sentence(details_roof(k));
}

char *details_cost(const Finding *f, double time_ns)
{
    char *words = NULL;
    const FigureText now = details_figure(time_ns, "ns"),
                     without = details_figure(f->without_ns, "ns");
    const int made = f->without_ns > 0
                       ? asprintf(&words, "Predicted again without it: %s %s in place of %s %s.",
                                  without.value, without.unit, now.value, now.unit)
                       : asprintf(&words, "By the model's account of the time as it is.");
    return made < 0 ? NULL : words;
}

// "  1. Uncoalesced global loads at saxpy.cu:12: 41 % of the time", and below it what, where, how.
static void print_finding(const Finding *f, size_t number, double time_ns)
{
    char *cost = details_cost(f, time_ns);
    fprintf(stderr, "  %zu. %s", number, f->title);
    if (f->place.line) fprintf(stderr, " at %s:%u", names_base(f->place.file), f->place.line);
    fprintf(stderr, ": %.0f %% of the time%s\n", 100 * f->cost,
            f->lineless ? " (nvcc -lineinfo tells the line)" : "");
    text_source(&f->place);
    text_wrapped("     ", f->words);
    if (cost) text_wrapped("     ", cost);
    text_wrapped("     next: ", f->cure);
    free(cost);
}

static void print_findings(const KernelReport *k)
{
    fprintf(stderr, "  Findings, by their cost in predicted time%s\n",
            k->finding_count ? ":" : ": nothing that is known costs 1 % of it.");
    for (size_t n = 0; n < k->finding_count; n++) print_finding(&k->findings[n], n + 1, k->time_ns);
}

enum { NAME_COLUMNS = 200 };

void details_print(const KernelReport *k, const char *which)
{
    const char *section = NULL;
    char *name = names_brief(k->signature, NAME_COLUMNS);
    fprintf(stderr, "warpwise: %s, grid (%u,%u,%u), block (%u,%u,%u)", name ? name : k->signature,
            k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2]);
    free(name);
    if (report_has_several()) fprintf(stderr, ", device %u", k->device);
    if (which) fprintf(stderr, ": %s", which);
    fputc('\n', stderr);
    for (size_t n = 0; n < k->detail_count; n++) {
        const Detail *d = &k->details[n];
        if (!is_shown(d)) continue;
        if (!section) fprintf(stderr, ROW, "Metric", "Unit", "Value", "of Peak", "Name");
        if (!section || strcmp(section, d->section) != 0) {
            end_section(k, section);
            fprintf(stderr, "  Section: %s\n", d->section);
        }
        section = d->section;
        print_row(d);
    }
    end_section(k, section);
    table_lines(k);
    if (k->time_ns > 0) print_findings(k);
}
