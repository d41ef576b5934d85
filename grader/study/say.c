// Words from a format, on standard output, broken to the terminal's width.
#define _GNU_SOURCE
#include "study.h"
#include "text.h"
#include <stdarg.h>
#include <stdlib.h>

static char *formatted(const char *format, va_list args)
{
    char *words;
    if (vasprintf(&words, format, args) < 0) abort();
    return words;
}

void say(int indent, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *words = formatted(format, args);
    va_end(args);
    text_paragraph(stdout, indent, words);
    free(words);
}

void say_state(const char *colour, const char *state, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *words = formatted(format, args);
    va_end(args);
    text_state(stdout, colour, state, words);
    free(words);
}
