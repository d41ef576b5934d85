// The parts of all device processes go to one file without a name; at the end the machine's process
// puts a frame around them.
#define _GNU_SOURCE
#include "html.h"
#include "html_parts.h"
#include "html_style.h"
#include "base/names.h"
#include "details.h"
#include "whole.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *target; // the file's name; NULL: nothing is kept
static int spool = -1;
static uint32_t number; // of the program that is served

bool html_open(const char *path)
{
    target = path;
    spool = whole_spool("warpwise-html");
    return spool >= 0;
}

bool html_is_on(void) { return target != NULL; }
void html_process(uint32_t n) { number = n; }

// ---- Text

// The bytes of the UTF-8 character that begins there; 0: none does.
static size_t character(const unsigned char *c)
{
    size_t more = *c < 0x80 ? 0 : *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : 1;
    if ((*c >= 0x80 && *c < 0xc2) || *c > 0xf4) return 0;
    for (size_t n = 1; n <= more; n++)
        if ((c[n] & 0xc0) != 0x80) return 0;
    return 1 + more;
}

void html_text(FILE *to, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const size_t bytes = character(c);
        const bool shown = bytes > 1 || (bytes && (*c >= ' ' || *c == '\t') && *c != 127);
        if (*c == '<') fputs("&lt;", to);
        else if (*c == '>') fputs("&gt;", to);
        else if (*c == '&') fputs("&amp;", to);
        else if (*c == '"') fputs("&quot;", to);
        else if (!shown) fputs("\xef\xbf\xbd", to);
        else fwrite(c, 1, bytes, to);
        c += bytes ? bytes : 1;
    }
}

// ---- The summary of a process

enum { NAME_COLUMNS = 120, ID_BYTES = 32 };

static void kernel_id(char id[ID_BYTES], size_t n)
{
    snprintf(id, ID_BYTES, "p%" PRIu32 "k%zu", number, n + 1);
}

static void put_name(FILE *to, const KernelReport *k)
{
    char *name = names_brief(k->signature, NAME_COLUMNS);
    html_text(to, name ? name : k->signature);
    free(name);
}

static void put_time(FILE *to, double ns)
{
    const FigureText f = details_figure(ns, "ns");
    fprintf(to, "<td class=\"n\">%s %s</td>", f.value, f.unit);
}

static void put_kernels(FILE *to, const KernelTotals *kernel, size_t count)
{
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Kernels\"><table>\n"
          "<caption>Kernels, by predicted time</caption>\n<thead><tr><th>Kernel</th>"
          "<th class=\"n\">Time</th><th class=\"n\">Launches</th><th class=\"n\">Total</th>"
          "<th class=\"n\">Average</th><th class=\"n\">Min</th><th class=\"n\">Max</th>"
          "<th>Bound by</th></tr></thead>\n<tbody>\n",
          to);
    for (size_t n = 0; n < count; n++) {
        const KernelTotals *t = &kernel[n];
        const double share = totals_time() > 0 ? 100 * t->total_ns / totals_time() : 0;
        char id[ID_BYTES];
        kernel_id(id, n);
        fprintf(to, "<tr><th scope=\"row\"><a href=\"#%s\">", id);
        put_name(to, t->longest);
        fprintf(to,
                "</a></th><td class=\"n peak\" style=\"--part:%.1f%%\">%.1f %%</td>"
                "<td class=\"n\">%" PRIu64 "</td>",
                share, share, t->launches);
        put_time(to, t->total_ns);
        put_time(to, t->total_ns / (double)t->launches);
        put_time(to, t->least_ns);
        put_time(to, t->most_ns);
        fprintf(to, "<td>%s</td></tr>\n", t->longest->bound ? t->longest->bound : "");
    }
    fputs("</tbody></table></div>\n", to);
}

static void put_moves(FILE *to)
{
    size_t count;
    const MoveTotals *move = totals_moves(&count);
    if (count) fputs("<ul>\n", to);
    for (size_t n = 0; n < count; n++) {
        const FigureText bytes = details_figure((double)move[n].bytes, "byte");
        fprintf(to, "<li>%s %s%s%s, %" PRIu64 " time%s: %s %s</li>\n",
                move[n].cause ? "Managed memory" : "Copies", move[n].kind,
                move[n].cause ? ", " : "", move[n].cause ? move[n].cause : "", move[n].times,
                move[n].times == 1 ? "" : "s", bytes.value, bytes.unit);
    }
    if (count) fputs("</ul>\n", to);
}

static void put_kernel(FILE *to, const KernelTotals *t, size_t n)
{
    const KernelReport *k = t->longest;
    char id[ID_BYTES];
    kernel_id(id, n);
    fprintf(to, "<section id=\"%s\" aria-labelledby=\"%s-name\">\n<h2 id=\"%s-name\">", id, id, id);
    put_name(to, k);
    fprintf(to, "</h2>\n<p class=\"faint\">Grid (%u,%u,%u), block (%u,%u,%u)", k->grid[0],
            k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2]);
    if (report_has_several()) fprintf(to, ", device %u", k->device);
    if (t->launches > 1)
        fprintf(to, ": the longest of %" PRIu64 " launches, number %" PRIu64 "%s", t->launches,
                t->number, t->other_grids ? "; others had other grids" : "");
    fputs("</p>\n", to);
    html_findings(to, k, id);
    html_source(to, k, id);
    html_details(to, k);
    fputs("</section>\n", to);
}

void html_add(void)
{
    size_t count, bytes, moves;
    char *text = NULL;
    const KernelTotals *kernel = totals_kernels(&count);
    totals_moves(&moves);
    FILE *to = target && count + moves ? open_memstream(&text, &bytes) : NULL;
    if (!to) return;
    if (number) fprintf(to, "<h2>Process %" PRIu32 " of the program</h2>\n", number + 1);
    if (count) put_kernels(to, kernel, count);
    put_moves(to);
    for (size_t n = 0; n < count; n++) put_kernel(to, &kernel[n], n);
    if (fclose(to) == 0) whole_add(spool, text, bytes);
    free(text);
}

// ---- The file

static void put_head(FILE *to, const char *device, char *const *program, const char *errors)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
          to);
    html_text(to, names_base(program[0]));
    fprintf(to, " on a simulated %s</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>",
            device, html_style);
    for (size_t n = 0; program[n]; n++) {
        if (n) fputc(' ', to);
        html_text(to, program[n]);
    }
    fprintf(to, "</h1>\n<p>On a simulated %s. Times are predicted; ~ marks an estimate.</p>\n<p>",
            device);
    html_text(to, errors ? errors : "No errors were found.");
    fputs("</p>\n", to);
}

static bool put_parts(FILE *to)
{
    static char buffer[1 << 16];
    ssize_t got;
    bool any = false;
    if (lseek(spool, 0, SEEK_SET) < 0) return false;
    for (; (got = read(spool, buffer, sizeof buffer)) > 0; any = true)
        fwrite(buffer, 1, (size_t)got, to);
    if (!any) fputs("<p>No kernel ran, and nothing was copied.</p>\n", to);
    return got == 0;
}

bool html_close(const char *device, char *const *program, const char *errors)
{
    if (!target) return true;
    WholeFile w = whole_open(target);
    bool good = w.file;
    if (good) {
        put_head(w.file, device, program, errors);
        good = put_parts(w.file);
        fputs("</main>\n</body>\n</html>\n", w.file);
    }
    return whole_close(&w, good);
}
