// A viva: the file and its mutants are graded as a class's submissions are, a few at a time, until
// three verdicts that differ are found.
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

typedef struct Viva {
    const Graded *of;
    char *folder;         // GRADES/viva/PSEUDONYM
    Submission file;      // as it is
    const Mutant *mutant; // in the order in which they are tried
    Submission tried[MOST];
    size_t count; // of those that were graded
    size_t chosen[QUESTIONS], questions;
} Viva;

static bool say(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
}

static bool make_folder(const char *path) { return mkdir(path, 0700) == 0 || errno == EEXIST; }

static bool write_text(FILE *f, void *text) { return fputs(text, f) >= 0; }

// Puts a text where a submission's sealed copy would be.
static bool prepare(const Viva *v, const Mutant *m, Submission *s)
{
    char *text = mutant_text(v->of->sealed, m);
    if (!text) return say(v->of->sealed);
    *s = (Submission){ .student = v->of->pseudonym,
                       .lesson = v->of->lesson,
                       .variant = v->of->variant };
    secret_hash(text, strlen(text), s->hash);
    snprintf(s->pseudonym, sizeof s->pseudonym, "%s", v->of->pseudonym);
    char *home = text_format("%s/%s", v->folder, s->hash), *within;
    within = text_format("%s/exercises", home);
    s->sealed = text_format("%s/%s.cu", within, s->lesson);
    s->result = text_format("%s/result.json", home);
    s->words = text_format("%s/words.txt", home);
    bool good = make_folder(home) && make_folder(within) && file_write(s->sealed, write_text, text);
    free(text);
    free(home);
    free(within);
    return good || say(s->sealed);
}

static bool grade(const Viva *v, Submission *s, size_t count, const char *root)
{
    Class c = { .grades = v->folder, .submission = s, .count = count };
    return class_run(&c, root, (int)sysconf(_SC_NPROCESSORS_ONLN));
}

// The verdict of a submission; "STEP 1" of one that passes on a lower step than the file. The
// caller frees it.
static char *verdict_of(const Submission *s, const Submission *file)
{
    json_t *result = json_load_file(s->result, 0, NULL);
    const char *word = json_string_value(json_object_get(result, "verdict"));
    json_t *step = json_object_get(json_object_get(result, "score"), "step");
    char *verdict = strdup(word ? word : verdict_word(VERDICT_GRADER_ERROR));
    if (file && json_is_integer(step) && strcmp(verdict, "PASS") == 0) {
        json_t *whole = json_load_file(file->result, 0, NULL);
        json_t *most = json_object_get(json_object_get(whole, "score"), "step");
        if (json_integer_value(step) < json_integer_value(most)) {
            free(verdict);
            verdict = text_format("STEP %lld", (long long)json_integer_value(step));
        }
        json_decref(whole);
    }
    json_decref(result);
    return verdict;
}

static bool is_right(const char *verdict) { return !strcmp(verdict, verdict_word(VERDICT_PASS)); }

// Does a question ask about the same line, or (verdicts) end in the same verdict?
static bool is_taken(const Viva *v, size_t n, bool verdicts)
{
    bool taken = false;
    for (size_t q = 0; q < v->questions && !taken; q++) {
        size_t m = v->chosen[q];
        taken = m == n || v->mutant[m].line == v->mutant[n].line;
        if (taken || !verdicts) continue;
        char *one = verdict_of(&v->tried[n], &v->file), *two = verdict_of(&v->tried[m], &v->file);
        taken = strcmp(one, two) == 0;
        free(one);
        free(two);
    }
    return taken;
}

// Takes the first mutants that can be asked about: of those that fail, or of those that pass.
static void take(Viva *v, bool right, bool verdicts, size_t most)
{
    for (size_t n = 0; n < v->count && most && v->questions < QUESTIONS; n++) {
        char *verdict = verdict_of(&v->tried[n], &v->file);
        enum verdict is = verdict_from_word(verdict);
        bool asked = strncmp(verdict, "STEP", 4) == 0
                  || (is != VERDICT_GRADER_ERROR && is != VERDICT_BUILD && is != VERDICT_NODEVICE
                      && is != VERDICT_TODO);
        if (asked && is_right(verdict) == right && !is_taken(v, n, verdicts)) {
            v->chosen[v->questions++] = n;
            most--;
        }
        free(verdict);
    }
}

// Chooses what to ask. True: the verdicts differ, and no more need be tried.
static bool choose(Viva *v)
{
    v->questions = 0;
    take(v, false, true, QUESTIONS);
    bool differ = v->questions == QUESTIONS;
    take(v, true, true, v->questions ? 1 : 0);
    take(v, false, false, QUESTIONS);
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
    const Submission *s = &v->tried[v->chosen[q]];
    const Mutant *m = &v->mutant[v->chosen[q]];
    char *verdict = verdict_of(s, &v->file), *before = text_clean(m->before),
         *now = text_clean(m->now);
    printf("\n%zu. Line %d, `%s`, ", q + 1, m->line, before);
    if (*now) printf("becomes `%s`.", now);
    else printf("is deleted.");
    puts(is_right(verdict) ? " It still passes. What changes, and why is the answer still right?"
                           : " Which verdict, and why?");
    if (answers) {
        printf("   Answer: %s\n", verdict);
        print_words(s->words);
    }
    free(verdict);
    free(before);
    free(now);
}

static int finish(const Viva *v, bool answers)
{
    printf("Viva of %s, exercises/%s.cu (SHA-256 %.12s...)\n", v->of->pseudonym, v->of->lesson,
           v->file.hash);
    for (size_t q = 0; q < v->questions; q++) print_question(v, q, answers);
    if (!answers) puts("\nThe device's answers: the same command with ANSWERS=1");
    if (v->questions == QUESTIONS) return 0;
    fflush(stdout);
    fprintf(stderr, "%s: of %zu mutants no three can be asked about. Ask about another lesson.\n",
            v->of->sealed, v->count);
    return 1;
}

// The folder of the mutants, which no other run writes to.
static bool open_folder(Viva *v, const char *grades)
{
    char *all = text_format("%s/viva", grades);
    v->folder = text_format("%s/%s", all, v->of->pseudonym);
    bool good = (make_folder(all) && make_folder(v->folder)) || say(v->folder);
    int folder = good ? open(v->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (good && (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) < 0)) good = say(v->folder);
    free(all);
    return good; // the lock goes with the process
}

static bool passes(const Viva *v)
{
    char *verdict = verdict_of(&v->file, NULL);
    bool right = is_right(verdict) || !strcmp(verdict, verdict_word(VERDICT_SLOW));
    if (!right)
        fprintf(stderr,
                "%s: its verdict is %s. A viva changes a file that is right: ask about another "
                "lesson.\n",
                v->of->sealed, verdict);
    free(verdict);
    return right;
}

int viva_ask(const char *grades, const char *root, const Graded *of, bool answers)
{
    Viva v = { .of = of };
    size_t all;
    if (!open_folder(&v, grades) || !prepare(&v, NULL, &v.file) || !grade(&v, &v.file, 1, root)
        || !passes(&v))
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
        if (!grade(&v, v.tried + first, v.count - first, root)) return 1;
        done = choose(&v);
    }
    return finish(&v, answers);
}
