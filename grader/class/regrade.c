// Regrading: what is graded anew lies beside the result that stands, as NN-name.regraded.json, and
// takes its place only with APPLY=1 and a line in the log. What it replaces stays too, as
// NN-name.N.json, where N is the number of that line.
#define _GNU_SOURCE
#include "command.h"
#include "file.h"
#include "text.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Counts {
    size_t all, changed, kept, faults;
} Counts;

// "DIR/NN-name.WORD.json" of "DIR/NN-name.json"; the caller frees it.
static char *beside(const char *path, const char *word)
{
    const char *dot = strrchr(path, '.');
    return text_format("%.*s.%s%s", (int)(dot - path), path, word, dot);
}

static Submission proposed(const Submission *s)
{
    Submission p = *s;
    p.result = beside(s->result, "regraded");
    p.words = beside(s->words, "regraded");
    return p;
}

// The proposal is of this file, and of the grader and toolkit that are here.
static bool is_current(const Submission *p)
{
    json_t *mark = standing_read(p, p->result);
    const char *version = json_string_value(json_object_get(mark, "version")),
               *toolkit = json_string_value(json_object_get(mark, "toolkit"));
    bool current =
        mark && strcmp(version, class_version()) == 0 && strcmp(toolkit, class_toolkit()) == 0;
    json_decref(mark);
    return current;
}

// The submissions that are meant and have a result. A newer file is no matter of regrading.
static Class meant(const Class *c, const Words *w)
{
    Class some = *c;
    some.submission = calloc(c->count + 1, sizeof *some.submission);
    some.count = 0;
    for (size_t n = 0; n < c->count; n++) {
        const Submission *s = &c->submission[n];
        // A group's result is regraded once: for its first member, or for the one who is meant.
        if (!s->sealed || !command_means(w, s) || (s->shared && !w->pseudonym)) continue;
        if (class_is_graded(s)) {
            some.submission[some.count] = *s;
            some.submission[some.count++].shared = false;
            continue;
        }
        char *name = command_name(s);
        printf("Not graded yet: %s. Type: make grade\n", name);
        free(name);
    }
    return some;
}

// Grades what is meant, beside the results that stand. What was shown before is applied as it was
// shown.
static bool grade_beside(const Class *some, const Words *w, Submission *proposal)
{
    char root[PATH_MAX];
    Class anew = *some;
    anew.submission = proposal;
    anew.graded = "files";
    for (size_t n = 0; n < some->count; n++) {
        proposal[n] = proposed(&some->submission[n]);
        if (!w->apply || !is_current(&proposal[n])) unlink(proposal[n].result);
    }
    return getcwd(root, sizeof root) && class_run(&anew, root, (int)sysconf(_SC_NPROCESSORS_ONLN));
}

// ---- One result takes the place of another

static bool keep_old(const char *path, size_t number)
{
    char *word = text_format("%zu", number), *kept = beside(path, word);
    bool good = link(path, kept) == 0 || errno == EEXIST || errno == ENOENT;
    free(word);
    free(kept);
    return good;
}

static bool take_place(const Submission *s, const Submission *p, size_t number)
{
    bool good = keep_old(s->result, number) && keep_old(s->words, number)
             && (rename(p->words, s->words) == 0 || errno == ENOENT)
             && rename(p->result, s->result) == 0;
    if (!good) file_amiss(s->result);
    return good;
}

static json_t *hash_of(const char *path)
{
    char digits[HASH_DIGITS + 1] = "";
    size_t count;
    char *text = file_read(path, &count);
    if (text) secret_hash(text, count, digits);
    free(text);
    return json_string(digits);
}

// A run that was killed between the log's line and the files goes on here: the log has the line of
// this very result already.
static const json_t *line_of(const Submission *s, const json_t *result)
{
    const json_t *line = log_last("regrade", s->pseudonym, s->lesson);
    return json_equal(json_object_get(json_object_get(line, "new"), "result"), result) ? line
                                                                                       : NULL;
}

// ---- All of them

static void show(const Submission *s, const json_t *old, const json_t *new)
{
    char *name = command_name(s), *was = standing_words(old), *now = standing_words(new);
    printf("%s: %s -> %s\n", name, was, now);
    free(name);
    free(was);
    free(now);
}

static bool same(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "verdict"), json_object_get(b, "verdict"))
        && json_equal(json_object_get(a, "step"), json_object_get(b, "step"))
        && json_equal(json_object_get(a, "gold"), json_object_get(b, "gold"))
        && standing_points(a) == standing_points(b);
}

// Is it somebody's submission with this result: the student's, or a member's of the group?
static bool is_theirs(const Submission *member, const Submission *s)
{
    return member->sealed && strcmp(member->result, s->result) == 0;
}

// May the proposal stand for all whose result it is?
static bool may_stand(const Class *c, const Words *w, const Submission *s, const Submission *p)
{
    bool may = true;
    for (size_t n = 0; n < c->count; n++) {
        const Submission *m = &c->submission[n];
        if (!is_theirs(m, s)) continue;
        json_t *new = standing_overridden(m, standing_read(p, p->result));
        may = standing_may_stand(w, m, new) && may;
        json_decref(new);
    }
    return may;
}

// The line of the log for a member, written if it is not there yet; NULL: it cannot be.
static const json_t *log_member(const Words *w, const Submission *m, const Submission *p,
                                json_t *hash)
{
    json_t *old = standing_overridden(m, standing_read(m, m->result)),
           *new = standing_overridden(m, standing_read(p, p->result));
    json_object_set(new, "result", hash);
    const json_t *line = line_of(m, hash);
    if (!line) {
        json_t *fresh = command_line(w, "regrade", m);
        json_object_set(fresh, "old", old);
        json_object_set(fresh, "new", new);
        line = log_add(fresh) ? line_of(m, hash) : NULL;
    }
    json_decref(old);
    json_decref(new);
    return line;
}

// First the lines of all whose result it is, then the files, which are named after the last line.
static bool apply(const Class *c, const Words *w, const Submission *s, const Submission *p)
{
    json_t *hash = hash_of(p->result);
    const json_t *line = NULL;
    bool good = true;
    for (size_t n = 0; good && n < c->count; n++)
        if (is_theirs(&c->submission[n], s))
            good = (line = log_member(w, &c->submission[n], p, hash));
    json_decref(hash);
    return good && take_place(s, p, (size_t)json_integer_value(json_object_get(line, "n")));
}

// False: something could not be written.
static bool settle(const Class *c, const Words *w, const Submission *s, const Submission *p,
                   Counts *counts)
{
    json_t *old = standing_overridden(s, standing_read(s, s->result)),
           *new = standing_overridden(s, standing_read(p, p->result));
    bool good = true, fault = !new || standing_is_fault(new);
    if (fault) {
        char *name = command_name(s);
        printf("Not graded anew: %s. The grader failed; its words are in %s\n", name, p->words);
        free(name);
        counts->faults++;
    } else {
        if (!same(old, new)) show(s, old, new);
        counts->changed += !same(old, new);
        bool may = may_stand(c, w, s, p);
        counts->kept += !may;
        if (w->apply && may) good = apply(c, w, s, p);
    }
    counts->all++;
    json_decref(old);
    json_decref(new);
    return good;
}

int regrade(Class *c, const Words *w)
{
    Class some = meant(c, w);
    Submission *proposal = calloc(some.count + 1, sizeof *proposal);
    Counts counts = { 0 };
    if (!some.count) {
        fprintf(stderr, "There is nothing to grade anew. Type: make grade\n");
        return 1;
    }
    if (c->rules.gpu_counts) {
        fprintf(stderr,
                "%s: gpu = \"counts\" has marks that a GPU has a part in, and a regrade is of the "
                "simulated device alone. Set gpu = \"told\", regrade, set it back, and type: make "
                "grade GPU=1\n",
                c->rules.path);
        return 1;
    }
    if (!trust_find() || !grade_beside(&some, w, proposal)) return 1;
    for (size_t n = 0; n < some.count; n++)
        if (!settle(c, w, &some.submission[n], &proposal[n], &counts)) return 1;
    printf("%zu graded anew by %s: %zu marks would change, %zu would not\n", counts.all,
           class_version(), counts.changed, counts.all - counts.changed - counts.faults);
    if (!w->apply) {
        printf("Nothing was changed. To apply this, add APPLY=1\n");
        return counts.faults > 0;
    }
    printf("Applied: %zu results, with a line each in %s/log.jsonl\n",
           counts.all - counts.kept - counts.faults, c->grades);
    return command_write_book(c, counts.faults || counts.kept);
}

void regrade_say_older(const Class *c)
{
    size_t older = 0;
    for (size_t n = 0; n < c->count; n++) {
        json_t *mark = c->submission[n].sealed
                         ? standing_read(&c->submission[n], c->submission[n].result)
                         : NULL;
        const char *version = json_string_value(json_object_get(mark, "version"));
        older += version && strcmp(version, class_version()) != 0;
        json_decref(mark);
    }
    if (older)
        printf("%zu results are of another version than %s, and stand. To see what it would "
               "change, type: make regrade\n",
               older, class_version());
}
