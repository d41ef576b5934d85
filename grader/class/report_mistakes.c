// What was wrong: a cause of the simulated device in the words that the first student of it was
// told, a claim, or what a check says of a wrong answer.
#define _GNU_SOURCE
#include "file.h"
#include "report.h"
#include "text.h"
#include "verdict.h"
#include <stdlib.h>
#include <string.h>

typedef struct Mistakes {
    Mistake *mistake;
    size_t count;
} Mistakes;

// Takes cause and words over.
static void count_one(Mistakes *all, const char *lesson, char *cause, char *words)
{
    for (Mistake *m = all->mistake; m < all->mistake + all->count; m++) {
        if (strcmp(m->lesson, lesson) || strcmp(m->cause, cause)) continue;
        m->count++;
        free(cause);
        free(words);
        return;
    }
    all->mistake = reallocarray(all->mistake, all->count + 1, sizeof *all->mistake);
    all->mistake[all->count++] = (Mistake){ lesson, cause, words, 1 };
}

// Each claim that does not hold and that the next step wants, by its name. Returns whether there is
// one.
static bool count_claims(Mistakes *all, const Mark *m, const json_t *claims)
{
    size_t n;
    const json_t *claim;
    bool any = false;
    json_array_foreach(claims, n, claim)
    {
        const char *verdict = text_of(claim, "verdict"), *name = text_of(claim, "name");
        bool is_later = m->step >= 0 && number_of(claim, "step") > m->step + 1;
        if (!*name || strcmp(verdict, m->verdict) != 0 || is_later) continue;
        char *words = text_format("%s: %s", m->verdict, name);
        count_one(all, m->lesson, strdup(words), words);
        any = true;
    }
    return any;
}

static char *with_meaning(const char *verdict)
{
    const Meaning *m = report_meaning(verdict);
    return text_format("%s%s%s", verdict, m ? ": " : "", m ? m->happened : "");
}

// The fact that decides (record.h): its device's cause, or kind of error, is what several share;
// where there is neither, what the check says of a wrong answer; else nothing but the verdict.
static void count_fact(Mistakes *all, const Mark *m, const json_t *fact)
{
    const char *cause = text_of(fact, "cause"), *says = text_of(fact, "says"),
               *why = text_of(fact, "why");
    if (!*cause) cause = text_of(fact, "kind");
    bool wrong = strcmp(text_of(fact, "verdict"), verdict_word(VERDICT_WRONG)) == 0;
    char *words, *name = text_spaced(cause);
    if (*cause && *says)
        words = text_format("%s, as in: %s.%s%s", m->verdict, says, *why ? " " : "", why);
    else if (*cause) words = text_format("%s: %s", m->verdict, name);
    else if (wrong && *why) words = text_format("%s: %s", m->verdict, why);
    else words = with_meaning(m->verdict);
    count_one(all, m->lesson, *cause ? text_format("%s: %s", m->verdict, cause) : strdup(words),
              words);
    free(name);
}

static void count_mark(Mistakes *all, const Mark *m)
{
    json_t *result = json_load_file(m->submission->result, 0, NULL);
    const json_t *fact = json_object_get(result, "fact");
    if (fact) count_fact(all, m, fact);
    else if (!count_claims(all, m, json_object_get(result, "claims"))) {
        char *words = with_meaning(m->verdict);
        count_one(all, m->lesson, strdup(words), words);
    }
    json_decref(result);
}

// Does the mark say what is wrong with a file? Others say that there is none, that it is not done,
// or that the grader failed.
static bool is_mistake(const Mark *m)
{
    enum verdict v = verdict_from_word(m->verdict); // of what is no verdict it is GRADER_ERROR
    return v != VERDICT_PASS && v != VERDICT_TODO && v != VERDICT_GRADER_ERROR
        && v != VERDICT_NODEVICE;
}

static int by_count(const void *a, const void *b)
{
    const Mistake *m = a, *o = b;
    if (m->count != o->count) return m->count < o->count ? 1 : -1;
    int order = strcmp(m->lesson, o->lesson);
    return order ? order : strcmp(m->words, o->words);
}

Mistake *report_mistakes(const Class *c, size_t *count)
{
    Mistakes all = { 0 };
    for (const Mark *m = c->mark; m < c->mark + c->marks; m++)
        if (m->submission && is_mistake(m)) count_mark(&all, m);
    if (all.count) qsort(all.mistake, all.count, sizeof *all.mistake, by_count);
    *count = all.count;
    return all.mistake;
}
