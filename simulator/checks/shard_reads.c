// For each line of memory: which block of the shard read it first, or that two have read it. For
// each chunk of lines: that two blocks have read every line.
#include <stdlib.h>
#include <sys/mman.h>

#include "memory/memory.h"
#include "shard_reads.h"
#include "shadow.h"
#include "base/need.h"

static const u32 READ_BY_TWO = 1u << 31;

struct ShardReads {
    u32 *line, *chunk;
    u32 first,
        end; // its blocks' marks are first, first + 1, ...; lower marks are of earlier shards
    u32 two; // the mark of lines that two blocks have read
    u64 range,
        range_end; // chunks in which two blocks have read every line: the pass that was set last
    ShardReads *next;
};

static ShardReads *spare;

static u32 *make(u64 count)
{
    return need(mmap(NULL, count * sizeof(u32), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

void shard_reads_reset(ShardReads *r, const Grid *shard)
{
    r->first = r->end;
    if (shard->blocks >= READ_BY_TWO - r->first || r->two == ~0u) {
        madvise(r->line, MEMORY_SPAN / LINE_BYTES * sizeof *r->line, MADV_DONTNEED);
        madvise(r->chunk, MEMORY_SPAN / CHUNK_BYTES * sizeof *r->chunk, MADV_DONTNEED);
        r->first = 1;
        r->two = READ_BY_TWO;
    }
    r->end = r->first + (u32)shard->blocks;
    r->two++;
    r->range = r->range_end = 0;
}

ShardReads *shard_reads_make(const Grid *shard)
{
    ShardReads *r = spare;
    if (r) {
        spare = r->next;
    } else {
        r = need(calloc(1, sizeof *r));
        *r = (ShardReads){ .line = make(MEMORY_SPAN / LINE_BYTES),
                           .chunk = make(MEMORY_SPAN / CHUNK_BYTES),
                           .end = 1,
                           .two = READ_BY_TWO };
    }
    shard_reads_reset(r, shard);
    return r;
}

void shard_reads_free(ShardReads *r)
{
    r->next = spare;
    spare = r;
}

static bool is_whole(ShardReads *r, u64 chunk)
{
    if (r->chunk[chunk] == r->two) return true;
    u32 others = 0;
    for (u32 n = 0; n < CHUNK_LINES; n++) others |= r->line[chunk * CHUNK_LINES + n] ^ r->two;
    if (others) return false;
    r->chunk[chunk] = r->two;
    return true;
}

// Sets the pass to the surrounding chunks that two blocks have read; repeated calls extend it.
static void extend_pass(ShardReads *r, Access *a, u64 low, u64 high)
{
    enum { MOST = 64 };
    u64 here = (low - MEMORY_BASE) / CHUNK_BYTES;
    if (!is_whole(r, here)) return;
    if (here < r->range || here >= r->range_end) r->range = here, r->range_end = here + 1;
    for (u32 n = 0; n < MOST && r->range && r->chunk[r->range - 1] == r->two; n++) r->range--;
    for (u32 n = 0; n < MOST && r->chunk[r->range_end] == r->two; n++) r->range_end++;
    u64 from = MEMORY_BASE + r->range * CHUNK_BYTES, to = MEMORY_BASE + r->range_end * CHUNK_BYTES;
    if (high > to) return;
    a->pass_from = from + (a->base - low);
    a->pass_to = to - (high - a->base) + 1;
}

bool shard_reads_note(ShardReads *r, u32 block, u64 address, u64 bytes)
{
    const u32 me = r->first + block;
    u64 first = address - MEMORY_BASE, end = first + bytes;
    bool nothing = true;
    for (u64 n = first / LINE_BYTES; n <= (end - 1) / LINE_BYTES; n++) {
        u32 *line = &r->line[n];
        if (*line == r->two) continue;
        nothing = false;
        *line = *line < r->first || *line >= READ_BY_TWO || *line == me ? me : r->two;
    }
    return nothing;
}

bool shard_reads_note_first(ShardReads *r, u32 block, u64 address, u64 bytes)
{
    const u32 me = r->first + block;
    u32 *first = &r->line[(address - MEMORY_BASE) / LINE_BYTES],
        *end = &r->line[(address + bytes - 1 - MEMORY_BASE) / LINE_BYTES] + 1;
    for (const u32 *line = first; line < end; line++)
        if (*line >= r->first && *line < READ_BY_TWO && *line != me) return false;
    for (const u32 *line = first; line < end; line++)
        if (*line == r->two) return false;
    for (u32 *line = first; line < end; line++) *line = me;
    return true;
}

bool shard_reads_are_redundant(ShardReads *r, Access *a, const Span *spans, u64 from)
{
    u64 low = ~0ull, high = 0;
    bool nothing = true;
    for (const Span *s = spans; s < spans + a->span_count; s++) {
        u64 first = from + s->address, end = first + s->bytes;
        nothing &= shard_reads_note(r, a->warp->block->number, first, s->bytes);
        if (first < low) low = first;
        if (end > high) high = end;
    }
    if (nothing) extend_pass(r, a, low, high);
    return nothing;
}
