// The verdict as the student reads it: first the state, then one cause, one
// place and one next step, in at most 72 columns.
#define _GNU_SOURCE
#include "diagnosis.h"
#include "peer.h"
#include "picture.h"
#include "result.h"
#include "run.h"
#include "step.h"
#include "text.h"
#include "variant.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

enum { OUTPUT_LINES = 20, INDENT = 2 };

static void print_state(const Result *r, FILE *out, const char *words)
{
    const char *gold = r->gold == GOLD_KEPT ? "gold, " : "";
    char *title = variant_title(atoi(r->lesson)),
         *line = text_format("%s%s: %s", gold, title, words);
    text_state(out, verdict_colour(r->verdict), verdict_word(r->verdict), line);
    free(title);
    free(line);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

// The student's own file as it was typed, any other by its last name.
static const char *shown_file(const Result *r, const char *file)
{
    return strcmp(basename(file), basename(r->submission)) == 0 ? r->submission : basename(file);
}

static char *triple(const json_t *array)
{
    int n[3] = { 0 };
    for (size_t i = 0; i < 3; i++) n[i] = (int)json_integer_value(json_array_get(array, i));
    return text_format("(%d,%d,%d)", n[0], n[1], n[2]);
}

// Of what was compiled without lines no more may be known.
static bool is_kernel_alone(const json_t *fact)
{
    return text_of(fact, "kernel") && !text_of(fact, "file") && !json_object_get(fact, "block")
        && !json_object_get(fact, "thread");
}

// "exercises/05-transpose.cu:14, block (2,0,0), thread (33,0,0), in transpose", or NULL.
static char *place_words(const Result *r, const json_t *fact)
{
    const char *file = text_of(fact, "file"), *kernel = text_of(fact, "kernel");
    int line = (int)json_integer_value(json_object_get(fact, "line"));
    char *words = NULL, *text;
    size_t bytes;
    FILE *f = open_memstream(&words, &bytes);

    if (file && line) fprintf(f, ", %s:%d", shown_file(r, file), line);
    else if (file) fprintf(f, ", %s", shown_file(r, file));
    static const char *const names[] = { "block", "thread" };
    for (int i = 0; i < 2; i++)
        if (json_object_get(fact, names[i])) {
            fprintf(f, ", %s %s", names[i], text = triple(json_object_get(fact, names[i])));
            free(text);
        }
    if (kernel) {
        fprintf(f, ", %s%s", is_kernel_alone(fact) ? "" : "in ", text = text_function(kernel));
        free(text);
    }
    fclose(f);

    text = bytes ? text_clean(words + 2) : NULL;
    free(words);
    return text;
}

static void print_place(const Result *r, FILE *out, const char *before, const json_t *fact)
{
    char *words = fact ? place_words(r, fact) : NULL;
    if (words) {
        if (is_kernel_alone(fact)) before = "In ";
        fprintf(out, "%*s%s", INDENT, "", before);
        text_flow(out, INDENT + (int)strlen(before), INDENT + 2, words);
    }
    free(words);
}

// A sentence: with a full stop, if it has no end yet.
static void print_sentence(FILE *out, const char *text)
{
    size_t n = strlen(text);
    char *sentence = text_format("%s%s", text, n && strchr(".!?:", text[n - 1]) ? "" : ".");
    text_paragraph(out, INDENT, sentence);
    free(sentence);
}

static void print_next(const Result *r, FILE *out, const char *next)
{
    size_t n = strlen(next);
    char *line = text_format("Next: %s%s", next, n && strchr(".!?", next[n - 1]) ? "" : ".");
    char *again = text_format("Again: %s", r->again);
    if (INDENT + text_columns(line) + 1 + text_columns(again) <= (size_t)text_width()) {
        fprintf(out, "%*s%s %s\n", INDENT, "", line, again);
    } else {
        text_paragraph(out, INDENT, line);
        text_paragraph(out, INDENT, again);
    }
    free(line);
    free(again);
}

// What the program printed, its lines as they are but marked and cleaned, before our own words.
static void print_output(const Result *r, FILE *out)
{
    const json_t *record = diagnose_output(r);
    const char *text = record ? text_of(record, "output") : NULL;
    if (!text || !*text) return;
    for (int line = 0; *text && line < OUTPUT_LINES; line++) {
        size_t n = strcspn(text, "\n");
        char *part = strndup(text, n), *clean = text_clean(part);
        fprintf(out, "| %s\n", clean);
        free(part);
        free(clean);
        text += n + (text[n] == '\n');
    }
    if (*text || json_is_true(json_object_get(record, "output_cut")))
        fprintf(out, "| ... (more of it is not shown)\n");
}

// ---- Claims ----

static char *bounds(const Claim *c, int digits)
{
    if (isinf(c->at_most) && isinf(c->at_least)) return strdup("");
    if (isinf(c->at_most)) return text_format("at least %.*f", digits, c->at_least);
    if (isinf(c->at_least)) return text_format("at most %.*f", digits, c->at_most);
    return text_format("%.*f to %.*f", digits, c->at_least, digits, c->at_most);
}

// Two digits, but four where two would show a bound as kept that is not, and none for hundreds, or
// thousands of a floor.
static int digits_for(const Finding *f)
{
    double most = isfinite(f->claim->at_most) ? f->claim->at_most : f->claim->gold;
    if (isfinite(most) && most >= 100) return 0;
    if (claim_is_floor(f->claim) && f->claim->at_least >= 1000) return 0;
    bool over = f->verdict == VERDICT_SLOW && !claim_is_floor(f->claim);
    double bound = over ? f->claim->at_most : f->claim->at_least;
    bool failed = f->verdict == VERDICT_SLOW || f->verdict == VERDICT_SUSPECT;
    return failed && fabs(f->value - bound) < 0.01 ? 4 : 2;
}

// Is it wanted by the steps that are reached, or by the next one? What later steps want would only
// be in the way.
static bool is_wanted(const Result *r, const Finding *f)
{
    return !r->ladder || ladder_mends(r->ladder) || f->verdict == VERDICT_SUSPECT
        || f->claim->step <= r->step + 1;
}

// What bounds gold alone is of interest to whoever passes.
static bool is_shown(const Result *r, const Finding *f)
{
    return is_wanted(r, f)
        && (r->verdict == VERDICT_PASS || isfinite(f->claim->at_least)
            || isfinite(f->claim->at_most) || f->verdict != VERDICT_PASS);
}

// The columns that the longest name takes.
static int name_width(const Result *r)
{
    size_t width = 0;
    for (size_t i = 0; i < r->findings; i++)
        if (is_shown(r, &r->finding[i]))
            width = MAX(width, text_columns(r->finding[i].claim->name));
    for (size_t i = 0; r->gpu && i < r->gpu->timings; i++)
        width = MAX(width, text_columns(r->gpu->timing[i].target->name));
    return (int)width;
}

// What a row that holds says, once everything does: how far gold is. Until then that would
// only be in the way.
static char *good_words(const Result *r, double gold, bool kept)
{
    if (r->verdict != VERDICT_PASS || !isfinite(gold)) return strdup("ok");
    return kept ? strdup("gold") : text_format("gold: %.*f", gold_digits(gold), gold);
}

// A row of the table; on a narrow terminal the name has a line of its own.
static void print_row(FILE *out, const char *name, int width, const char *value, const char *unit,
                      const char *range, const char *state)
{
    if (text_width() < TEXT_COLUMNS) {
        char *row = text_format("%s %s%s%s: %s", value, unit, *range ? ", " : "", range, state);
        fprintf(out, "%*s%s\n", INDENT, "", name);
        text_paragraph(out, 2 * INDENT, row);
        free(row);
    } else {
        fprintf(out, "%*s%-*s %7s %-12s %-13s %s\n", INDENT, "", width, name, value, unit, range,
                state);
    }
}

static void print_claim(const Result *r, FILE *out, const Finding *f, int name)
{
    int digits = digits_for(f);
    char *range = bounds(f->claim, digits);
    char *value = text_format("%s%.*f", f->estimate ? "~" : "", digits, f->value);
    char *good = good_words(r, f->claim->gold, finding_is_gold(f));
    bool few = f->verdict == VERDICT_SUSPECT || claim_is_floor(f->claim);
    const char *state = f->verdict == VERDICT_PASS         ? good
                      : f->verdict == VERDICT_GRADER_ERROR ? "unknown"
                      : claim_is_figure(f->claim)          ? (few ? "too small" : "too large")
                      : few                                ? "too few"
                                                           : "too many";
    print_row(out, f->claim->name, name, value, claim_unit(f->claim), range, state);
    free(range);
    free(value);
    free(good);
}

static void print_claims(const Result *r, FILE *out)
{
    int name = name_width(r);
    for (size_t i = 0; i < r->findings; i++)
        if (is_shown(r, &r->finding[i])) print_claim(r, out, &r->finding[i], name);
}

// ---- On a GPU ----

static bool is_copy(const Timing *t) { return strcmp(t->target->peer, PEER_COPY) == 0; }

// What a row says of gold; "gold? 1.40" where it cannot be told.
static char *good_timing(const Result *r, const Timing *t)
{
    bool unsure = r->verdict == VERDICT_PASS && t->gold == BOUND_UNSURE;
    return unsure ? text_format("gold? %.2f", t->target->gold)
                  : good_words(r, t->target->gold, timing_is_gold(t));
}

// A row of the same table.
static void print_timing(const Result *r, FILE *out, const Timing *t, int name)
{
    char *range = text_format("at least %.2f", t->target->at_least);
    char *value = t->missing ? strdup("-") : text_format("%.2f", t->ratio.median);
    const char *unit = is_copy(t) ? "x the copy" : "x the peer";
    char *good = good_timing(r, t);
    const char *state = t->verdict == VERDICT_SLOW             ? "too slow"
                      : t->verdict == VERDICT_SUSPECT          ? "too fast"
                      : t->verdict != VERDICT_PASS             ? "unknown"
                      : t->least == BOUND_UNSURE || t->missing ? "not judged"
                                                               : good;
    print_row(out, t->target->name, name, value, unit, range, state);
    free(range);
    free(value);
    free(good);
}

// Has it been said, or is it about gold and of no interest yet? Beside each peer the same may be
// amiss.
static bool is_said(const Result *r, size_t i)
{
    const GpuRun *g = r->gpu;
    const Timing *t = &g->timing[i];
    if (r->verdict != VERDICT_PASS && t->verdict == VERDICT_PASS && t->least == BOUND_KEPT)
        return true;
    for (size_t k = 0; k < i; k++)
        if (g->timing[k].words && strcmp(g->timing[k].words, g->timing[i].words) == 0) return true;
    return false;
}

static void print_timings(const Result *r, FILE *out)
{
    const GpuRun *g = r->gpu;
    int name = name_width(r);
    for (size_t i = 0; i < g->timings; i++) {
        print_timing(r, out, &g->timing[i], name);
        if (g->timing[i].words && !is_said(r, i)) print_sentence(out, g->timing[i].words);
    }
}

// How fast the first of what was timed is, beside its peer.
static char *speed_words(const Timing *t)
{
    double bytes = t->bytes;
    if (t->missing) return strdup("");
    if (is_copy(t))
        return text_format(" %.0f GB/s; a copy there: %.0f.", t->rate / 1e9, t->peer_rate / 1e9);
    return text_format(" %.4g µs a call; %s: %.4g.", 1e6 * bytes / t->rate, t->target->peer,
                       1e6 * bytes / t->peer_rate);
}

static void print_gpu(const Result *r, FILE *out)
{
    const GpuRun *g = r->gpu;
    if (!g) return;
    char *speeds = g->timings ? speed_words(&g->timing[0]) : strdup("");
    char *words =
        text_format("On the %s: right, %zu of %zu.%s", g->gpu.name, g->passed, g->checks, speeds);
    text_paragraph(out, INDENT, words);
    free(speeds);
    free(words);
    print_timings(r, out);
}

// ---- The ladder ----

static void print_step(const Result *r, FILE *out)
{
    char *words = r->ladder ? step_words(r) : NULL;
    if (words) text_paragraph(out, INDENT, words);
    free(words);
}

static void print_findings(const Result *r, FILE *out)
{
    const Finding *first = NULL;
    print_claims(r, out);
    print_step(r, out);
    for (size_t i = 0; i < r->findings; i++) {
        if (r->finding[i].verdict != r->behind || !r->finding[i].words
            || !is_wanted(r, &r->finding[i]))
            continue;
        if (first && r->behind == VERDICT_SUSPECT)
            break; // one is enough: the others follow from it
        print_sentence(out, r->finding[i].words);
        if (!first) first = &r->finding[i];
    }
    print_gpu(r, out);
    char *next = step_next(r, first, first && first->file ? shown_file(r, first->file) : NULL);
    print_next(r, out, next);
    free(next);
}

// What a right answer lacks for gold, and where that is explained.
static void print_lacks(const Result *r, FILE *out)
{
    if (r->gold != GOLD_MISSED) return;
    int version = 0; // that keeps every gold bound, also those that earlier versions keep
    bool any = false;
    for (size_t i = 0; i < r->findings; i++) {
        version = MAX(version, r->finding[i].claim->gold_version);
        if (!r->finding[i].lacks) continue;
        print_sentence(out, r->finding[i].lacks);
        any = true;
    }
    if (!any) return; // it is a GPU's clock that asks for more
    char *where =
        text_format("Our answer that is gold: make read-%d VERSION=%d", atoi(r->lesson), version);
    text_paragraph(out, INDENT, where);
    free(where);
}

// ---- The kinds of verdicts ----

// A picture that the kernels made. It lies beside the result: among the project's own as from the
// project's folder, and by its name where a class has its results.
static void print_picture(FILE *out, const char *name)
{
    char *path = picture_path(run_result(), name),
         *ours = text_format("%s/build/results/", run_root());
    bool within = strncmp(path, ours, strlen(ours)) == 0;
    char *line =
        text_format("Picture: %s", within ? path + strlen(run_root()) + 1 : basename(path));
    text_paragraph(out, INDENT, line);
    free(line);
    free(ours);
    free(path);
}

static void print_pictures(const Result *r, FILE *out)
{
    json_t *seen = json_object(), *record, *name;
    size_t i, k;
    json_array_foreach(r->records, i, record)
        json_array_foreach(json_object_get(record, "pictures"), k, name)
    {
        if (!json_object_get(seen, json_string_value(name)))
            print_picture(out, json_string_value(name));
        json_object_set_new(seen, json_string_value(name), json_true());
    }
    json_decref(seen);
}

// The names of the checks that failed, as a list.
static char *failed_names(const Result *r)
{
    char *names = NULL, *words;
    size_t bytes, i;
    json_t *record;
    FILE *f = open_memstream(&names, &bytes);
    json_array_foreach(r->records, i, record) if (record_verdict(record) != VERDICT_PASS)
        fprintf(f, "%s%s", ftell(f) ? ", " : "", text_of(record, "check"));
    fclose(f);
    words = text_spaced(names);
    free(names);
    return words;
}

static char *failed_words(const Result *r)
{
    if (r->ladder && ladder_mends(r->ladder)) return step_mended(r);
    size_t failed = r->checks - r->passed;
    if (!failed) return text_format("all %zu checks passed without a GPU", r->checks);
    if (r->checks == 1) return strdup("its check failed");
    if (!r->passed) return text_format("all %zu checks failed", r->checks);
    char *names = failed_names(r);
    char *words = text_format("%zu of %zu checks failed (%s)", failed, r->checks, names);
    free(names);
    return words;
}

static void print_also(const Diagnosis *d, FILE *out)
{
    if (!d->also) return;
    char *also =
        text_format("Also %s: %s", verdict_word(fact_verdict(d->also)), text_of(d->also, "says"));
    print_sentence(out, also);
    if (d->also_explains) print_sentence(out, text_of(d->also, "why"));
    free(also);
}

static void print_note(const Result *r, FILE *out, const json_t *note)
{
    if (!note) return;
    char *words = text_format("A call failed: %s", text_of(note, "says"));
    print_sentence(out, words);
    print_place(r, out, "At ", note);
    if (text_of(note, "why")) print_sentence(out, text_of(note, "why"));
    free(words);
}

static void print_fact(const Result *r, FILE *out)
{
    const json_t *fact = r->fact;
    Diagnosis d = diagnose_result(r);
    if (r->gpu) {
        char *where = text_format("On the %s, where %zu of %zu checks passed:", r->gpu->gpu.name,
                                  r->gpu->passed, r->gpu->checks);
        text_paragraph(out, INDENT, where);
        free(where);
    }
    print_sentence(out, text_of(fact, "says"));
    print_place(r, out, "At ", fact);
    print_place(r, out, "And ", json_object_get(fact, "other"));
    if (text_of(fact, "why")) print_sentence(out, text_of(fact, "why"));
    if (r->behind == VERDICT_WRONG) print_pictures(r, out);
    print_note(r, out, d.note);
    print_also(&d, out);
    print_next(r, out, d.next);
}

// What is wrong with what is there already.
static void print_so_far(const Result *r, FILE *out)
{
    char *words = text_format("What is there so far is %s:", verdict_word(r->behind));
    print_sentence(out, words);
    print_fact(r, out);
    free(words);
}

static void print_todo(const Result *r, FILE *out)
{
    char *place = text_format("%s:%d is yours to write", r->submission, r->todo_line);
    char *left = text_format("%d TODO line%s left; %zu of %zu checks pass so far.", r->todos,
                             r->todos == 1 ? " is" : "s are", r->passed, r->checks);
    char *next = text_format("Next: edit that line, then type: %s", r->again);
    int number = atoi(r->lesson);
    char *help = text_format("The text: make read-%d; a hint: make hint-%d", number, number);
    print_state(r, out, place);
    print_sentence(out, r->todo);
    text_paragraph(out, INDENT, left);
    text_paragraph(out, INDENT, help);
    if (r->touched && r->fact) print_so_far(r, out);
    else text_paragraph(out, INDENT, next);
    free(place);
    free(left);
    free(help);
    free(next);
}

// What a right answer is worth.
static char *worth_words(const Result *r)
{
    return r->ladder && ladder_mends(r->ladder) ? step_mended(r)
         : r->ladder     ? text_format("Step %d of %d, %d/10", r->step, r->ladder->steps, r->speed)
         : r->speed >= 0 ? text_format("Speed %d/10", r->speed)
                         : NULL;
}

// What a right answer leaves to luck.
static void print_unread(const Result *r, FILE *out)
{
    const char *slash = strrchr(r->submission, '/');
    if (!r->unread_line) return;
    char *words = text_format(
        "Note: nothing reads the error of the launch at %s:%d. If CUDA refuses the launch, "
        "the kernel does not run, and the program goes on. Call cudaGetLastError() after "
        "each launch.",
        slash ? slash + 1 : r->submission, r->unread_line);
    print_sentence(out, words);
    free(words);
}

static void print_right(const Result *r, FILE *out)
{
    char *worth = worth_words(r);
    char *words =
        r->behind == VERDICT_GRADER_ERROR
            ? text_format("not your fault; %zu of %zu are right", r->passed, r->checks)
        : r->behind == VERDICT_SUSPECT
            ? text_format("right, %zu of %zu, but with too little work", r->passed, r->checks)
            : text_format("right, %zu of %zu%s%s", r->passed, r->checks, worth ? ". " : "",
                          worth ? worth : "");
    print_state(r, out, words);
    free(words);
    free(worth);
    if (r->behind != VERDICT_PASS) {
        print_pictures(r, out);
        print_findings(r, out);
        return;
    }
    print_claims(r, out);
    print_step(r, out);
    print_gpu(r, out);
    print_lacks(r, out);
    print_pictures(r, out);
    print_unread(r, out);
    if (r->remark) print_sentence(out, r->remark);
    if (r->forward) {
        char *next = text_format("Next: %s. Beside our answer: make compare-%d", r->forward,
                                 atoi(r->lesson));
        text_paragraph(out, INDENT, next);
        free(next);
    }
}

void result_print(const Result *r, FILE *out)
{
    print_output(r, out);
    if (r->verdict == VERDICT_TODO) {
        print_todo(r, out);
        return;
    }
    if (!r->fact) {
        print_right(r, out);
        return;
    }

    bool library = json_object_get(r->fact, "library");
    char *words = r->behind < VERDICT_BUILD ? strdup("not your fault")
                : r->checks                 ? failed_words(r)
                : library ? strdup("it includes a library that the lesson does without")
                          : strdup("it does not compile");
    print_state(r, out, words);
    free(words);
    print_fact(r, out);
}
