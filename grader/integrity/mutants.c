#define _GNU_SOURCE
#include "integrity.h"
#include "file.h"
#include "process.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// What mutate.sh lists, to be read. NULL: it failed.
static FILE *call_mutate(const char *file, const char *lesson)
{
    enum { SECONDS = 60 };
    int status = -1, list = memfd_create("mutants", MFD_CLOEXEC);
    const char *argv[] = { "sh", "grader/integrity/mutate.sh", file, lesson, NULL };
    pid_t pid = list < 0 ? -1
                         : process_start(&(Spawn){
                             .argv = argv, .from = { list }, .to = { 1 }, .descriptors = 1 });
    if (pid >= 0 && process_wait(pid, SECONDS, &status) && status == 0) {
        lseek(list, 0, SEEK_SET);
        return fdopen(list, "r");
    }
    process_sweep();
    if (list >= 0) close(list);
    return NULL;
}

// The n-th line of a text, from 1, and its bytes without the newline.
static const char *line_of(const char *text, int n, size_t *bytes)
{
    while (--n > 0 && strchr(text, '\n')) text = strchr(text, '\n') + 1;
    *bytes = strcspn(text, "\n");
    return text;
}

// A line's code: no blanks around it, no comment behind it; "" of a lone semicolon.
static char *code_of(const char *line, size_t bytes)
{
    char *copy = strndup(line, bytes), *comment = strstr(copy, "//"), *trimmed;
    if (comment) *comment = 0;
    size_t skip = strspn(copy, " \t"), end = strlen(copy);
    while (end > skip && strchr(" \t\r", copy[end - 1])) end--;
    trimmed = strndup(copy + skip, end - skip);
    if (strcmp(trimmed, ";") == 0) *trimmed = 0;
    free(copy);
    return trimmed;
}

char *mutant_text(const char *file, const Mutant *m)
{
    char *text = file_read(file, &(size_t){ 0 }), *all;
    size_t bytes;
    if (!text || !m) return text;
    const char *line = line_of(text, m->line, &bytes);
    all = text_format("%.*s%s%s", (int)(line - text), text, m->changed, line + bytes);
    free(text);
    return all;
}

// Of a kind of mistake, the mutants in the order of their keys; then the first of each kind, the
// second of each, and so on.
static int by_kind(const void *a, const void *b)
{
    const Mutant *m = a, *n = b;
    int order = (int)n->own - (int)m->own;
    if (!order) order = strcmp(m->rule, n->rule);
    return order ? order : strcmp(m->key, n->key);
}

typedef struct Turn {
    int of_kind;
    Mutant mutant;
} Turn;

static int by_turn(const void *a, const void *b)
{
    const Turn *t = a, *u = b;
    int order = (int)u->mutant.own - (int)t->mutant.own;
    if (!order) order = t->of_kind - u->of_kind;
    return order ? order : strcmp(t->mutant.key, u->mutant.key);
}

static void set_order(Mutant *all, size_t count)
{
    Turn *turn = calloc(count, sizeof *turn);
    qsort(all, count, sizeof *all, by_kind);
    for (size_t n = 0; n < count; n++) {
        bool same = n && all[n].own == all[n - 1].own && !strcmp(all[n].rule, all[n - 1].rule);
        turn[n] = (Turn){ .of_kind = same ? turn[n - 1].of_kind + 1 : 0, .mutant = all[n] };
    }
    qsort(turn, count, sizeof *turn, by_turn);
    for (size_t n = 0; n < count; n++) all[n] = turn[n].mutant;
    free(turn);
}

static Mutant read_mutant(char *row, const char *text, const char *whose)
{
    size_t bytes;
    Mutant m = { .line = atoi(strsep(&row, "\t")), .own = atoi(strsep(&row, "\t")) };
    m.rule = strdup(strsep(&row, "\t"));
    m.changed = strdup(row ? row : "");
    m.changed[strcspn(m.changed, "\n")] = 0;
    const char *line = line_of(text, m.line, &bytes);
    m.before = code_of(line, bytes);
    m.now = code_of(m.changed, strlen(m.changed));
    char *what = text_format("%s %d %s", whose, m.line, m.changed);
    secret_keyed("viva", what, m.key, SEED_DIGITS);
    free(what);
    return m;
}

Mutant *mutants_list(const char *file, const char *lesson, const char *whose, size_t *count)
{
    char *text = file_read(file, &(size_t){ 0 }), *row = NULL;
    FILE *list = text ? call_mutate(file, lesson) : NULL;
    Mutant *all = NULL;
    size_t room = 0;
    *count = 0;
    while (list && getline(&row, &room, list) > 0) {
        all = reallocarray(all, *count + 1, sizeof *all);
        all[(*count)++] = read_mutant(row, text, whose);
    }
    if (list) fclose(list);
    if (all) set_order(all, *count);
    free(row);
    free(text);
    return all;
}
