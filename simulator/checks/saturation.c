// Saturated lines of the shadow memory, counted in chunks: where all lines of a chunk are
// saturated, reads need not look at each line.
#include "saturation.h"

static bool is_whole(const Chunk *c, u32 generation, u32 saturation)
{
    return c->lines == CHUNK_LINES && c->saturation == saturation && c->generation == generation;
}

void shadow_saturate(Shadow *s, Line *n, u32 saturation)
{
    if (n->saturation == saturation) return;
    n->saturation = saturation;
    if (!s->chunks) return;
    Chunk *c = &s->chunks[(n - s->lines) / CHUNK_LINES];
    if (c->generation != s->generation || c->saturation != saturation) {
        if (is_whole(c, s->range.generation, s->range.saturation)) s->range.generation = 0;
        *c = (Chunk){ .generation = s->generation, .saturation = saturation };
    }
    c->lines++;
}

void shadow_desaturate(Shadow *s, const Line *n, u32 saturation)
{
    if (!s->chunks) return;
    Chunk *c = &s->chunks[(n - s->lines) / CHUNK_LINES];
    if (c->generation != s->generation || c->saturation != saturation) return;
    if (c->lines-- == CHUNK_LINES) s->desaturated = true, s->range.generation = 0;
}

void shadow_saturated_range(Shadow *s, u64 address, u32 saturation, u64 *from, u64 *to)
{
    enum { MOST = 64 };
    ChunkRange *r = &s->range;
    const u64 here = (address - s->base) / CHUNK_BYTES;
    const u32 generation = s->generation;
    if (r->generation != generation || r->saturation != saturation || here < r->first
        || here >= r->end)
        *r = (ChunkRange){ generation, saturation, here, here };
    for (u32 n = 0; n < MOST && is_whole(&s->chunks[r->end], generation, saturation); n++) r->end++;
    for (u32 n = 0; n < MOST && r->end > here && r->first
                    && is_whole(&s->chunks[r->first - 1], generation, saturation);
         n++)
        r->first--;
    *from = s->base + r->first * CHUNK_BYTES;
    *to = s->base + r->end * CHUNK_BYTES;
}
