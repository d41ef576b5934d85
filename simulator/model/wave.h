// A wave: the blocks that the device holds at once, with the recorded line accesses of each, and
// their replay through L1 and the coalescers to L2 (wave.c).
#pragma once
#include "cache.h"
#include "caches.h"
#include "l2.h"
#include "line_access.h"
#include "base/need.h"

enum { RECENT = 4096, RECENT_TURNS = 6 }; // reads that a coalescer remembers, and for how long
static const u64 LOCAL_LINE = 1ull << 33; // set in the numbers of local memory's lines

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
    } * block; // that have ended: their accesses in `all`
    u32 blocks, room;
    LineAccess *all;
    u64 line_accesses, line_accesses_room; // of them all
    bool cut;
    struct Wave *next; // of the free list
} Wave;

typedef struct CachedGrid {
    Grid *grid;
    Cache *l1;               // of each SM; not allocated: no block has run there
    LineAccesses *misses;    // of each SM, in the wave that is being replayed
    u32 resident;            // blocks that share an L1
    u64 l1_bytes;            // that shared memory leaves
    Wave *wave;              // of blocks that have ended and are not replayed yet
    Read *recent;            // of each GPC
    u32 turn;                // so far
    s32 *drift;              // of each SM, in steps of a turn
    CacheTally *cache_tally; // of each thread and instruction; the first thread's include L2's
    u32 cache_tally_stride;
    Spills spills;
    CacheTally spilled[2]; // loads, stores
    L2Launch l2;
} CachedGrid;

// Makes room for so many more.
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

// Pseudo-random, and the same in every run.
static inline u32 mixed(u32 a, u32 b)
{
    u32 bits = (a * 0x9e3779b1u ^ b * 0x85ebca6bu) * 0xc2b2ae35u;
    return bits ^ bits >> 16;
}


// Replays the wave: its blocks' line accesses through each SM's L1, and the misses through the
// coalescers to L2. `alone`: in this thread, because other threads may be busy.
void wave_replay(Wave *w, bool alone);
