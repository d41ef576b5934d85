// Shows what the device counted: the counters that the lesson asks about beside their bounds, then
// all of them by kernel and by source line. Times are the device's prediction and say so. It takes
// the result of the last grading; where something is newer than that, it grades the exercise once
// more, in silence.
#define _GNU_SOURCE
#include "device.h"
#include "study.h"
#include "text.h"
#include "verdict.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void copy_out(const char *path)
{
    FILE *f = fopen(path, "re");
    for (int c; f && (c = fgetc(f)) != EOF;) putchar(c);
    if (f) fclose(f);
}

// ---- Which check

// The claim that is told of: the first that is not kept, or else the first.
static const json_t *first_claim(const json_t *result)
{
    size_t i;
    json_t *claim, *claims = json_object_get(result, "claims");
    json_array_foreach(claims, i, claim) if (verdict_from_word(text_of(claim, "verdict"))
                                             != VERDICT_PASS) return claim;
    return json_array_get(claims, 0);
}

// CHECK=name; else the one of the claim that is told of; else the one with the most work, which is
// the most predicted time.
static const json_t *choose_check(const json_t *result)
{
    const char *said = getenv("CHECK");
    const json_t *most = NULL;
    const char *name = said && *said ? said : text_of(first_claim(result), "check");
    size_t i;
    json_t *check;
    json_array_foreach(json_object_get(result, "checks"), i, check)
    {
        if (*name && strcmp(text_of(check, "check"), name) == 0) return check;
        if (device_time(check) > device_time(most)) most = check;
    }
    return *name ? NULL : most;
}

static bool has_kernels(const json_t *check)
{
    return json_array_size(json_object_get(check, "by_kernel")) > 0;
}

// What the last grading found, if that is all that is asked for, and up to date; or NULL.
static json_t *found_before(const Lesson *lesson)
{
    Outcome o = outcome_read(lesson);
    bool useful = outcome_is_current(&o, lesson) && has_kernels(choose_check(o.result));
    json_t *result = useful ? json_incref(o.result) : NULL;
    outcome_free(&o);
    return result;
}

// ---- The bounds

static bool is_ratio(const json_t *claim) { return !*text_of(claim, "unit"); }

// A bound as it is printed: the count that the claim's sum may reach, or the bound itself where the
// claim is a ratio of two counts (which has no unit). "-": there is no bound.
static char *bound(const json_t *claim, const char *which)
{
    const json_t *at = json_object_get(claim, which);
    if (!json_is_number(at)) return strdup("-");
    return is_ratio(claim) ? text_format("%.2f", json_number_value(at))
                           : text_format("%.0f", json_number_value(at) * number_of(claim, "by"));
}

static enum verdict verdict_of(const json_t *claim)
{
    return verdict_from_word(text_of(claim, "verdict"));
}

// Does a claim that holds have an expert's bound, and is that kept or not?
static bool is_gold(const json_t *claim, bool kept)
{
    const json_t *gold = json_object_get(claim, "gold");
    return verdict_of(claim) == VERDICT_PASS && json_is_number(gold)
        && kept == (number_of(claim, "value") <= json_number_value(gold));
}

// Is the claim's value what the check said of itself (figure()), and no count?
static bool is_figure(const json_t *claim, const json_t *check)
{
    const json_t *name = json_array_get(json_object_get(claim, "counters"), 0);
    return json_object_get(json_object_get(check, "figures"), json_string_value(name));
}

// Below at_least are both what is SUSPECT and what misses the floor under a mechanism, which is
// SLOW.
static const char *judgement(const json_t *claim, const json_t *check)
{
    enum verdict verdict = verdict_of(claim);
    const json_t *least = json_object_get(claim, "at_least");
    bool few = json_is_number(least) && number_of(claim, "value") < json_number_value(least);
    return is_gold(claim, true)                                  ? "gold"
         : verdict == VERDICT_PASS                               ? "ok"
         : verdict != VERDICT_SLOW && verdict != VERDICT_SUSPECT ? "unknown"
         : is_figure(claim, check)                               ? (few ? "too small" : "too large")
         : few                                                   ? "too few"
                                                                 : "too many";
}

// A row of the table; on a narrow terminal the name has a line of its own.
static void print_row(const char *name, const char *value, const char *least, const char *most,
                      const char *state)
{
    bool from = strcmp(least, "-") != 0, to = strcmp(most, "-") != 0;
    if (text_width() < TEXT_COLUMNS)
        printf("  %s\n    %s%s%s%s%s%s%s\n", name, value, from ? ", at least " : "",
               from ? least : "", to ? ", at most " : "", to ? most : "", *state ? ": " : "",
               state);
    else
        printf("  %s%*s %12s %10s %10s%s%s\n", name, 24 - (int)text_columns(name), "", value, least,
               most, *state ? "  " : "", state);
}

static void print_claim(const json_t *claim, const json_t *check)
{
    char *least = bound(claim, "at_least"), *most = bound(claim, "at_most");
    bool ratio = is_ratio(claim);
    char *value = text_format("%s%.*f", json_is_true(json_object_get(claim, "estimate")) ? "~" : "",
                              ratio ? 2 : 0, number_of(claim, ratio ? "value" : "sum"));
    print_row(text_of(claim, "name"), value, least, most, judgement(claim, check));
    free(least);
    free(most);
    free(value);
}

static void print_time(const json_t *check, const char *device)
{
    double bound = device_least(".", device, check);
    char *value = text_format("~%.1f", device_time(check) / 1e3);
    char *least = bound > 0 ? text_format("%.1f", bound / 1e3) : strdup("-");
    print_row("time, µs, predicted", value, least, "-", "");
    if (device_time_is_whole(check)) {
        // Copies and kernels that overlap take less time than their sum.
        double work = number_of(json_object_get(check, "counters"), "devices__work_ns.sum");
        char *sum = text_format("~%.1f", work / 1e3);
        print_row("all work in turn, µs", sum, "-", "-", "");
        free(sum);
    }
    free(value);
    free(least);
}

static void print_gold(const json_t *claim)
{
    char *most = bound(claim, "gold");
    char *words = text_format("Gold: %s, at most %s.", text_of(claim, "name"), most);
    text_paragraph(stdout, 2, words);
    free(words);
    free(most);
}

static void print_bounds(const json_t *result, const json_t *check)
{
    size_t i;
    json_t *claim, *claims = json_object_get(result, "claims");
    fputc('\n', stdout);
    if (text_width() == TEXT_COLUMNS) print_row("", "yours", "at least", "at most", "");
    json_array_foreach(claims, i,
                       claim) if (strcmp(text_of(claim, "check"), text_of(check, "check")) == 0)
        print_claim(claim, check);
    print_time(check, text_of(result, "device"));
    json_array_foreach(claims, i,
                       claim) if (strcmp(text_of(claim, "check"), text_of(check, "check")) == 0
                                  && is_gold(claim, false)) print_gold(claim);
    json_array_foreach(claims, i,
                       claim) if (strcmp(text_of(claim, "check"), text_of(check, "check")) == 0
                                  && *text_of(claim, "words"))
        text_paragraph(stdout, 2, text_of(claim, "words"));
}

// ---- By kernel, and by source line

static void print_counters(const json_t *counters, const json_t *estimates)
{
    bool narrow = text_width() < TEXT_COLUMNS;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)counters, name, value)
    {
        bool estimate = json_is_true(json_object_get(estimates, name));
        if (json_integer_value(value))
            printf("  %s%-*lld%s%s\n", estimate ? "~" : " ", narrow ? 1 : 10,
                   json_integer_value(value), narrow ? "\n   " : " ", name);
    }
}

#define GLOBAL(what) "l1tex__t_" what "_pipe_lsu_mem_global_op_"
#define CONFLICTS "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"
#define WAVEFRONTS "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"

// A line's or a kernel's counter PREFIXop.sum.
static double counter(const json_t *owner, const char *prefix, const char *op)
{
    char *name = text_format("%s%s.sum", prefix, op);
    double value = number_of(json_object_get(owner, "counters"), name);
    free(name);
    return value;
}

// "loads 4096 sectors, 32 a request, 4 would do; " for each kind of traffic that the line has.
static void tell_traffic(FILE *words, const json_t *line)
{
    static const char *const ops[][2] = {
        { "ld", "loads" }, { "st", "stores" }, { "atom", "atomics on" }, { "red", "reductions on" }
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        double sectors = counter(line, GLOBAL("sectors"), ops[i][0]);
        double requests = counter(line, GLOBAL("requests"), ops[i][0]);
        double least = counter(line, GLOBAL("sectors_least"), ops[i][0]);
        if (sectors > 0)
            fprintf(words, "%s %.0f sectors, %.3g a request", ops[i][1], sectors,
                    sectors / fmax(requests, 1));
        if (least > 0 && sectors > 1.1 * least)
            fprintf(words, ", %.3g would do", least / fmax(requests, 1));
        if (sectors > 0) fputs("; ", words);
    }
    static const char *const shared[][2] = { { "ld", "loads" },
                                             { "st", "stores" },
                                             { "atom", "atomics" } };
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        double passes = counter(line, WAVEFRONTS, shared[i][0]);
        double conflicts = counter(line, CONFLICTS, shared[i][0]);
        if (passes > 0 || conflicts > 0)
            fprintf(words, "shared %s in %.0f wavefronts, %.0f of them conflicts; ", shared[i][1],
                    passes, conflicts);
    }
}

// The line's text in the student's file, without its indent, or "".
static char *source_line(const Lesson *lesson, const json_t *line)
{
    char *text = NULL;
    size_t room = 0;
    bool theirs = strcmp(basename(text_of(line, "file")), basename(lesson->exercise)) == 0;
    FILE *f = theirs ? fopen(lesson->exercise, "re") : NULL;
    int wanted = (int)number_of(line, "line");
    bool found = f;
    for (int i = 0; found && i < wanted; i++) found = getline(&text, &room, f) >= 0;
    if (f) fclose(f);
    if (found) text[strcspn(text, "\r\n")] = 0;
    char *clean = text_clean(found ? text + strspn(text, " \t") : "");
    free(text);
    return clean;
}

static void print_line(const Lesson *lesson, const json_t *line, double instructions)
{
    char *words, *source = source_line(lesson, line);
    size_t bytes;
    FILE *f = open_memstream(&words, &bytes);
    tell_traffic(f, line);
    bool traffic = ftell(f) > 0;
    fprintf(f, "%.0f %% of the instructions",
            100 * counter(line, "smsp__inst_executed", "") / fmax(instructions, 1));
    fclose(f);
    if (traffic) {
        printf("  %4.0f  %.*s\n", number_of(line, "line"), text_width() - 8, source);
        text_paragraph(stdout, 8, words);
    }
    free(words);
    free(source);
}

static int by_place(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    int file = strcmp(text_of(x, "file"), text_of(y, "file"));
    return file ? file : (int)(number_of(x, "line") - number_of(y, "line"));
}

// The lines that move data, in the file's order; what the others do is only arithmetic.
static void print_lines(const Lesson *lesson, const json_t *kernel)
{
    json_t *lines = json_object_get(kernel, "lines");
    size_t n = json_array_size(lines), i;
    json_t **sorted = malloc((n + 1) * sizeof *sorted), *line;
    json_array_foreach(lines, i, line) sorted[i] = line;
    qsort(sorted, n, sizeof *sorted, by_place);
    double all = counter(kernel, "smsp__inst_executed", "");
    if (n) printf("\n  By source line, those that move data:\n");
    for (i = 0; i < n; i++) print_line(lesson, sorted[i], all);
    free(sorted);
}

static void print_kernel(const Lesson *lesson, const json_t *check, const json_t *kernel)
{
    int launches = (int)number_of(kernel, "launches");
    char *words =
        text_format("%s: %d launch%s, ~%.1f µs predicted", text_of(kernel, "signature"), launches,
                    launches == 1 ? "" : "es", number_of(kernel, "time_ns") / 1e3);
    fputc('\n', stdout);
    text_flow(stdout, 0, 2, words);
    print_counters(json_object_get(kernel, "counters"), json_object_get(check, "estimates"));
    print_lines(lesson, kernel);
    free(words);
}

// What copies and the host's own accesses have moved: the check's counters, less its kernels'.
static void print_rest(const json_t *check)
{
    const char *name;
    json_t *value, *kernel, *rest = json_object();
    size_t i;
    bool any = false;
    json_object_foreach(json_object_get(check, "counters"), name, value)
    {
        json_int_t left = json_integer_value(value);
        json_array_foreach(json_object_get(check, "by_kernel"), i, kernel) left -=
            json_integer_value(json_object_get(json_object_get(kernel, "counters"), name));
        json_object_set_new(rest, name, json_integer(left));
        any |= left != 0;
    }
    if (any) {
        printf("\nOutside the kernels\n");
        print_counters(rest, NULL);
    }
    json_decref(rest);
}

// The other checks that claims are about.
static void print_others(const Lesson *lesson, const json_t *result, const json_t *check)
{
    const char *told = text_of(check, "check");
    size_t i;
    json_t *claim;
    json_array_foreach(json_object_get(result, "claims"), i, claim)
    {
        const char *other = text_of(claim, "check");
        if (strcmp(other, told) == 0) continue;
        char *words = text_format("Another check is measured as well: CHECK=%s make profile-%d",
                                  other, lesson->number);
        say(0, "%s", words);
        free(words);
        return;
    }
}

static void print_profile(const Lesson *lesson, const json_t *result, const json_t *check)
{
    const char *verdict = text_of(result, "verdict");
    char *name = text_spaced(text_of(check, "check"));
    int calls = (int)number_of(check, "calls");
    say_state(outcome_colour(verdict), "PROFILE", "lesson %d: %s. Check \"%s\", %d call%s, on %s",
              lesson->number, verdict, name, calls, calls == 1 ? "" : "s",
              text_of(result, "device"));
    print_bounds(result, check);
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(check, "by_kernel"), i, kernel)
        print_kernel(lesson, check, kernel);
    print_rest(check);
    fputc('\n', stdout);
    say(0, "Predicted times come from a model of the device, with its caches and its queues. They "
           "are not measurements: half of them are off by less than a tenth.");
    print_others(lesson, result, check);
    free(name);
}

// CHECK names none, or no kernel ran: the verdict says why.
static int refuse(const json_t *result, const char *said)
{
    const char *name = getenv("CHECK");
    size_t i;
    json_t *check;
    if (!name || !*name || !json_array_size(json_object_get(result, "checks"))) {
        copy_out(said);
        printf("  There is no profile: no kernel ran.\n");
        return 1;
    }
    char *words = text_format("There is no check '%s'. There are:", name), *longer;
    json_array_foreach(json_object_get(result, "checks"), i, check)
    {
        longer = text_format("%s %s", words, text_of(check, "check"));
        free(words);
        words = longer;
    }
    text_paragraph(stdout, 0, words);
    free(words);
    return 1;
}

int profile(const Lesson *lesson)
{
    mkdir("build/profile", 0777);
    char *said = text_format("build/profile/%s.txt", lesson->name);
    json_t *before = found_before(lesson),
           *result = before ? before : outcome_grade(lesson, lesson->exercise, said);
    const json_t *check = choose_check(result);
    int status = 0;
    if (check && has_kernels(check)) print_profile(lesson, result, check);
    else status = refuse(result, said);
    json_decref(result);
    free(said);
    return status;
}
