// Shadow memory: for each 128-byte line, which accesses touched it last. An access of a warp that
// is regular is one Site, shared by all the lines that it touches; a line remembers two that wrote
// it, and those that read it, most often two. Only where more have written, it is taken apart into
// cells of 4 bytes, or of 1 where something narrower touches it.
#pragma once
#include "machine/observer.h"

enum { LINE_BYTES = 128 };
enum { MOST_READERS = 16 }; // of those that nothing puts in order, a line or cell remembers so many

// Lane l of `lanes` touches `bytes` bytes from base + l * stride on. With stride 0 all touch the
// same. Of several warps, each whole, the next touches what lies right behind, in lines of its own.
typedef struct Site {
    u64 base;
    s64 stride;
    u32 lanes;
    u32 bytes;
    u32 operation;              // number of the launch or copy
    u32 block, epoch, sequence; // of a launch: the order of its threads (causality.h)
    u32 pc;                     // its instruction
    u8 warp;
    bool store : 1, strong : 1;
    bool adds : 1; // an atomic whose old value nobody asks for
    bool block_only : 1, cluster_only : 1,
        device_only : 1; // strong for its own block, or cluster, or device, only
    u8 warps;            // 0: this is the only one. In the visits of several no lanes have met
    u8 repeats; // more than 1: as many lanes right behind those have read the same, and so on, so
                // many rows in all
} Site;

// Indices of sites; 0: none. Where several blocks add, the last of them hides none of the others:
// `added` is one more.
typedef struct Cell {
    u32 write, added, read[2];
} Cell;
typedef struct ReaderList {
    u32 count, read[MOST_READERS - 1];
} ReaderList; // readers behind the first

typedef struct Line {
    u32 generation;        // Shadow.generation; another one: nothing has touched it
    u32 write[2], read[2]; // indices of sites; 0: none. Of more than two readers all but the first
                           // are in a ReaderList
    u32 cells;             // index of its cells, which then are in place of the above; 0: none
    u32 saturation;        // ShadowCheck.saturation of those whose reads need not be looked at
    u8 granule;            // bytes of a cell
    bool of_many;          // its only site is one of several warps
} Line;

// Lines side by side: how many of them are as saturation as that.
enum { CHUNK_LINES = 64, CHUNK_BYTES = CHUNK_LINES * LINE_BYTES };
typedef struct Chunk {
    u32 generation, saturation, lines;
} Chunk;
typedef struct ChunkRange {
    u32 generation, saturation;
    u64 first, end;
} ChunkRange; // all of whose lines are; generation 0: none is

typedef struct Shadow {
    Line *lines;
    Chunk *chunks;    // NULL: nobody asks
    ChunkRange range; // that was asked for last
    bool desaturated; // a chunk that was saturation is no more
    u64 base;         // address of the first
    u32 generation;
    Site *sites;
    u32 site_count, site_room;
    Cell *cells;
    u32 cell_count, cell_room;
    ReaderList *reader_lists;
    u32 reader_lists_count, reader_lists_room;
    u32 free_words, free_bytes, free_reader_lists; // lists of those that lines no longer need
} Shadow;

// An access that is looked at.
typedef struct ShadowCheck {
    Site site;              // what it is; given a number when the first line remembers it
    u32 number;             // 0: none yet
    u32 synced, all_synced; // visits up to which a lane of the warp knows what another did, and all
                            // do what all did
    u32 saturation; // of all reads that a line need not look at once it is saturation; 0: look at
                    // all
    bool by_warp;   // those who are apart are of two warps, and not of two blocks
    bool only_full_barriers; // nothing puts one of them behind another that does not put all behind
                             // it: then a line is saturation once two have read all of it; else, if
                             // not by_warp, once it remembers as many as it can, of two blocks
    bool warps_only_full_barriers; // the same of the warps of a block: none meets some of them
                                   // alone, or ends before the others meet
    // Is it a race with that earlier access, as far as bytes `from` up to `to` go? It has reported
    // it then.
    bool (*races)(struct ShadowCheck *, const Site *earlier, u64 from, u64 to);
    // Does an earlier access, of another operation, come before this one?
    bool (*is_over)(struct ShadowCheck *, const Site *earlier);
    // Does an earlier read come before this one, and so before all that come behind this one?
    bool (*follows)(struct ShadowCheck *, const Site *earlier);
    void *context;
} ShadowCheck;

// Room for `bytes` bytes from `base` on, a multiple of LINE_BYTES. The memory is used as it is
// touched.
void shadow_make(Shadow *, u64 base, u64 bytes);
void shadow_make_chunks(Shadow *, u64 bytes);
void shadow_free(Shadow *, u64 bytes);

// All that was remembered comes before all that follows.
void shadow_reset(Shadow *);

// Compares the access with what is remembered of its bytes, and remembers it. Stops at the first
// line with a race.
void shadow_check(Shadow *, ShadowCheck *);

// The same of several, each of bytes without a hole, if no line that they touch has been touched
// before, or is by two of them. False: it is not so, and nothing is remembered.
bool shadow_note_first(Shadow *, const Site *, u32 count);

static inline Line *shadow_line(const Shadow *s, u64 address)
{
    return &s->lines[(address - s->base) / LINE_BYTES];
}

// Do its lines have no need to look at reads that are as saturation as this?
static inline bool shadow_saturated(const Shadow *s, u64 address, u64 bytes, u32 saturation)
{
    const Line *n = shadow_line(s, address), *last = shadow_line(s, address + bytes - 1);
    for (; n <= last; n++)
        if (n->generation != s->generation || n->saturation != saturation) return false;
    return true;
}

// The range of lines, of those round about here, that are all as saturation as this: empty, or
// around the address. It grows as it is asked for.
void shadow_saturated_range(Shadow *, u64 address, u32 saturation, u64 *from, u64 *to);

// A saturation read of lanes that all read the same, once more or right behind what they read
// before: is that all that there is to remember? It is remembered then.
bool shadow_extend_read(Shadow *, const Span *, u64 address, u32 block, u32 warp, u32 epoch,
                        u32 synced);

// Lanes of the site that touch bytes `from` up to `to`.
u32 site_lanes(const Site *, u64 from, u64 to);

// The one of `lanes` that touches what this one does, of any row.
static inline u32 site_place(const Site *s, u32 lane)
{
    u32 first = __builtin_ctz(s->lanes);
    return s->repeats > 1 ? first + (lane - first) % __builtin_popcount(s->lanes) : lane;
}
