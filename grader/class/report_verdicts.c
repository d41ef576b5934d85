// What the verdicts mean, as the book's page of them says (book/verdicts.md): the rows of its
// tables whose first cell has nothing but verdicts.
#define _GNU_SOURCE
#include "report.h"
#include "file.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

static const char path[] = "book/verdicts.md";

static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ-";

// The next cell of a row, without the blanks around it and Markdown's marks of code; "": there is
// no other.
static char *next_cell(char **row)
{
    char *cell = strsep(row, "|"), *to = cell;
    if (!cell) return "";
    cell += strspn(cell, " ");
    for (char *from = to = cell; *from; from++)
        if (*from != '`') *to++ = *from;
    while (to > cell && to[-1] == ' ') to--;
    *to = 0;
    return cell;
}

static bool has(const char *words, const char *word)
{
    for (size_t length; *words; words += length + strspn(words + length, ", ")) {
        length = strspn(words, capitals);
        if (!length) return false;
        if (strlen(word) == length && strncmp(words, word, length) == 0) return true;
    }
    return false;
}

const Meaning *report_meaning(const char *verdict)
{
    static Meaning *all;
    static size_t count;
    size_t bytes;
    char *text = all ? NULL : file_read(path, &bytes);
    if (!all && !text) file_amiss(path);
    for (char *row; (row = strsep(&text, "\n"));) {
        if (strsep(&row, "|") && !row) continue;
        Meaning m = { .verdicts = next_cell(&row) };
        if (strspn(m.verdicts, capitals) < 2) continue; // a heading, or the line below it
        m.happened = next_cell(&row);
        m.look = next_cell(&row);
        all = reallocarray(all, count + 1, sizeof *all);
        all[count++] = m;
    }
    for (size_t n = 0; n < count; n++)
        if (has(all[n].verdicts, verdict)) return &all[n];
    return NULL;
}
