// A viva: the file and its mutants are graded as a class's submissions are, a few at a time, until
// three verdicts are found that differ from each other and from the file's.
#define _GNU_SOURCE
#include "file.h"
#include "integrity.h"
#include "text.h"
#include "verdict.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { QUESTIONS = 3, AT_ONCE = 6, MOST = 24 };

// What grading a file finds.
typedef struct Outcome {
    enum verdict verdict;
    int step; // of the ladder; -1: none
} Outcome;

typedef struct Viva {
    const Graded *of;
    char *folder;         // GRADES/viva/PSEUDONYM
    Submission file;      // as it is
    Outcome whole;        // of the file as it is
    const Mutant *mutant; // in the order in which they are tried
    Submission tried[MOST];
    Outcome outcome[MOST];
    size_t count; // of those that were graded
    size_t chosen[QUESTIONS], questions;
} Viva;

// Puts a text where a submission's sealed copy would be.
static bool prepare(const Viva *v, const Mutant *m, Submission *s)
{
    char *text = mutant_text(v->of->sealed, m);
    if (!text) return file_amiss(v->of->sealed);
    *s = (Submission){ .student = v->of->pseudonym,
                       .lesson = v->of->lesson,
                       .variant = v->of->variant };
    secret_hash(text, strlen(text), s->hash);
    snprintf(s->pseudonym, sizeof s->pseudonym, "%s", v->of->pseudonym);
    char *home = text_format("%s/%s", v->folder, s->hash);
    s->result = text_format("%s/result.json", home);
    s->words = text_format("%s/words.txt", home);
    bool good = class_seal(s, home, text, strlen(text)) || file_amiss(s->sealed);
    free(text);
    free(home);
    return good;
}

static Outcome read_outcome(const Submission *s)
{
    json_t *result = json_load_file(s->result, 0, NULL),
           *step = json_object_get(json_object_get(result, "score"), "step");
    Outcome o = { .verdict =
                      verdict_from_word(json_string_value(json_object_get(result, "verdict"))),
                  .step = json_is_integer(step) ? (int)json_integer_value(step) : -1 };
    json_decref(result);
    return o;
}

static bool grade(const Viva *v, Submission *s, Outcome *outcome, size_t count, const char *root)
{
    Class c = { .grades = v->folder, .submission = s, .count = count };
    c.graded = s == &v->file ? "file" : "changed files";
    if (!class_run(&c, root, (int)sysconf(_SC_NPROCESSORS_ONLN))) return false;
    for (size_t n = 0; n < count; n++) outcome[n] = read_outcome(&s[n]);
    return true;
}

// "SLOW at step 1"; the caller frees it.
static char *words_of(Outcome o)
{
    const char *word = verdict_word(o.verdict);
    return o.step < 0 ? strdup(word) : text_format("%s at step %d", word, o.step);
}

static bool same(Outcome a, Outcome b) { return a.verdict == b.verdict && a.step == b.step; }

// A change that the grader doesn't see is no question, nor is one that the compiler sees.
static bool may_ask(const Viva *v, size_t n)
{
    enum verdict is = v->outcome[n].verdict;
    return !same(v->outcome[n], v->whole) && is != VERDICT_GRADER_ERROR && is != VERDICT_BUILD
        && is != VERDICT_NODEVICE && is != VERDICT_TODO;
}

// Does a question ask about the same line, or (verdicts) end in the same verdict?
static bool is_taken(const Viva *v, size_t n, bool verdicts)
{
    for (size_t q = 0; q < v->questions; q++) {
        size_t m = v->chosen[q];
        if (v->mutant[m].line == v->mutant[n].line) return true;
        if (verdicts && same(v->outcome[m], v->outcome[n])) return true;
    }
    return false;
}

// Takes the first mutants that can be asked about.
static void take(Viva *v, bool verdicts)
{
    for (size_t n = 0; n < v->count && v->questions < QUESTIONS; n++)
        if (may_ask(v, n) && !is_taken(v, n, verdicts)) v->chosen[v->questions++] = n;
}

// Chooses what to ask. True: the verdicts differ, and no more need be tried.
static bool choose(Viva *v)
{
    v->questions = 0;
    take(v, true);
    bool differ = v->questions == QUESTIONS;
    take(v, false);
    return differ;
}

static void print_words(const char *path)
{
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    while (f && getline(&line, &room, f) > 0) printf("      %s", line);
    free(line);
    if (f) fclose(f);
}

static void print_question(const Viva *v, size_t q, bool answers)
{
    const size_t n = v->chosen[q];
    const Mutant *m = &v->mutant[n];
    char *before = text_clean(m->before), *now = text_clean(m->now);
    printf("\n%zu. Line %d, `%s`, ", q + 1, m->line, before);
    if (*now) printf("becomes `%s`.", now);
    else printf("is deleted.");
    puts(" Which verdict, and why?");
    if (answers) {
        char *verdict = words_of(v->outcome[n]);
        printf("   Answer: %s\n", verdict);
        print_words(v->tried[n].words);
        free(verdict);
    }
    free(before);
    free(now);
}

static int finish(const Viva *v, bool answers)
{
    char *verdict = words_of(v->whole);
    printf("Viva of %s, exercises/%s.cu (SHA-256 %.12s...), which is %s\n", v->of->pseudonym,
           v->of->lesson, v->file.hash, verdict);
    free(verdict);
    for (size_t q = 0; q < v->questions; q++) print_question(v, q, answers);
    if (!answers) puts("\nThe device's answers: the same command with ANSWERS=1");
    if (v->questions == QUESTIONS) return 0;
    fflush(stdout);
    fprintf(stderr,
            "%s: of %zu changes, fewer than three lead to another verdict. Ask about another "
            "lesson.\n",
            v->of->sealed, v->count);
    return 1;
}

// The folder of the mutants, which no other run writes to.
static bool open_folder(Viva *v, const char *grades)
{
    v->folder = text_format("%s/viva/%s", grades, v->of->pseudonym);
    bool good = folder_make(v->folder) || file_amiss(v->folder);
    int folder = good ? open(v->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (good && (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) < 0)) good = file_amiss(v->folder);
    return good; // the lock goes with the process
}

static bool passes(const Viva *v)
{
    const enum verdict is = v->whole.verdict;
    if (is == VERDICT_PASS || is == VERDICT_SLOW) return true;
    fprintf(stderr,
            "%s: its verdict is %s. A viva changes a file that is right: ask about another "
            "lesson.\n",
            v->of->sealed, verdict_word(is));
    return false;
}

int viva_ask(const char *grades, const char *root, const Graded *of, bool answers)
{
    Viva v = { .of = of };
    size_t all;
    if (!open_folder(&v, grades) || !prepare(&v, NULL, &v.file)
        || !grade(&v, &v.file, &v.whole, 1, root) || !passes(&v))
        return 1;
    char *whose = text_format("%s %s", of->lesson, of->pseudonym);
    v.mutant = mutants_list(of->sealed, of->lesson, whose, &all);
    free(whose);
    if (all > MOST) all = MOST;
    for (bool done = false; !done && v.count < all;) {
        size_t first = v.count;
        while (v.count < all && v.count < first + AT_ONCE) {
            if (!prepare(&v, &v.mutant[v.count], &v.tried[v.count])) return 1;
            v.count++;
        }
        if (!grade(&v, v.tried + first, v.outcome + first, v.count - first, root)) return 1;
        done = choose(&v);
    }
    return finish(&v, answers);
}
