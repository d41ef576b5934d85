// The two sides beside each other, as a page of the book, and whether the bounds hold.
#include "accuracy.h"
#include <libconfig.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FITTED, HELD_OUT, COMPUTING, COMPUTING_HELD_OUT, GROUPS };

static const char *const group_names[GROUPS] = { "fitted", "held_out", "computing",
                                                 "computing_held_out" };

static int group_of(const Kernel *k)
{
    return k->computes ? COMPUTING + k->held_out : FITTED + k->held_out;
}

// What is said of each group, and bounded.
typedef struct Result {
    double median, worst; // error of the times
    const char *worst_kernel;
    int kernels;
    int pairs, wrong;         // of versions of one exercise that differ by more than ORDER_MATTERS
    int all_pairs, all_wrong; // of kernels of one program
    int l2, l2_near, dram, dram_near; // counters of all kernels, and those within NEAR
    int l2_apart, dram_apart; // of the others, those on which the GPU does not agree with itself
    int l2_unsure,
        dram_unsure; // of all, those of which two measurements' medians are not within NEAR
} Result;

static const double ORDER_MATTERS = 0.15, NEAR = 0.10, ENOUGH_BYTES = 1 << 20, SECTOR_BYTES = 32;

double time_error(const Kernel *k) { return k->simulated / k->microseconds - 1; }

// The difference, as a part of the larger one: 0 to 1.
static double difference(double a, double b)
{
    double most = fmax(fabs(a), fabs(b));
    return most > 0 ? fabs(a - b) / most : 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

// Is their order wrong? `matters` says whether they are of one program and the GPU tells them
// apart.
static bool wrong_order(const Kernel *a, const Kernel *b, bool *matters)
{
    double real = a->microseconds / b->microseconds, simulated = a->simulated / b->simulated;
    *matters = !strcmp(a->program, b->program) && a->computes == b->computes
            && fmax(real, 1 / real) > 1 + ORDER_MATTERS;
    return *matters && (real > 1) != (simulated > 1);
}

static bool same_exercise(const Kernel *a, const Kernel *b)
{
    return !strcmp(a->program, b->program) && *a->exercise && !strcmp(a->exercise, b->exercise);
}

static void judge_order(const Set *set, Result result[GROUPS])
{
    bool matters;
    for (size_t i = 0; i < set->count; i++)
        for (size_t j = 0; j < i; j++) {
            const Kernel *a = &set->kernels[i], *b = &set->kernels[j];
            bool wrong = wrong_order(a, b, &matters);
            Result *r = &result[group_of(a) > group_of(b) ? group_of(a) : group_of(b)];
            r->all_pairs += matters;
            r->all_wrong += wrong;
            if (!same_exercise(a, b)) continue;
            r->pairs += matters;
            r->wrong += wrong;
        }
}

// Is it a counter of traffic, and of enough? Then *a is ours, *b ncu's.
static bool is_traffic(const Kernel *k, const char *name, double *a, double *b, bool *dram)
{
    json_t *there = json_object_get(k->counters, name);
    *dram = !strncmp(name, "dram__bytes", 11);
    *a = json_number_value(json_object_get(k->counted, name));
    *b = json_number_value(there);
    return there && (*dram || !strncmp(name, "lts__t_sectors", 14))
        && fmax(*a, *b) * (*dram ? 1 : SECTOR_BYTES) >= ENOUGH_BYTES;
}

// Do the GPU's own runs lie further apart than NEAR, and is ours within NEAR of them?
static bool runs_apart(const Kernel *k, const char *name, double ours)
{
    const json_t *runs = json_object_get(k->traffic, name);
    double lowest = json_number_value(json_array_get(runs, 0)),
           highest = json_number_value(json_array_get(runs, 2));
    return runs && difference(lowest, highest) > NEAR
        && difference(ours, fmin(fmax(ours, lowest), highest)) <= NEAR;
}

// Are the medians of two times that it was measured further apart than NEAR?
static bool medians_apart(const Kernel *k, const char *name)
{
    const json_t *runs = json_object_get(k->traffic, name);
    return difference(json_number_value(json_array_get(runs, 3)),
                      json_number_value(json_array_get(runs, 4)))
         > NEAR;
}

static void judge_bytes(const Kernel *k, Result *r)
{
    const char *name;
    json_t *value;
    json_object_foreach(k->counted, name, value)
    {
        double a, b;
        bool dram;
        if (!is_traffic(k, name, &a, &b, &dram)) continue;
        *(dram ? &r->dram : &r->l2) += 1;
        bool near = difference(a, b) <= NEAR;
        *(dram ? &r->dram_near : &r->l2_near) += near;
        *(dram ? &r->dram_apart : &r->l2_apart) += !near && runs_apart(k, name, a);
        *(dram ? &r->dram_unsure : &r->l2_unsure) += medians_apart(k, name);
    }
}

static void judge(const Set *set, Result result[GROUPS])
{
    memset(result, 0, GROUPS * sizeof *result);
    for (int g = 0; g < GROUPS; g++) {
        double errors[MOST_KERNELS];
        Result *r = &result[g];
        for (size_t i = 0; i < set->count; i++) {
            const Kernel *k = &set->kernels[i];
            if (group_of(k) != g) continue;
            judge_bytes(k, r);
            double error = errors[r->kernels++] = fabs(time_error(k));
            if (error > r->worst) {
                r->worst = error;
                r->worst_kernel = k->name;
            }
        }
        r->median = median(errors, r->kernels);
    }
    judge_order(set, result);
}

// ---- Counters that are said to be exact, and are not

// The explanation in why.txt of a counter of a kernel: lines of KERNEL COUNTER WORDS. NULL: there
// is none.
static char *explanation(const char *why, const char *kernel, const char *counter)
{
    static char line[1024];
    char of[128], what[128];
    int words;
    FILE *file = fopen(why, "re");
    char *found = NULL;
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (*line != '#' && sscanf(line, "%127s %127s %n", of, what, &words) == 2
            && !strcmp(of, kernel) && !strcmp(what, counter))
            found = line + words;
    }
    if (file) fclose(file);
    return found;
}

static double number(const json_t *counters, const char *format, const char *kind)
{
    char name[128];
    snprintf(name, sizeof name, format, kind);
    return json_number_value(json_object_get(counters, name));
}

// Words that begin with "waits" say that ncu counts as conflicts, and as passes, what waited for
// the banks for another reason. Then, conflicts aside, the passes are the same, and those that the
// lanes cause are not more than ncu's.
static bool holds(const Kernel *k, const char *counter, const char *words)
{
    static const char passes[] = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum";
    static const char conflicts[] = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum";
    const char *kind = strstr(counter, "_op_st.") ? "st" : "ld";
    if (strncmp(words, "waits", 5)) return true;
    double ours = number(k->counted, conflicts, kind),
           theirs = number(k->counters, conflicts, kind);
    return ours <= theirs
        && number(k->counted, passes, kind) - ours == number(k->counters, passes, kind) - theirs;
}

static bool is_estimate(const Kernel *k, const char *name)
{
    size_t i;
    json_t *estimate;
    json_array_foreach(k->estimates, i,
                       estimate) if (!strcmp(json_string_value(estimate), name)) return true;
    return false;
}

// Writes those that differ by more than a hundredth, and returns how many of them nothing explains.
static int write_differences(const Set *set, const char *why, FILE *out)
{
    int unexplained = 0;
    const char *name;
    json_t *value, *there;
    fputs("| kernel | counter | simulated | ncu | why |\n| --- | --- | ---: | ---: | --- |\n", out);
    for (size_t i = 0; i < set->count; i++) {
        const Kernel *k = &set->kernels[i];
        json_object_foreach(k->counted, name, value)
        {
            there = json_object_get(k->counters, name);
            double a = json_number_value(value), b = json_number_value(there);
            if (!there || is_estimate(k, name) || difference(a, b) <= 0.01
                || fabs(a - b) <= 0.01) // ncu rounds to that
                continue;
            const char *words = explanation(why, k->name, name);
            if (words && !holds(k, name, words)) words = NULL;
            fprintf(out, "| %s | `%s` | %.10g | %.10g | %s |\n", k->name, name, a, b,
                    words ? words : "");
            if (words) continue;
            fprintf(stderr, "%s: %s is %.10g simulated, %.10g by ncu; say why in %s\n", k->name,
                    name, a, b, why);
            unexplained++;
        }
    }
    return unexplained;
}

// ---- The page

static void write_head(const Set *set, FILE *out)
{
    const json_t *r = set->record, *traffic = json_object_get(r, "traffic"), *once;
    size_t i;
    const char *text[4];
    const char *const names[] = { "device", "date", "driver", "toolkit" };
    for (i = 0; i < 4; i++) text[i] = json_string_value(json_object_get(r, names[i]));
    fprintf(out, "# How near the simulated device comes to an %s\n\n", text[0]);
    fprintf(out,
            "Written by `make accuracy`: kernels of `profiles/accuracy/kernels/`, run on the "
            "simulated device and on the\n"
            "%s (%s; driver %s, CUDA Toolkit %s, ncu %s), the very same programs with the\n"
            "same sizes. Times are those that the programs see themselves, between two events "
            "around one launch, the median\n"
            "on the GPU, with no profiler; counters are ncu's. All data is in DRAM when a kernel "
            "begins. The constants of\n"
            "the model come from microbenchmarks (`profiles/devices/measure/`) and from the "
            "kernels called *fitted*. Those\n"
            "*held out* (`profiles/accuracy/held-out.txt`) were chosen before the first fit and "
            "never used in it, and the\n"
            "lessons' own kernels (`lesson5`, `lesson11`) came when it was done: they show what to "
            "expect of yours.\n\n",
            text[0], text[1], text[2], text[3], json_string_value(json_object_get(r, "ncu")));
    if (json_array_size(traffic))
        fputs("What L2 and DRAM move was measured by itself, and differs from run to run and from "
              "machine to machine: the table of traffic has the lowest\n"
              "and the highest of all runs, and the mean of these medians:\n\n",
              out);
    json_array_foreach(traffic, i, once)
        fprintf(out, "- of %d runs%s (%s; driver %s)\n",
                (int)json_integer_value(json_object_get(once, "runs")),
                json_object_get(once, "dram_only")
                    ? ", of DRAM: L2's were counted in several passes, and are left out"
                    : "",
                json_string_value(json_object_get(once, "date")),
                json_string_value(json_object_get(once, "driver")));
    fputs("\n", out);
}

static void write_goals(const Result result[GROUPS], FILE *out)
{
    const Result *f = &result[FITTED], *h = &result[HELD_OUT];
    fprintf(out,
            "## What is reached\n\n| | goal | fitted | held out |\n| --- | --- | --- | --- |\n");
    fprintf(out, "| kernels | | %d | %d |\n", f->kernels, h->kernels);
    fprintf(out, "| time: median error | at most 12 %% | %.0f %% | %.0f %% |\n", 100 * f->median,
            100 * h->median);
    fprintf(out, "| time: worst error | at most 35 %% | %.0f %% (%s) | %.0f %% (%s) |\n",
            100 * f->worst, f->worst_kernel, 100 * h->worst, h->worst_kernel);
    fprintf(out,
            "| versions of one exercise that differ by more than 15 %%: in the wrong order | none "
            "| %d of %d | %d of %d |\n",
            f->wrong, f->pairs, h->wrong, h->pairs);
    fprintf(out,
            "| kernels of one file that differ by more than 15 %%: in the wrong order | | %d of %d "
            "| %d of %d |\n",
            f->all_wrong, f->all_pairs, h->all_wrong, h->all_pairs);
    fprintf(out, "| L2 traffic within 10 %% (of 1 MB or more) | all | %d of %d | %d of %d |\n",
            f->l2_near, f->l2, h->l2_near, h->l2);
    fprintf(out, "| DRAM traffic within 10 %% (of 1 MB or more) | all | %d of %d | %d of %d |\n",
            f->dram_near, f->dram, h->dram_near, h->dram);
    fprintf(out,
            "| of the L2 traffic beyond: near runs of the GPU that differ by more than 10 %% "
            "themselves | | %d of %d | %d of %d |\n",
            f->l2_apart, f->l2 - f->l2_near, h->l2_apart, h->l2 - h->l2_near);
    fprintf(out, "| of the DRAM traffic beyond: the same | | %d of %d | %d of %d |\n",
            f->dram_apart, f->dram - f->dram_near, h->dram_apart, h->dram - h->dram_near);
    fprintf(out,
            "| L2 and DRAM traffic of which the medians of two measurements differ by more than 10 "
            "%% | | %d of %d | %d of %d |\n\n",
            f->l2_unsure + f->dram_unsure, f->l2 + f->dram, h->l2_unsure + h->dram_unsure,
            h->l2 + h->dram);
}

// Kernels that compute, family by family.
static void write_families(const Set *set, const Result result[GROUPS], FILE *out)
{
    const Result *f = &result[COMPUTING], *h = &result[COMPUTING_HELD_OUT];
    if (!f->kernels && !h->kernels) return;
    fprintf(out,
            "## Kernels that compute\n\nOf each kernel there are three launches: half a block for "
            "each multiprocessor, a wave and one block more, and two and a half\n"
            "waves. Only their times are compared. A family is a program; those held out were "
            "chosen before the first fit, by their names\n"
            "(`profiles/accuracy/held-out.txt`).\n\n"
            "| | goal | fitted | held out |\n| --- | --- | --- | --- |\n"
            "| launches | | %d | %d |\n| median error | at most 8 %% | %.1f %% | %.1f %% |\n"
            "| worst error | at most 40 %% | %.0f %% (%s) | %.0f %% (%s) |\n"
            "| versions of one exercise that differ by more than 15 %%: in the wrong order | none "
            "| %d of %d | %d of %d |\n\n"
            "| family | | launches | median error | worst |\n"
            "| --- | --- | ---: | ---: | ---: |\n",
            f->kernels, h->kernels, 100 * f->median, 100 * h->median, 100 * f->worst,
            f->worst_kernel, 100 * h->worst, h->worst_kernel, f->wrong, f->pairs, h->wrong,
            h->pairs);
    for (size_t i = 0, next; i < set->count; i = next) {
        const Kernel *k = &set->kernels[i];
        double errors[MOST_KERNELS], worst = 0;
        int count = 0;
        for (next = i; next < set->count && !strcmp(set->kernels[next].program, k->program); next++)
            if (set->kernels[next].computes) {
                double error = errors[count++] = fabs(time_error(&set->kernels[next]));
                worst = fmax(worst, error);
            }
        if (count)
            fprintf(out, "| %s | %s | %d | %.1f %% | %.0f %% |\n", k->program,
                    k->held_out ? "held out" : "", count, 100 * median(errors, count), 100 * worst);
    }
    fputs("\n", out);
}

static void copy_text(const char *from, FILE *out)
{
    char line[256];
    FILE *file = fopen(from, "re");
    if (!file) perror(from);
    while (file && fgets(line, sizeof line, file)) fputs(line, out);
    if (file) fclose(file);
}

static void write_times(const Set *set, FILE *out)
{
    bool matters;
    fputs("## Times\n\n| exercise | kernel | | GPU, us | simulated, us | error | bound by |\n| --- "
          "| --- | "
          "--- | ---: | ---: | ---: | --- |\n",
          out);
    for (size_t i = 0; i < set->count; i++) {
        const Kernel *k = &set->kernels[i];
        fprintf(out, "| %s | %s | %s | %.2f | %.2f | %+.0f %% | %s |\n", k->program, k->name,
                k->held_out ? "held out" : "", k->microseconds, k->simulated, 100 * time_error(k),
                k->bound);
    }
    fputs("\nIn the wrong order:\n\n", out);
    int wrong = 0;
    for (size_t i = 0; i < set->count; i++)
        for (size_t j = 0; j < i; j++)
            if (wrong_order(&set->kernels[i], &set->kernels[j], &matters) && ++wrong)
                fprintf(out, "- %s and %s%s\n", set->kernels[j].name, set->kernels[i].name,
                        same_exercise(&set->kernels[i], &set->kernels[j])
                            ? ""
                            : ", which are no versions of one exercise");
    fputs(wrong ? "\n" : "- none\n\n", out);
}

static void write_row(const Kernel *k, const char *name, double ours, double theirs, FILE *out)
{
    const json_t *runs = json_object_get(k->traffic, name);
    fprintf(out, "| %s | %s | `%s` | %.0f | %.0f | ", k->name, k->held_out ? "held out" : "", name,
            ours, theirs);
    if (runs)
        fprintf(out, "%.0f to %.0f ", json_number_value(json_array_get(runs, 0)),
                json_number_value(json_array_get(runs, 2)));
    fprintf(out, "| %s |\n", runs_apart(k, name, ours) ? "near its runs" : "");
}

static void write_traffic(const Set *set, FILE *out)
{
    const char *name;
    json_t *value;
    double a, b;
    bool dram;
    fputs("## Traffic beyond 10 %\n\nSome of the GPU's own runs differ by more than 10 %; it is "
          "said where the simulated number is within 10 % of such runs.\n\n"
          "| kernel | | counter | simulated | ncu's median | lowest to highest | |\n| --- | --- | "
          "--- | ---: | ---: | ---: | --- |\n",
          out);
    for (const Kernel *k = set->kernels; k < set->kernels + set->count; k++)
        json_object_foreach(k->counted, name, value) if (is_traffic(k, name, &a, &b, &dram)
                                                         && difference(a, b) > NEAR)
            write_row(k, name, a, b, out);
    fputs("\n", out);
}

// One counter over all kernels in which it is not 0.
static void write_counter(const Set *set, const char *name, FILE *out)
{
    double errors[MOST_KERNELS], worst = -1;
    int count = 0, equal = 0;
    const Kernel *in = NULL;
    bool estimate = false;
    for (size_t i = 0; i < set->count; i++) {
        const Kernel *k = &set->kernels[i];
        json_t *there = json_object_get(k->counters, name);
        double a = json_number_value(json_object_get(k->counted, name)),
               b = json_number_value(there);
        estimate |= is_estimate(k, name);
        if (!there || (a == 0 && b == 0)) continue;
        double error = errors[count++] = difference(a, b);
        equal += a == b;
        if (error > worst) {
            worst = error;
            in = k;
        }
    }
    if (in)
        fprintf(out, "| `%s` | %s | %d | %d | %.1f %% | %.1f %% (%s) |\n", name,
                estimate ? "~" : "", count, equal, 100 * median(errors, count), 100 * worst,
                in->name);
}

static int write_counters(const Set *set, const char *why, FILE *out)
{
    const char *name;
    json_t *names = json_object(), *value;
    fputs("## Counters\n\nFor each counter the kernels in which it is not 0 on both, in how many "
          "of them the simulated\n"
          "device's number is ncu's to the last digit, and the difference as a part of the larger "
          "number. What is marked\n"
          "with ~ is an estimate.\n\n"
          "| counter | | kernels | equal | median difference | worst |\n| --- | --- | ---: | ---: "
          "| ---: | --- |\n",
          out);
    for (size_t i = 0; i < set->count; i++) json_object_update(names, set->kernels[i].counted);
    json_object_foreach(names, name, value) write_counter(set, name, out);
    json_decref(names);
    fputs("\nThose that are no estimates and differ all the same by more than a hundredth:\n\n",
          out);
    return write_differences(set, why, out);
}

// ---- Bounds

static int exceeded(const char *path, const char *group, const char *what, double reached,
                    const config_t *config)
{
    char name[64];
    double bound;
    snprintf(name, sizeof name, "%s.%s", group, what);
    if (config_lookup_float(config, name, &bound) && reached <= bound) return 0;
    fprintf(stderr, "%s: %s is %.3f\n", path, name, reached);
    return 1;
}

static int check_bounds(const char *path, const Result result[GROUPS], int unexplained)
{
    config_t config;
    int bad = 0;
    config_init(&config);
    config_set_auto_convert(&config, CONFIG_TRUE);
    if (!config_read_file(&config, path)) {
        fprintf(stderr, "%s:%d: %s\n", path, config_error_line(&config),
                config_error_text(&config));
        bad = 1;
    }
    for (int g = 0; g < GROUPS; g++) {
        const Result *r = &result[g];
        if (!r->kernels) continue;
        bad += exceeded(path, group_names[g], "median_error", r->median, &config);
        bad += exceeded(path, group_names[g], "worst_error", r->worst, &config);
        bad += exceeded(path, group_names[g], "wrong_orders", r->wrong, &config);
        if (g >= COMPUTING) continue;
        bad += exceeded(path, group_names[g], "l2_beyond", r->l2 - r->l2_near, &config);
        bad += exceeded(path, group_names[g], "dram_beyond", r->dram - r->dram_near, &config);
    }
    bad += exceeded(path, "counters", "unexplained", unexplained, &config);
    config_destroy(&config);
    return bad;
}

int table_write(const Set *set, const char *why, const char *shortfalls, const char *bounds,
                const char *to)
{
    Result result[GROUPS];
    FILE *out = fopen(to, "we");
    if (!out) {
        perror(to);
        return 1;
    }
    judge(set, result);
    write_head(set, out);
    write_goals(result, out);
    write_families(set, result, out);
    errors_on_page(set, out);
    copy_text(shortfalls, out);
    write_times(set, out);
    write_traffic(set, out);
    int unexplained = write_counters(set, why, out);
    fclose(out);
    for (int g = 0; g < GROUPS; g++) {
        const Result *r = &result[g];
        if (!r->kernels) continue;
        printf("%s: %d kernels, median error %.1f %%, worst %.1f %% (%s), %d of %d orders wrong",
               group_names[g], r->kernels, 100 * r->median, 100 * r->worst, r->worst_kernel,
               r->wrong, r->pairs);
        if (g < COMPUTING)
            printf(", L2 %d of %d, DRAM %d of %d", r->l2_near, r->l2, r->dram_near, r->dram);
        puts("");
    }
    return check_bounds(bounds, result, unexplained);
}
