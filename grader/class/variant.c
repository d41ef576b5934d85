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

char *command_printed(const char *command, size_t *count)
{
    fflush(stdout);
    FILE *f = popen(command, "re");
    char *text = f ? stream_read(f, count) : NULL;
    if (f && pclose(f) == 0 && text && *count) return text;
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
         *word = command_printed(command, &(size_t){ 0 });
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

const char *class_hash_of(const json_t *result)
{
    return json_string_value(json_object_get(json_object_get(result, "class"), "hash"));
}

bool class_is_of(const Submission *s, const json_t *result)
{
    const char *hash = class_hash_of(result);
    return hash && strcmp(hash, s->hash) == 0
        && strcmp(text_of(result, "variant"), s->variant ? s->variant : "") == 0;
}

// ---- make variant

// False: it cannot be written; it has said why.
static bool write_handout(const char *folder, const char *lesson, const char *word)
{
    char *command = text_format("sh grader/variant.sh handout %s %s", lesson, word),
         *path = text_format("%s/%s.cu", folder, lesson);
    size_t count;
    char *text = command_printed(command, &count);
    bool good = text && folder_make(folder) && file_write_bytes(path, text, count)
             && chmod(path, 0644) == 0; // as it is handed out
    if (good) printf("%s, lesson %d: give %s to the students\n", word, atoi(lesson), path);
    else if (text) file_amiss(path);
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
        file_amiss(c->grades);
        return 1;
    }
    for (char **l = c->rules.variant; *l; l++)
        if (!*w->lesson || strcmp(*l, w->lesson) == 0) status |= !make_one(&c->rules, folder, *l);
    free(path);
    free(folder);
    return status;
}
