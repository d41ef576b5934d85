// The source of a launch, if its files are there, with the counters of each line that ran.
#define _GNU_SOURCE
#include "html_parts.h"
#include "base/names.h"
#include "table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 3 }; // lines before and after one that ran

// The lines of a file, each malloc'ed; none if it can't be read.
typedef struct Text {
    char **line;
    size_t count;
} Text;

static Text read_text(const char *file)
{
    Text t = { 0 };
    size_t room = 0, size = 0;
    char *line = NULL;
    FILE *from = file ? fopen(file, "re") : NULL;
    while (from && getline(&line, &size, from) >= 0) {
        if (t.count == room) {
            room = room ? 2 * room : 256;
            char **more = realloc(t.line, room * sizeof *more);
            if (!more) break;
            t.line = more;
        }
        line[strcspn(line, "\r\n")] = 0;
        t.line[t.count++] = line;
        line = NULL, size = 0;
    }
    free(line);
    if (from) fclose(from);
    return t;
}

static void free_text(Text *t)
{
    for (size_t n = 0; n < t->count; n++) free(t->line[n]);
    free(t->line);
}

static bool is_of(const CounterLine *line, const char *file)
{
    return strcmp(line->place.file ? line->place.file : "", file) == 0;
}

static void put_head(FILE *to, const KernelReport *k, const bool shown[], const char *file)
{
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"", to);
    html_text(to, names_base(file));
    fputs("\"><table class=\"source\">\n<caption>", to);
    html_text(to, file);
    fputs("</caption>\n<thead><tr><th class=\"n\">Line</th>", to);
    for (size_t c = 0; c < k->column_count; c++)
        if (shown[c])
            fprintf(to, "<th class=\"n\">%s<br/>%s</th>", k->columns[c].first,
                    k->columns[c].second);
    fputs("<th>Source</th></tr></thead>\n<tbody>\n", to);
}

static void put_values(FILE *to, const KernelReport *k, const bool shown[], const CounterLine *line)
{
    for (size_t c = 0; c < k->column_count; c++) {
        double value = line ? k->columns[c].value(line->values, k->values) : 0;
        if (!shown[c]) continue;
        if (value > 0) fprintf(to, "<td class=\"n\">%.*f</td>", k->columns[c].digits, value);
        else fputs("<td></td>", to);
    }
}

// The first column is the share of the instructions: what ran most is shaded most.
static void put_line(FILE *to, const KernelReport *k, const bool shown[], const CounterLine *line,
                     uint32_t number, const char *text, const char *id)
{
    if (line) {
        double share = k->column_count ? k->columns[0].value(line->values, k->values) : 0;
        fprintf(to, "<tr class=\"ran\" id=\"%s-", id);
        html_text(to, names_base(line->place.file));
        fprintf(to, "-%u\" style=\"--heat:%.2f\">", number, fmin(0.6, share / 100));
    } else {
        fputs("<tr>", to);
    }
    fprintf(to, "<td class=\"n\">%u</td>", number);
    put_values(to, k, shown, line);
    fputs("<td>", to);
    html_text(to, text);
    fputs("</td></tr>\n", to);
}

// Lines that ran, each file's in their order; those around them, and a gap for what is left out.
static void put_file(FILE *to, const KernelReport *k, const bool shown[], const CounterLine *line,
                     size_t count, const char *id)
{
    const char *file = line->place.file ? line->place.file : "";
    Text text = read_text(file);
    put_head(to, k, shown, file);
    uint32_t next = 1; // the first line that is not there yet
    for (size_t n = 0; n < count; n++) {
        const uint32_t own = line[n].place.line,
                       until = n + 1 < count ? line[n + 1].place.line : UINT32_MAX;
        uint32_t at = own > AROUND && own - AROUND > next ? own - AROUND : next;
        if (at > next && text.count) fputs("<tr><td class=\"n\">…</td></tr>\n", to);
        for (; text.count && at < own && at <= text.count; at++)
            put_line(to, k, shown, NULL, at, text.line[at - 1], id);
        put_line(to, k, shown, &line[n], own,
                 own <= text.count ? text.line[own - 1] : "(the file is not there)", id);
        next = own + 1;
        for (; next <= own + AROUND && next < until && next <= text.count; next++)
            put_line(to, k, shown, NULL, next, text.line[next - 1], id);
    }
    fputs("</tbody></table></div>\n", to);
    free_text(&text);
}

void html_source(FILE *to, const KernelReport *k, const char *id)
{
    bool shown[TABLE_COLUMNS];
    CounterLine *lines = table_sorted(k);
    fputs("<h3>Source</h3>\n", to);
    if (!k->line_count) fputs("<p>No source line is known: nvcc -lineinfo tells them.</p>\n", to);
    for (size_t c = 0; c < k->column_count; c++) shown[c] = table_has_entry(k, c);
    for (size_t n = 0, end; lines && n < k->line_count; n = end) {
        const char *file = lines[n].place.file ? lines[n].place.file : "";
        for (end = n; end < k->line_count && is_of(&lines[end], file); end++) {}
        put_file(to, k, shown, lines + n, end - n, id);
    }
    free(lines);
}
