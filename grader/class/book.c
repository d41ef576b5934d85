#define _GNU_SOURCE
#include "class.h"
#include "file.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

// A cell of a CSV file (RFC 4180). One that a spreadsheet would take for a formula begins with an
// apostrophe.
static void cell(FILE *f, const char *words, char end)
{
    bool formula = *words && strchr("=+-@\t\r", *words),
         quoted = formula || strpbrk(words, ",\"\r\n");
    if (quoted) fputc('"', f);
    if (formula) fputc('\'', f);
    for (; *words; words++) {
        if (*words == '"') fputc('"', f);
        fputc(*words, f);
    }
    if (quoted) fputc('"', f);
    fputc(end, f);
}

static void number_cell(FILE *f, const json_t *number)
{
    if (json_is_integer(number)) fprintf(f, "%lld", (long long)json_integer_value(number));
    fputc(',', f);
}

static void row(FILE *f, const Submission *s)
{
    json_t *result = s->sealed ? json_load_file(s->result, 0, NULL) : NULL;
    const json_t *score = json_object_get(result, "score"), *gold = json_object_get(score, "gold"),
                 *points = json_object_get(score, "speed");
    const char *verdict = json_string_value(json_object_get(result, "verdict"));
    json_t *none = json_integer(0);
    cell(f, s->student, ',');
    cell(f, s->lesson, ',');
    cell(f, s->refused ? "REFUSED" : verdict ? verdict : "", ',');
    number_cell(f, json_object_get(score, "step"));
    number_cell(f, json_is_integer(points) ? points : none);
    cell(f, json_is_boolean(gold) ? json_is_true(gold) ? "yes" : "no" : "", ',');
    cell(f,
         json_is_true(json_object_get(json_object_get(result, "class"), "trusted")) ? "yes" : "no",
         ',');
    cell(f, s->hash, ',');
    cell(f, s->refused ? s->refused : "", '\n');
    json_decref(none);
    json_decref(result);
}

static bool write_rows(FILE *f, void *what)
{
    const Class *c = what;
    fputs("student,lesson,verdict,step,points,gold,trusted,hash,refused\n", f);
    for (size_t n = 0; n < c->count; n++) row(f, &c->submission[n]);
    return !ferror(f);
}

static bool write_roster(FILE *f, void *what)
{
    const Class *c = what;
    fputs("pseudonym,student\n", f);
    for (size_t n = 0; n < c->count; n++) {
        if (!class_is_new_student(c, n)) continue;
        cell(f, c->submission[n].pseudonym, ',');
        cell(f, c->submission[n].student, '\n');
    }
    return !ferror(f);
}

bool class_write_book(const Class *c)
{
    char *book = text_format("%s/gradebook.csv", c->grades),
         *roster = text_format("%s/roster.csv", c->grades);
    bool good =
        file_write(roster, write_roster, (void *)c) && file_write(book, write_rows, (void *)c);
    free(book);
    free(roster);
    return good;
}
