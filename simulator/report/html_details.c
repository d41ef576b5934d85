// What is known of a launch: findings, the roofline, and the sections.
#include "html_parts.h"
#include "base/names.h"
#include "details.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_paragraph(FILE *to, char *words)
{
    if (words) {
        fputs("<p>", to);
        html_text(to, words);
        fputs("</p>\n", to);
    }
    free(words);
}

// ---- Findings

static void put_finding(FILE *to, const KernelReport *k, const Finding *f, const char *id)
{
    char *cost = details_cost(f, k->time_ns);
    fputs("<li>", to);
    html_text(to, f->title);
    if (f->place.line) {
        fprintf(to, " at <a href=\"#%s-", id);
        html_text(to, names_base(f->place.file));
        fprintf(to, "-%u\">", f->place.line);
        html_text(to, names_base(f->place.file));
        fprintf(to, ":%u</a>", f->place.line);
    }
    fprintf(to, ": <span class=\"cost\">%.0f %% of the time</span><br/>\n", 100 * f->cost);
    html_text(to, f->words);
    if (f->lineless) fputs(" (nvcc -lineinfo tells the line.)", to);
    fputc('\n', to);
    if (cost) html_text(to, cost);
    fputs("<br/>\nNext: ", to);
    html_text(to, f->cure);
    fputs("</li>\n", to);
    free(cost);
}

void html_findings(FILE *to, const KernelReport *k, const char *id)
{
    if (k->time_ns <= 0) return;
    fputs("<h3>Findings, by their cost in predicted time</h3>\n", to);
    if (!k->finding_count) fputs("<p>Nothing that is known costs 1 % of it.</p>\n", to);
    else fputs("<ol class=\"findings\">\n", to);
    for (size_t n = 0; n < k->finding_count; n++) put_finding(to, k, &k->findings[n], id);
    if (k->finding_count) fputs("</ol>\n", to);
}

// ---- The roofline, as a picture: FLOP per byte to the right, FLOP per second upwards, both as
// powers of ten

enum { LEFT = 10, RIGHT = 430, TOP = 20, BOTTOM = 180 };

typedef struct Axes {
    double from, to;    // powers of ten, to the right
    double least, most; // of the highest roof, upwards
} Axes;

static double right(const Axes *a, double power)
{
    return LEFT + (RIGHT - LEFT) * (power - a->from) / (a->to - a->from);
}
static double up(const Axes *a, double power)
{
    return BOTTOM - (BOTTOM - TOP) * (power - a->least) / (a->most - a->least);
}

static void put_roofline(FILE *to, const RoofReport *r)
{
    if (r->intensity <= 0 || r->ridge <= 0) return;
    const double ridge = log10(r->ridge), at = log10(r->intensity), roof = fmin(0, at - ridge),
                 reached = roof + log10(r->percent / 100);
    const Axes a = { .from = fmin(at, ridge) - 1,
                     .to = fmax(at, ridge) + 1,
                     .least = fmin(reached, fmin(at, ridge) - 1 - ridge) - 0.3,
                     .most = 0.2 };
    fputs("<svg viewBox=\"0 0 440 210\" role=\"img\" aria-label=\"The place on the roofline\">\n",
          to);
    fprintf(to, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
    fprintf(to, "<path class=\"roof\" d=\"M%.1f %.1fL%.1f %.1fH%d\"/>\n", right(&a, a.from),
            up(&a, a.from - ridge), right(&a, ridge), up(&a, 0), RIGHT);
    fprintf(to, "<path class=\"axis\" stroke-dasharray=\"3 3\" d=\"M%.1f %.1fV%.1f\"/>\n",
            right(&a, at), up(&a, roof), up(&a, reached));
    fprintf(to, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n", right(&a, at),
            up(&a, reached));
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\">%.3g %% of the roof</text>\n",
            fmin(right(&a, at) + 8, RIGHT - 110), up(&a, reached) + 4, r->percent);
    fprintf(to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", RIGHT, up(&a, 0) - 6,
            r->pipe);
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", right(&a, a.from) + 14,
            up(&a, a.from - ridge) + 16, r->memory);
    fprintf(to,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">FLOP per byte of %s; the ridge is at "
            "%.3g</text>\n",
            RIGHT, BOTTOM + 16, r->memory, r->ridge);
    fputs("</svg>\n", to);
}

// ---- Sections

static void put_row(FILE *to, const Detail *d)
{
    const FigureText f = details_figure(d->value, d->unit);
    fputs("<tr><th scope=\"row\" title=\"", to);
    if (d->of->words) html_text(to, d->of->words);
    fputs("\">", to);
    html_text(to, d->label);
    fprintf(to, "</th><td class=\"n\">%s%s</td><td>%s</td>", d->of->estimate ? "~" : "", f.value,
            f.unit);
    if (d->share >= 0)
        fprintf(to, "<td class=\"n peak\" style=\"--part:%.1f%%\">%.1f %%</td>",
                fmin(100, d->share), d->share);
    else fputs("<td></td>", to);
    fprintf(to, "<td><code>%s</code></td></tr>\n", d->of->name);
}

static void begin_section(FILE *to, const char *title)
{
    fputs("<h3>", to);
    html_text(to, title);
    fputs("</h3>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"", to);
    html_text(to, title);
    fputs("\"><table>\n<thead><tr><th>Metric</th><th class=\"n\">Value</th><th>Unit</th>"
          "<th class=\"n\">Of peak</th><th>Name</th></tr></thead>\n<tbody>\n",
          to);
}

static void end_section(FILE *to, const KernelReport *k, const char *title)
{
    if (!title) return;
    fputs("</tbody></table></div>\n", to);
    if (strcmp(title, DETAILS_OF_TIME) == 0) put_paragraph(to, details_bound(k));
    if (strcmp(title, DETAILS_OF_ROOF) != 0) return;
    put_paragraph(to, details_roof(k));
    put_roofline(to, &k->roof);
}

void html_details(FILE *to, const KernelReport *k)
{
    const char *section = NULL;
    for (size_t n = 0; n < k->detail_count; n++) {
        const Detail *d = &k->details[n];
        if (d->value <= 0) continue;
        if (!section || strcmp(section, d->section) != 0) {
            end_section(to, k, section);
            begin_section(to, d->section);
        }
        section = d->section;
        put_row(to, d);
    }
    end_section(to, k, section);
}
