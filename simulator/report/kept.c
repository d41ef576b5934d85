#include "kept.h"
#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *from, size_t count, size_t size)
{
    void *to = calloc(count + 1, size);
    if (to && count) memcpy(to, from, count * size);
    return to;
}

static char *text_of(const char *s) { return s ? strdup(s) : NULL; }

static Place place_of(const Place *p)
{
    return (Place){ .file = text_of(p->file), .line = p->line, .column = p->column };
}

static const CounterLine *lines_of(const KernelReport *k)
{
    CounterLine *lines = copy_of(k->lines, k->line_count, sizeof *lines);
    for (size_t n = 0; lines && n < k->line_count; n++)
        lines[n] = (CounterLine){ .place = place_of(&k->lines[n].place),
                                  .values = copy_of(k->lines[n].values, k->counter_count,
                                                    sizeof *k->values) };
    return lines;
}

static const Finding *findings_of(const KernelReport *k)
{
    Finding *findings = copy_of(k->findings, k->finding_count, sizeof *findings);
    for (size_t n = 0; findings && n < k->finding_count; n++) {
        findings[n].words = text_of(k->findings[n].words);
        findings[n].place = place_of(&k->findings[n].place);
    }
    return findings;
}

// Details name the rows of the copy.
static const Detail *details_of(const KernelReport *from, const KernelReport *to)
{
    Detail *details = copy_of(from->details, from->detail_count, sizeof *details);
    for (size_t n = 0; details && n < from->detail_count; n++) {
        const CounterName *of = details[n].of;
        bool sums = of >= from->counters && of < from->counters + from->counter_count;
        details[n].of =
            sums ? to->counters + (of - from->counters) : to->metrics + (of - from->metrics);
    }
    return details;
}

KernelReport *kept_copy(const KernelReport *k)
{
    KernelReport *to = copy_of(k, 1, sizeof *to);
    if (!to) return NULL;
    to->name = text_of(k->name);
    to->signature = text_of(k->signature);
    to->counters = copy_of(k->counters, k->counter_count, sizeof *k->counters);
    to->values = copy_of(k->values, k->counter_count, sizeof *k->values);
    to->metrics = copy_of(k->metrics, k->metric_count, sizeof *k->metrics);
    to->figures = copy_of(k->figures, k->metric_count, sizeof *k->figures);
    to->lines = lines_of(k);
    to->findings = findings_of(k);
    to->details = details_of(k, to);
    if (to->name && to->signature && to->counters && to->values && to->metrics && to->figures
        && to->lines && to->findings && to->details)
        return to;
    kept_free(to);
    return NULL;
}

static void release(const void *memory) { free((void *)(uintptr_t)memory); }

void kept_free(KernelReport *k)
{
    if (!k) return;
    for (size_t n = 0; k->lines && n < k->line_count; n++)
        release(k->lines[n].place.file), release(k->lines[n].values);
    for (size_t n = 0; k->findings && n < k->finding_count; n++)
        release(k->findings[n].place.file), free(k->findings[n].words);
    release(k->name), release(k->signature);
    release(k->counters), release(k->values), release(k->metrics), release(k->figures);
    release(k->lines), release(k->findings), release(k->details);
    free(k);
}
