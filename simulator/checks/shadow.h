// Shadow memory: for each 128-byte line, the accesses that touched it last. A regular access of a
// warp is one Site, which all the lines that it touches share. A line remembers two writes, and its
// reads, of which there are seldom more than two. A line with more writes is split into cells of 4
// bytes, or of 1 byte where a narrower access touches it.
#pragma once
#include "machine/observer.h"

enum { LINE_BYTES = 128 };
enum { MOST_READERS = 16 }; // unordered reads that a line or cell remembers

// Lane l of `lanes` touches `bytes` bytes from base + l * stride on. With stride 0 all lanes touch
// the same bytes. A site of several warps is a sweep: each whole warp touches the lines that follow
// those of the warp before it.
typedef struct Site {
    u64 base;
    s64 stride;
    u32 lanes;
    u32 bytes;
    u32 operation;              // number of the launch or copy
    u32 block, epoch, sequence; // of a launch (causality.h)
    u32 pc;                     // its instruction
    u8 warp;
    bool store : 1, strong : 1;
    bool adds : 1;                          // a reduction: an atomic whose old value is not read
    bool changes : 1;                       // an atomic, and not one that only asks for the value
    bool block_only : 1;                    // the strong access's scope is the block,
    bool cluster_only : 1, device_only : 1; // the cluster, the device
    u8 warps;   // of a sweep; 0: one warp. No __syncwarp() happened between accesses of a sweep
    u8 repeats; // the following groups of as many lanes read the same bytes: groups in all
} Site;

// Indices of sites; 0: none. Where several blocks reduce, or several operations have atomics,
// `added` keeps another one's beside the last one, `write`. `weaker` keeps a write that `write`
// would hide: a plain store before an atomic.
typedef struct Cell {
    u32 write, added, weaker, read[2];
} Cell;
typedef struct ReaderList {
    u32 count, read[MOST_READERS - 1];
} ReaderList; // the readers after the first

typedef struct Line {
    u32 generation;        // Shadow.generation; any other: nothing has touched the line
    u32 write[2], read[2]; // indices of sites; 0: none. Of more than two readers all but the first
                           // are in a ReaderList
    u32 cells;             // index of the cells that replace `write` and `read`; 0: none
    u32 saturation;        // reads with this ShadowCheck.saturation need no check here
    u8 granule;            // bytes of a cell
    bool of_many;          // its only site is a sweep of several warps
} Line;

// Consecutive lines: how many of them have that saturation.
enum { CHUNK_LINES = 64, CHUNK_BYTES = CHUNK_LINES * LINE_BYTES };
typedef struct Chunk {
    u32 generation, saturation, lines;
} Chunk;
typedef struct ChunkRange {
    u32 generation, saturation;
    u64 first, end;
} ChunkRange; // chunks whose lines all have that saturation; generation 0: none

typedef struct Shadow {
    Line *lines;
    Chunk *chunks;    // NULL: not counted
    ChunkRange range; // the latest answer of shadow_saturated_range()
    bool desaturated; // a saturated chunk has lost a line
    u64 base;         // address of the first line
    u32 generation;
    Site *sites;
    u32 site_count, site_room;
    Cell *cells;
    u32 cell_count, cell_room;
    ReaderList *reader_lists;
    u32 reader_lists_count, reader_lists_room;
    u32 free_words, free_bytes, free_reader_lists; // free lists
} Shadow;

// Between which threads an access races with an earlier one.
enum shadow_width { NO_RACE, WITHIN_WARP, BETWEEN_WARPS, BETWEEN_BLOCKS_OR_WIDER };

// An access to be checked.
typedef struct ShadowCheck {
    Site site;
    enum shadow_width raced; // the widest race so far
    u32 number;              // its index, once a line has recorded it; 0: not yet
    u32 synced, all_synced;  // WarpClocks.latest_synced and all_synced
    u32 saturation;          // a line that is saturated with this value need not check such reads;
                             // 0: check every line
    bool by_warp; // readers in shared memory are distinct by warp, in global memory by block
    // Synchronisation orders either all readers before a later write or none of them. Then a line
    // is saturated once two distinct readers have read all of it. Otherwise, if not by_warp, it is
    // saturated once it remembers as many readers as it can, from at least two blocks.
    bool only_full_barriers;
    bool warps_only_full_barriers; // the same for the warps of one block
    // Does it race with that earlier access in the bytes from `from` to `to`? If so, the race has
    // been reported.
    bool (*races)(struct ShadowCheck *, const Site *earlier, u64 from, u64 to);
    // Does an earlier access, of another operation, come before this one?
    bool (*is_over)(struct ShadowCheck *, const Site *earlier);
    // Does an earlier read come before this one, and so before everything that follows this one?
    bool (*follows)(struct ShadowCheck *, const Site *earlier);
    void *context;
} ShadowCheck;

// Shadows `bytes` bytes from `base` on, a multiple of LINE_BYTES. Memory is only used for the parts
// that are touched.
void shadow_make(Shadow *, u64 base, u64 bytes);
void shadow_make_chunks(Shadow *, u64 bytes);
void shadow_free(Shadow *, u64 bytes);

// Forgets every access: all come before what follows.
void shadow_reset(Shadow *);

// Compares the access with the accesses that are recorded for its bytes, and records it. Of its
// races the first of the widest is the last that is found.
void shadow_check(Shadow *, ShadowCheck *);

// Records several contiguous sites at once if no line has been touched before and no two of them
// share a line. False: nothing was recorded.
bool shadow_note_first(Shadow *, const Site *, u32 count);

static inline Line *shadow_line(const Shadow *s, u64 address)
{
    return &s->lines[(address - s->base) / LINE_BYTES];
}

// Do all lines of the range have that saturation?
static inline bool shadow_saturated(const Shadow *s, u64 address, u64 bytes, u32 saturation)
{
    const Line *n = shadow_line(s, address), *last = shadow_line(s, address + bytes - 1);
    for (; n <= last; n++)
        if (n->generation != s->generation || n->saturation != saturation) return false;
    return true;
}

// A range of lines around the address that all have that saturation; it may be empty. Repeated
// calls extend it.
void shadow_saturated_range(Shadow *, u64 address, u32 saturation, u64 *from, u64 *to);

// A read of one address by all its lanes, which repeats the warp's earlier read or continues it at
// the next byte. True: extending the earlier read's site recorded it.
bool shadow_extend_read(Shadow *, const Span *, u64 address, u32 block, u32 warp, u32 epoch,
                        u32 synced);

// The lanes of the site that touch bytes from `from` to `to`.
u32 site_lanes(const Site *, u64 from, u64 to);

// The lane of the site's first group that touches the same bytes as this one.
static inline u32 site_place(const Site *s, u32 lane)
{
    u32 first = __builtin_ctz(s->lanes);
    return s->repeats > 1 ? first + (lane - first) % __builtin_popcount(s->lanes) : lane;
}
