#define _GNU_SOURCE
#include "command.h"
#include "file.h"
#include "text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// -1: there is none.
static void write_count(FILE *f, int number, char end)
{
    table_write_number(f, number < 0 ? NAN : number, end);
}

// What the mark was found with, and who gave it other points than the grader did.
static void origin(FILE *f, const Mark *m)
{
    static const char *const parts[] = { "version", "toolkit", "device", "token", "variant" };
    json_t *mark = standing_mark(m);
    for (size_t n = 0; n < sizeof parts / sizeof *parts; n++) {
        const char *words = json_string_value(json_object_get(mark, parts[n]));
        table_write(f, words ? words : "", ',');
    }
    char *words =
        m->overridden ? text_format("from %.10g by %s", m->graded, m->overridden) : strdup("");
    table_write(f, words, '\n');
    free(words);
    json_decref(mark);
}

static void row(FILE *f, const Mark *m)
{
    const Submission *s = m->submission;
    table_write(f, m->student->name, ',');
    table_write(f, m->lesson, ',');
    table_write(f, m->verdict, ',');
    write_count(f, m->step, ',');
    table_write_number(f, m->points, ',');
    table_write(f, m->gold < 0 ? "" : m->gold ? "yes" : "no", ',');
    write_count(f, m->late_days, ',');
    table_write(f, m->trusted, ',');
    table_write(f, s ? s->hash : "", ',');
    table_write(f, s && s->refused ? s->refused : "", ',');
    origin(f, m);
}

static bool write_rows(FILE *f, void *what)
{
    const Class *c = what;
    fputs("student,lesson,verdict,step,points,gold,late_days,trusted,hash,refused,"
          "version,toolkit,device,token,variant,overridden\n",
          f);
    for (size_t n = 0; n < c->marks; n++) row(f, &c->mark[n]);
    return !ferror(f);
}

static bool write_marks(FILE *f, void *what)
{
    const Class *c = what;
    fputs("student,total,late_days_spent", f);
    for (size_t n = 0; n < c->lessons; n++) {
        fputc(',', f);
        fputs(c->lesson[n], f);
    }
    fputc('\n', f);
    for (size_t n = 0; n < c->marks; n += c->lessons) {
        int spent = 0;
        for (size_t l = 0; l < c->lessons; l++) spent += c->mark[n + l].spent;
        table_write(f, c->mark[n].student->name, ',');
        table_write_number(f, class_total(c, &c->mark[n]), ',');
        write_count(f, spent, ',');
        for (size_t l = 0; l < c->lessons; l++)
            table_write_number(f, c->mark[n + l].points, l + 1 < c->lessons ? ',' : '\n');
    }
    return !ferror(f);
}

static bool write_pseudonyms(FILE *f, void *what)
{
    const Class *c = what;
    fputs("pseudonym,student\n", f);
    for (size_t n = 0; n < c->students; n++) {
        table_write(f, c->student[n].pseudonym, ',');
        table_write(f, c->student[n].name, '\n');
    }
    return !ferror(f);
}

bool class_write_book(const Class *c)
{
    static const struct {
        const char *name;
        bool (*write)(FILE *f, void *what);
    } files[] = { { "pseudonyms.csv", write_pseudonyms },
                  { "marks.csv", write_marks },
                  { "gradebook.csv", write_rows } };
    bool good = true;
    for (size_t n = 0; good && n < sizeof files / sizeof *files; n++) {
        char *path = text_format("%s/%s", c->grades, files[n].name);
        good = file_write(path, files[n].write, (void *)c);
        free(path);
    }
    return good;
}
