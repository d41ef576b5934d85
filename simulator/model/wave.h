// The blocks that the device holds together, a wave, with what each has noted down of its accesses;
// and their replay through L1 and the coalescers to L2 (wave.c).
#pragma once
#include "cache.h"
#include "caches.h"
#include "l2.h"
#include "line_access.h"
#include "base/need.h"

enum { RECENT = 4096, RECENT_TURNS = 6 }; // reads that a coalescer remembers, and for how long
static const u64 LOCAL_LINE = 1ull << 33; // lines of local memory have this bit in their number

typedef struct LineAccesses {
    LineAccess *line;
    u32 count, room, taken;
} LineAccesses;

typedef struct Read {
    u64 number;
    s32 when;
    u16 sectors, merged;
} Read;

// Blocks that are replayed together.
typedef struct Wave {
    struct CachedGrid *grid;
    struct {
        u64 first;
        u32 count;
        u16 sm;
        bool placed;
    } * block; // those that have ended: their notes in `all`
    u32 blocks, room;
    LineAccess *all;
    u64 line_accesses, line_accesses_room; // of them all
    bool cut;
    struct Wave *next; // of those that are spare
} Wave;

typedef struct CachedGrid {
    Grid *grid;
    Cache *l1;               // of each SM; not made: no block has run there
    LineAccesses *misses;    // of each SM, in the wave that is replayed
    u32 resident;            // blocks that share an L1
    u64 l1_bytes;            // what shared memory leaves of it
    Wave *wave;              // of the blocks that have ended and are not replayed
    Read *recent;            // of each GPC
    u32 turn;                // so far
    s32 *drift;              // of each SM, in steps of a turn
    CacheTally *cache_tally; // of each thread and instruction; the first thread's are l2's
    u32 cache_tally_stride;
    Spills spills;
    CacheTally spilled[2]; // loads, stores
    L2Launch l2;
} CachedGrid;

// Room for so many more.
static inline void make_room(LineAccesses *n, u32 more)
{
    if (n->count + more <= n->room) return;
    while (n->count + more > n->room) n->room = n->room ? 2 * n->room : 64;
    n->line = realloc(n->line, n->room * sizeof *n->line);
    if (!n->line) no_memory();
}

static inline void add_line_access(LineAccesses *n, LineAccess note)
{
    make_room(n, 1);
    n->line[n->count++] = note;
}

// By chance, but the same in every run.
static inline u32 mixed(u32 a, u32 b)
{
    u32 bits = (a * 0x9e3779b1u ^ b * 0x85ebca6bu) * 0xc2b2ae35u;
    return bits ^ bits >> 16;
}


// Replays the wave: its blocks' notes through the L1 of each SM, and what those miss through the
// coalescers to L2. `alone`: in this thread, as other threads may have something else to do.
void wave_replay(Wave *w, bool alone);
