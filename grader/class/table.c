#define _GNU_SOURCE
#include "class.h"
#include "file.h"
#include "text.h"
#include <csv.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// A file while it is read: the table, and the row that is not whole yet.
typedef struct Reading {
    Table *table;
    char **row;
    size_t cells;
    int line, row_line, begins; // of the byte, of a row's first cell, of a row
    const char *amiss;
} Reading;

static void take_cell(void *bytes, size_t count, void *what)
{
    Reading *r = what;
    if (!r->cells) r->row_line = r->line;
    r->row = reallocarray(r->row, r->cells + 1, sizeof *r->row);
    r->row[r->cells++] = strndup(bytes ? bytes : "", count);
}

static bool is_empty(const Reading *r) { return r->cells == 1 && !*r->row[0]; }

static void take_row(int end, void *what)
{
    (void)end;
    Reading *r = what;
    Table *t = r->table;
    if (!t->heading) {
        t->heading = r->row;
        t->columns = r->cells;
    } else if (!is_empty(r)) {
        if (r->cells != t->columns && !r->amiss)
            r->amiss = text_format("a row of %zu cells, and the first row names %zu columns; put "
                                   "a name that has a comma into quotation marks",
                                   r->cells, t->columns);
        t->cell = reallocarray(t->cell, t->rows + 1, sizeof *t->cell);
        t->line = reallocarray(t->line, t->rows + 1, sizeof *t->line);
        t->line[t->rows] = r->row_line;
        t->cell[t->rows++] = r->row;
    }
    r->row = NULL;
    r->cells = 0;
    r->begins = r->line + 1;
}

static bool say(const char *path, int line, const char *words)
{
    fprintf(stderr, "%s:%d: %s.\n", path, line, words);
    return false;
}

// Reads byte by byte, so that the line of what is amiss is known.
static bool parse(Reading *r, const char *bytes, size_t count)
{
    struct csv_parser parser;
    const char *path = r->table->path;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0) return false;
    for (size_t n = 0; n < count && !r->amiss; n++) {
        if (csv_parse(&parser, bytes + n, 1, take_cell, take_row, r) != 1) {
            r->row_line = r->line;
            r->amiss = "a quotation mark within a cell; put the cell into quotation marks, and "
                       "write each one within it twice";
        } else if (bytes[n] == '\n') r->line++;
    }
    if (!r->amiss && csv_fini(&parser, take_cell, take_row, r) != 0) {
        r->row_line = r->begins;
        r->amiss = "the row has a quotation mark without its end";
    }
    csv_free(&parser);
    return !r->amiss || say(path, r->row_line, r->amiss);
}

static size_t column_of(const Table *t, const char *name)
{
    size_t n = 0;
    while (n < t->columns && strcmp(t->heading[n], name) != 0) n++;
    return n;
}

static bool has_columns(const Table *t, const char *const *needed)
{
    for (; *needed; needed++) {
        if (column_of(t, *needed) < t->columns) continue;
        char *words = text_format("no column is called `%s`. The first line names the columns, "
                                  "with commas between them",
                                  *needed);
        say(t->path, 1, words);
        free(words);
        return false;
    }
    for (size_t n = 0; n < t->columns; n++)
        if (*t->heading[n] && column_of(t, t->heading[n]) < n)
            return say(t->path, 1, "two columns have the same name");
    return true;
}

static int line_of_other_bytes(const char *bytes, size_t count)
{
    int line = 1;
    for (size_t n = 0; n < count; line++) {
        const char *end = memchr(bytes + n, '\n', count - n);
        size_t length = end ? (size_t)(end - bytes) - n : count - n;
        json_t *text = memchr(bytes + n, 0, length) ? NULL : json_stringn(bytes + n, length);
        if (!text) return line;
        json_decref(text);
        n += length + 1;
    }
    return 0;
}

bool table_read(Table *t, const char *path, const char *const *needed)
{
    size_t count;
    *t = (Table){ .path = strdup(path) };
    char *bytes = file_read(path, &count);
    if (!bytes) {
        if (errno == ENOENT) return true;
        return file_amiss(path);
    }
    Reading r = { .table = t, .line = 1, .begins = 1 };
    size_t mark = count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; // as Excel writes it
    int line = line_of_other_bytes(bytes, count);
    bool good = line ? say(path, line, "this is not UTF-8. Save it as \"CSV UTF-8\"")
                     : parse(&r, bytes + mark, count - mark) && has_columns(t, needed);
    free(bytes);
    return good;
}

const char *table_cell(const Table *t, size_t row, const char *column)
{
    size_t n = column_of(t, column);
    return n < t->columns ? t->cell[row][n] : "";
}

bool table_amiss(const Table *t, size_t row, const char *format, ...)
{
    va_list words;
    char *text = NULL;
    va_start(words, format);
    if (vasprintf(&text, format, words) < 0) text = NULL;
    va_end(words);
    say(t->path, t->line[row], text ? text : "no memory");
    free(text);
    return false;
}

void table_write(FILE *f, const char *words, char end)
{
    char *clean = text_clean(words);
    char first = clean[strspn(clean, " ")];
    bool formula = first && strchr("=+-@", first), quoted = formula || strpbrk(clean, ",\"");
    if (quoted) fputc('"', f);
    if (formula) fputc('\'', f);
    for (const char *c = clean; *c; c++) {
        if (*c == '"') fputc('"', f);
        fputc(*c, f);
    }
    if (quoted) fputc('"', f);
    fputc(end, f);
    free(clean);
}

void table_number(double number, char text[NUMBER_BYTES])
{
    *text = 0;
    if (isnan(number)) return;
    snprintf(text, NUMBER_BYTES, "%.2f", number);
    size_t last = strlen(text);
    while (text[last - 1] == '0') text[--last] = 0;
    if (text[last - 1] == '.') text[last - 1] = 0;
}

void table_write_number(FILE *f, double number, char end)
{
    char text[NUMBER_BYTES];
    table_number(number, text);
    fputs(text, f);
    fputc(end, f);
}
