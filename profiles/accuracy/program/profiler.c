// What ncu (Nsight Compute) prints: CSV, whose fields are all quoted, between words of its own and
// the program's.
#include "accuracy.h"
#include <stdlib.h>
#include <string.h>

const char profiler[] =
    "ncu --clock-control none --csv --print-units base --print-kernel-base function";

// Splits a line. Returns how many fields there are.
static int split(char *line, char *fields[], int most)
{
    int count = 0;
    while (*line == '"' && count < most) {
        fields[count++] = ++line;
        line = strstr(line, "\"");
        if (!line) return count;
        *line++ = 0;
        if (*line == ',') line++;
    }
    return count;
}

static void without_commas(char *number)
{
    char *to = number;
    for (const char *from = number; *from; from++)
        if (*from != ',') *to++ = *from;
    *to = 0;
}

bool number_in(char *line, Number *number)
{
    enum { KERNEL = 4, NAME = 12, VALUE = 14, FIELDS = 15 };
    char *field[FIELDS], *end;
    if (split(line, field, FIELDS) < FIELDS) return false;
    field[KERNEL][strcspn(field[KERNEL], "(")] = 0;
    without_commas(field[VALUE]);
    *number = (Number){ field[KERNEL], field[NAME], strtod(field[VALUE], &end) };
    return !*end && end != field[VALUE]; // not "n/a", nor the words of the first line
}

json_t *json_of(double value)
{
    bool whole = value == (double)(json_int_t)value;
    return whole ? json_integer((json_int_t)value) : json_real(value);
}
