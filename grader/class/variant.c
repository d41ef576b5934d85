// The variants of lessons that a class has: which they are (grader/variant.h) comes from its secret
// and class.cfg alone, so each command finds the same.
#define _GNU_SOURCE
#include "command.h"
#include "file.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WORD_DIGITS = 16 };

// All that a command prints; NULL: it ends with another status than 0, and has said why. The caller
// frees it.
static char *printed_by(const char *command)
{
    char *text = NULL;
    size_t room = 0;
    fflush(stdout);
    FILE *f = popen(command, "re");
    ssize_t count = f ? getdelim(&text, &room, EOF, f) : -1;
    if (f && pclose(f) == 0 && count > 0) return text;
    free(text);
    return NULL;
}

static bool has(const Rules *r, const char *lesson)
{
    for (char **l = r->variant; l && *l; l++)
        if (strcmp(*l, lesson) == 0) return true;
    return false;
}

const char *class_variant(const Rules *r, const char *lesson)
{
    static struct {
        char *lesson, *word;
    } * known;
    static size_t count;
    if (!has(r, lesson)) return NULL;
    for (size_t n = 0; n < count; n++)
        if (strcmp(known[n].lesson, lesson) == 0) return known[n].word;
    char digits[WORD_DIGITS + 1];
    secret_keyed("variant", lesson, digits, WORD_DIGITS);
    char *command = text_format("build/grader/%s --variant %s", lesson, digits),
         *word = printed_by(command);
    if (!word) {
        fprintf(stderr, "%s: its grader names no variant. Type: make ready-%d\n", lesson,
                atoi(lesson));
        exit(1);
    }
    free(command);
    word[strcspn(word, "\n")] = 0;
    known = reallocarray(known, count + 1, sizeof *known);
    known[count].lesson = strdup(lesson);
    known[count].word = word;
    return known[count++].word;
}

bool class_is_of(const Submission *s, const json_t *result)
{
    const char *hash = json_string_value(json_object_get(json_object_get(result, "class"), "hash")),
               *variant = json_string_value(json_object_get(result, "variant"));
    return hash && strcmp(hash, s->hash) == 0
        && strcmp(variant ? variant : "", s->variant ? s->variant : "") == 0;
}

// ---- make variant

static bool write_text(FILE *f, void *text) { return fputs(text, f) >= 0; }

// False: it cannot be written; it has said why.
static bool write_handout(const char *folder, const char *lesson, const char *word)
{
    char *command = text_format("sh grader/variant.sh handout %s %s", lesson, word),
         *path = text_format("%s/%s.cu", folder, lesson), *text = printed_by(command);
    bool good =
        text && (mkdir(folder, 0755) == 0 || errno == EEXIST) && file_write(path, write_text, text);
    if (good) printf("%s, lesson %d: give %s to the students\n", word, atoi(lesson), path);
    else if (text) fprintf(stderr, "%s: %s\n", path, strerror(errno));
    free(command);
    free(path);
    free(text);
    return good;
}

static bool make_one(const Rules *r, const char *folder, const char *lesson)
{
    const char *word = class_variant(r, lesson);
    char *command = text_format("sh grader/variant.sh prove %s %s", lesson, word);
    printf("%s, lesson %d: grading our answer and its versions ...\n", word, atoi(lesson));
    fflush(stdout);
    bool good = system(command) == 0;
    free(command);
    return good && write_handout(folder, lesson, word);
}

int make_variants(Class *c, const Words *w)
{
    char *path = text_format("%s/class.cfg", c->grades),
         *folder = text_format("%s/variants", c->grades);
    int status = 0;
    if (!rules_read(&c->rules, path)) return 1;
    if (!c->rules.variant || !*c->rules.variant || (*w->lesson && !has(&c->rules, w->lesson))) {
        fprintf(stderr,
                "%s: the class has no variant%s%s. Write there, with the names of lessons that "
                "grader/variants has: variants = ( \"08-reduction\" );\n",
                path, *w->lesson ? " of " : "", w->lesson);
        return 1;
    }
    if (!secret_open(c->grades)) {
        fprintf(stderr, "%s/secret: %s\n", c->grades, strerror(errno));
        return 1;
    }
    for (char **l = c->rules.variant; *l; l++)
        if (!*w->lesson || strcmp(*l, w->lesson) == 0) status |= !make_one(&c->rules, folder, *l);
    free(path);
    free(folder);
    return status;
}
