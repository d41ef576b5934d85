#define _GNU_SOURCE
#include "base/names.h"
#include "text.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 80 };

static const char *const kinds[REPORT_KINDS] = {
    [REPORT_BOUNDS] = "access out of bounds",
    [REPORT_MISALIGNED] = "misaligned address",
    [REPORT_USE_AFTER_FREE] = "use of freed memory",
    [REPORT_UNINITIALIZED] = "use of a value that nothing wrote",
    [REPORT_RACE] = "data race",
    [REPORT_BARRIER] = "barrier that not all threads reach",
    [REPORT_TIMEOUT] = "kernel stopped",
    [REPORT_UNSUPPORTED] = "not supported by the simulated device",
    [REPORT_TRAP] = "trap",
    [REPORT_LEAK] = "leak",
    [REPORT_INVALID_FREE] = "invalid free",
    [REPORT_HOST_ACCESS] = "device memory touched by host code",
    [REPORT_API] = "misuse of the CUDA runtime",
    [REPORT_DEADLOCK] = "deadlock",
    [REPORT_HANG] = "deadlock",
    [REPORT_UNFINISHED] = "copy that was not waited for",
    [REPORT_MBARRIER] = "misuse of a barrier in shared memory",
};

// An escape sequence, for a terminal that shows colours (no-color.org); otherwise nothing.
static const char *colour(const char *sequence)
{
    static int shown = -1;
    const char *terminal = getenv("TERM"), *refused = getenv("NO_COLOR");
    if (shown < 0)
        shown = isatty(STDERR_FILENO) && !(refused && *refused) && terminal
             && strcmp(terminal, "dumb") != 0;
    return shown ? sequence : "";
}

#define RED colour("\033[1;31m")
#define GREEN colour("\033[1;32m")
#define YELLOW colour("\033[1;33m")
#define PLAIN colour("\033[0m")

void text_wrapped(const char *lead, const char *text)
{
    size_t indent = strlen(lead), column = indent;
    fputs(lead, stderr);
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > indent && column + 1 + word > COLUMNS) {
            fprintf(stderr, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stderr);
            column++;
        }
        fprintf(stderr, "%.*s", (int)word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', stderr);
}

void report_say(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) >= 0) text_wrapped("warpwise: ", text);
    va_end(arguments);
    free(text);
}

// Line `number` of a file, without its newline, malloc'ed; NULL if it cannot be read.
static char *source_line(const char *file, uint32_t number)
{
    FILE *source = fopen(file, "re");
    char *line = NULL;
    size_t size = 0;
    ssize_t length = -1;
    if (!source) return NULL;
    for (uint32_t i = 0; i < number && (length = getline(&line, &size, source)) >= 0; i++)
        ;
    fclose(source);
    if (length < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\r\n")] = 0;
    return line;
}

// Is it a part of an identifier?
static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Does a character of UTF-8 go on there?
static bool goes_on(char c) { return (c & 0xc0) == 0x80; }

// The part of a line that has room, around a column of it: from *from on, so many bytes.
static size_t window(const char *line, size_t column, size_t room, size_t *from)
{
    const size_t length = strlen(line), before = room / 3;
    *from = 0;
    if (length <= room) return length;
    if (column > before) *from = column - before;
    if (*from > length - room) *from = length - room;
    while (goes_on(line[*from])) ++*from;
    size_t to = *from + room < length ? *from + room : length;
    while (goes_on(line[to])) to--;
    return to - *from;
}

// Points stand for what is cut off at either end.
static void print_part(const char *line, size_t from, size_t bytes)
{
    static const char cut[] = "...";
    const size_t points = sizeof cut - 1, length = strlen(line);
    const bool before = from > 0, after = from + bytes < length;
    fprintf(stderr, "%s%.*s%s\n", before ? cut : "",
            (int)(bytes - points * before - points * after), line + from + points * before,
            after ? cut : "");
}

void text_source(const Place *place)
{
    char *line = place->file && place->line ? source_line(place->file, place->line) : NULL;
    if (!line) return;
    int gutter = fprintf(stderr, "%6u | ", place->line), caret = 0;
    size_t first = strspn(line, " \t"), column = first, from;
    if (place->column > first && place->column <= strlen(line)) column = place->column - 1;
    // To gcc a call is at its parenthesis.
    if (line[column] == '(')
        while (column > first && is_word(line[column - 1])) column--;
    for (char *c = line; *c; c++)
        if (*c == '\t') *c = ' ';
    size_t bytes = window(line, column, (size_t)(COLUMNS - gutter), &from);
    for (size_t n = from; n < column; n++) caret += !goes_on(line[n]);
    print_part(line, from, bytes);
    fprintf(stderr, "%6s | %*s%s^%s\n", "", caret, "", GREEN, PLAIN);
    free(line);
}

static void print_head(const Report *r)
{
    const Place *place = &r->place;
    if (r->note)
        fprintf(stderr, "%swarpwise: %s refused%s", YELLOW, r->kernel ? "launch" : "call", PLAIN);
    else fprintf(stderr, "%swarpwise: %s%s", RED, kinds[r->kind], PLAIN);
    if (place->file && place->line) {
        fprintf(stderr, ", %s:%u", names_base(place->file), place->line);
    } else if (r->has_thread) {
        fputs(" (nvcc -lineinfo tells the line)", stderr);
    } else if (place->function) {
        char *name = names_demangle(place->function);
        fprintf(stderr, ", in %s (nvcc -g tells the line)", name ? name : place->function);
        free(name);
    } else if (r->call) {
        fputs(" (nvcc -g tells the line)", stderr);
    }
    fputc('\n', stderr);
    text_source(place);
}

static void print_where(const Report *r)
{
    for (int i = 0; i < PLACE_CALLERS && r->callers[i].file; i++)
        fprintf(stderr, "  inlined at %s:%u\n", names_base(r->callers[i].file), r->callers[i].line);

    // The signatures of template libraries fill a screen.
    char *brief = r->kernel && strlen(r->kernel) > 2 * COLUMNS ? names_plain(r->kernel) : NULL;
    if (r->kernel) text_wrapped("  in ", brief ? brief : r->kernel);
    free(brief);
    if (r->has_thread)
        fprintf(stderr, "  block (%u,%u,%u), thread (%u,%u,%u)", r->block[0], r->block[1],
                r->block[2], r->thread[0], r->thread[1], r->thread[2]);
    if (r->has_thread && report_has_several()) fprintf(stderr, ", device %u", r->device);
    if (r->has_thread && r->address) fprintf(stderr, ", address 0x%" PRIx64, r->address);
    if (r->has_thread) fputc('\n', stderr);
}

static void print_other(const ReportOther *o)
{
    fprintf(stderr, "  %s: ", o->label ? o->label : "the other access");
    if (o->has_block) fprintf(stderr, "block (%u,%u,%u), ", o->block[0], o->block[1], o->block[2]);
    if (o->call) fputs(o->call, stderr);
    else fprintf(stderr, "thread (%u,%u,%u)", o->thread[0], o->thread[1], o->thread[2]);
    if (o->place.file && o->place.line)
        fprintf(stderr, ", %s:%u", names_base(o->place.file), o->place.line);
    fputc('\n', stderr);
    text_source(&o->place);
}

static void print_waiting_warps(const char *lines)
{
    char *copy = lines ? strdup(lines) : NULL, *rest = copy, *line;
    while ((line = strsep(&rest, "\n"))) text_wrapped("  - ", line);
    free(copy);
}

void report_text_error(const Report *r, uint64_t count)
{
    print_head(r);
    print_where(r);
    if (r->message) text_wrapped("  ", r->message);
    if (r->has_other) print_other(&r->other);
    print_waiting_warps(r->waiting_warps);
    if (r->why) text_wrapped("  why:  ", r->why);
    if (r->next) text_wrapped("  next: ", r->next);
    if (count > 1)
        fprintf(stderr, "  and %" PRIu64 " more of this kind%s\n", count - 1,
                r->place.line       ? " on this line"
                : r->place.function ? " in this function"
                                    : "");
}

// "3 errors: data race (2), leak"
char *report_text_found(const uint64_t found[REPORT_KINDS])
{
    char *words = NULL, *all = NULL;
    size_t size, sum = 0;
    FILE *list = open_memstream(&words, &size);
    if (!list) return NULL;
    for (int kind = 0; kind < REPORT_KINDS; kind++) {
        if (!found[kind]) continue;
        fprintf(list, "%s%s", sum ? ", " : "", kinds[kind]);
        if (found[kind] > 1) fprintf(list, " (%" PRIu64 ")", found[kind]);
        sum += found[kind];
    }
    fclose(list);
    if (!sum || asprintf(&all, "%zu error%s: %s", sum, sum == 1 ? "" : "s", words) < 0) all = NULL;
    free(words);
    return all;
}

void report_text_repeats(const Report *r, uint64_t since)
{
    const Place *place = &r->place;
    fprintf(stderr, "warpwise: %s", kinds[r->kind]);
    if (place->file && place->line)
        fprintf(stderr, ", %s:%u", names_base(place->file), place->line);
    fprintf(stderr, ": %" PRIu64 " more since\n", since);
}
