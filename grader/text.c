// Words for a terminal: cleaned, broken into lines, coloured where it is wished.
#define _GNU_SOURCE
#include "text.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

char *text_format(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) abort();
    va_end(args);
    return text;
}

// The bytes of the UTF-8 character at `s` and its code; 1 and -1 if it is none.
static size_t decode(const unsigned char *s, int32_t *code)
{
    static const int32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t n = *s < 0x80               ? 1
             : *s >= 0xF0 && *s < 0xF8 ? 4
             : *s >= 0xE0 && *s < 0xF0 ? 3
             : *s >= 0xC0 && *s < 0xE0 ? 2
                                       : 0;
    *code = -1;
    if (n == 0) return 1;

    int32_t c = n == 1 ? *s : *s & (0x7F >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80) return 1;
        c = c << 6 | (s[i] & 0x3F);
    }
    if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return 1;
    *code = c;
    return n;
}

// Characters that act on a terminal, or that hide or turn other text.
static bool is_hostile(int32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F)
        || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

char *text_clean(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    char *clean = malloc(TEXT_LIMIT + 8), *out = clean;
    while (*s && out - clean < TEXT_LIMIT) {
        int32_t code;
        size_t n = decode(s, &code);
        if (*s == '\n' || *s == '\t') *out++ = ' ';
        else if (is_hostile(code)) *out++ = '?';
        else out = mempcpy(out, s, n);
        s += n;
    }
    strcpy(out, *s ? "..." : "");
    return clean;
}

size_t text_columns(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

int text_width(void)
{
    enum { LEAST = 40 }; // narrower than that, nothing reads well
    const char *said = getenv("COLUMNS");
    struct winsize window;
    int columns = said ? atoi(said) : 0;
    if (columns <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) columns = window.ws_col;
    return columns <= 0 || columns > TEXT_COLUMNS ? TEXT_COLUMNS
         : columns < LEAST                        ? LEAST
                                                  : columns;
}

void text_flow(FILE *out, int column, int indent, const char *text)
{
    bool fresh = true; // nothing of ours is on this line yet
    while (*(text += strspn(text, " "))) {
        int bytes = (int)strcspn(text, " "), width = 0;
        for (int i = 0; i < bytes; i++) width += (text[i] & 0xC0) != 0x80;
        if (!fresh && column + 1 + width > text_width()) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        fprintf(out, "%s%.*s", fresh ? "" : " ", bytes, text);
        column += width + !fresh;
        fresh = false;
        text += bytes;
    }
    fputc('\n', out);
}

void text_paragraph(FILE *out, int indent, const char *text)
{
    fprintf(out, "%*s", indent, "");
    text_flow(out, indent, indent, text);
}

void text_state(FILE *out, const char *colour, const char *state, const char *words)
{
    bool coloured = text_colours(out);
    int width = strlen(state) < 8 ? 8 : (int)strlen(state) + 1;
    fprintf(out, "%s%s%s%s%s%*s", coloured ? "\033[" : "", coloured ? colour : "",
            coloured ? "m" : "", state, coloured ? "\033[0m" : "", width - (int)strlen(state), "");
    text_flow(out, width, width, words);
}

static const char *set(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool text_colours(FILE *out)
{
    const char *force = set("CLICOLOR_FORCE"), *term = getenv("TERM");
    if (set("NO_COLOR")) return false;
    if (force && strcmp(force, "0") != 0) return true;
    if (term && strcmp(term, "dumb") == 0) return false;
    return isatty(fileno(out)) || set("MAKE_TERMOUT");
}

char *text_function(const char *signature)
{
    static const char nameless[] = "(anonymous namespace)::";
    if (strncmp(signature, nameless, sizeof nameless - 1) == 0) signature += sizeof nameless - 1;
    size_t end = strcspn(signature, "(<"), start = end;
    while (start && signature[start - 1] != ' ') start--;
    return strndup(signature + start, end - start);
}

char *text_spaced(const char *name)
{
    char *words = strdup(name);
    for (char *c = words; *c; c++)
        if (*c == '_') *c = ' ';
    return words;
}
