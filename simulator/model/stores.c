// A waiting line is described by its words, a bit each.
#include "stores.h"

static u32 with_words(u32 words, LineAccess n)
{
    for (u32 sector = 0, at = 0; sector < LINE_SECTORS; sector++, at += SECTOR_WORDS)
        if (line_access_sectors(n) >> sector & 1)
            words |= line_access_add_words(words >> at & ALL_WORDS, n, sector) << at;
    return words;
}

void stores_wait(Stores *s, LineAccess n)
{
    u32 at = 0;
    while (at < MOST_WAITING && s->number[at] != line_access_number(n)) at++;
    if (at == MOST_WAITING) {
        at = s->came++ % MOST_WAITING;
        s->number[at] = line_access_number(n);
        s->line[at].words = 0;
        s->line[at].pc = line_access_pc(n);
        s->line[at].when = s->count;
        s->line[at].each = false;
    }
    s->line[at].each |= line_access_kind(n) == STORE_OF_EACH;
    s->line[at].words = with_words(s->line[at].words, n);
}

static u32 sectors_of(u32 words)
{
    u32 sectors = 0;
    for (u32 sector = 0; sector < LINE_SECTORS; sector++)
        sectors |= (u32)((words >> sector * SECTOR_WORDS & ALL_WORDS) != 0) << sector;
    return sectors;
}

static u32 words_of(u32 sectors)
{
    u32 words = 0;
    for (u32 sector = 0; sector < LINE_SECTORS; sector++)
        if (sectors >> sector & 1) words |= (u32)ALL_WORDS << sector * SECTOR_WORDS;
    return words;
}

static u32 first_row(u32 words) { return words & ~(words + (words & -words)); }

// Contiguous words are one write, together with the rest of the sector in which they end.
LineAccess stores_next(Stores *s)
{
    u32 at = s->gone % MOST_WAITING, words = s->line[at].words,
        part = s->line[at].each ? words : first_row(words);
    u32 beside = words & words_of(sectors_of(part)) & ~part;
    if (beside) part = first_row(beside);
    s->line[at].words &= ~part;
    LineAccess n = s->number[at] | (u64)s->line[at].pc << AT_PC
                 | (u64)sectors_of(part) << AT_SECTORS
                 | line_access_of_words(sectors_of(part), part);
    if (part == words) s->number[at] = 0, s->gone++;
    return beside ? n + ((u64)(STORE_BESIDE - STORE) << AT_KIND) : n;
}
