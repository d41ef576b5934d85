// The lexer of PTX (PTX ISA, section "Syntax").
#define _GNU_SOURCE
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

void ptx_fail(Ptx *p, const char *format, ...)
{
    char what[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(p->error, sizeof p->error, "PTX line %u: %s", p->line, what);
    longjmp(p->failed, 1);
}

static void skip_space(Ptx *p)
{
    while (p->at < p->end) {
        if (*p->at == '\n') {
            p->line++, p->at++;
        } else if (isspace((unsigned char)*p->at)) {
            p->at++;
        } else if (p->end - p->at > 1 && p->at[0] == '/' && p->at[1] == '/') {
            while (p->at < p->end && *p->at != '\n') p->at++;
        } else if (p->end - p->at > 1 && p->at[0] == '/' && p->at[1] == '*') {
            const char *close = memmem(p->at, p->end - p->at, "*/", 2);
            if (!close) ptx_fail(p, "a comment is not closed");
            for (; p->at < close + 2; p->at++) p->line += *p->at == '\n';
        } else {
            return;
        }
    }
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

// A word takes in '::', as in .shared::cta, but not the ':' of a label.
static void read_word(Ptx *p)
{
    p->token = TOKEN_WORD;
    while (p->at < p->end) {
        if (in_word(*p->at)) p->at++;
        else if (p->end - p->at > 2 && p->at[0] == ':' && p->at[1] == ':') p->at += 2;
        else break;
    }
}

static void read_number(Ptx *p)
{
    char text[64], *rest = text;
    size_t n = 0;
    bool fraction = false; // then e may have a sign behind it
    while (p->at < p->end && n + 1 < sizeof text) {
        bool sign = fraction && tolower((unsigned char)text[n - 1]) == 'e'
                 && (*p->at == '-' || *p->at == '+');
        if (!sign && !isalnum((unsigned char)*p->at) && *p->at != '.') break;
        fraction |= *p->at == '.';
        text[n++] = *p->at++;
    }
    text[n] = 0;
    p->token = TOKEN_NUMBER;
    p->number_width = 0;
    if (text[0] == '0' && (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D')
        && n > 2) {
        p->number = strtoull(text + 2, &rest, 16);
        p->number_width = tolower((unsigned char)text[1]) == 'f' ? 4 : 8;
    } else if (strchr(text, '.')) {
        union {
            double value;
            u64 bits;
        } v = { strtod(text, &rest) };
        p->number = v.bits;
        p->number_width = 8;
    } else {
        bool binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
        p->number = binary ? strtoull(text + 2, &rest, 2) : strtoull(text, &rest, 0);
        if (*rest == 'U') rest++;
    }
    if (*rest) ptx_fail(p, "'%s' is not a number", text);
}

void ptx_next(Ptx *p)
{
    skip_space(p);
    p->start = p->at;
    if (p->at == p->end) {
        p->token = TOKEN_END;
    } else if (isdigit((unsigned char)*p->at)) {
        read_number(p);
    } else if (in_word(*p->at)) {
        read_word(p);
    } else if (*p->at == '"') {
        const char *close = memchr(p->at + 1, '"', p->end - p->at - 1);
        if (!close) ptx_fail(p, "a string is not closed");
        p->token = TOKEN_STRING;
        p->at = close + 1;
    } else {
        p->token = TOKEN_PUNCT;
        p->at++;
    }
    p->length = p->at - p->start;
}

PtxPlace ptx_place(const Ptx *p)
{
    return (PtxPlace){ p->at, p->start, p->length, p->line, p->token, p->number, p->number_width };
}

void ptx_go(Ptx *p, PtxPlace to)
{
    p->at = to.at, p->start = to.start, p->length = to.length, p->line = to.line;
    p->token = to.token, p->number = to.number, p->number_width = to.number_width;
}

bool ptx_is(const Ptx *p, const char *text)
{
    return p->token != TOKEN_END && p->length == strlen(text) && !memcmp(p->start, text, p->length);
}

bool ptx_accept(Ptx *p, const char *text)
{
    bool found = ptx_is(p, text);
    if (found) ptx_next(p);
    return found;
}

void ptx_expect(Ptx *p, const char *text)
{
    if (!ptx_accept(p, text))
        ptx_fail(p, "'%s' should stand where '%.*s' does", text, (int)p->length, p->start);
}

char *ptx_word(Ptx *p)
{
    if (p->token != TOKEN_WORD)
        ptx_fail(p, "a name should stand where '%.*s' does", (int)p->length, p->start);
    char *word = obstack_copy0(p->memory, p->start, p->length);
    ptx_next(p);
    return word;
}

u64 ptx_integer(Ptx *p)
{
    bool minus = ptx_accept(p, "-");
    if (p->token != TOKEN_NUMBER)
        ptx_fail(p, "a number should stand where '%.*s' does", (int)p->length, p->start);
    u64 value = minus ? 0 - p->number : p->number;
    ptx_next(p);
    return value;
}
