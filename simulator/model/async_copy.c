// A copy through L1 takes each lane's bytes from L1's banks to shared memory's banks, as many lanes
// at a time as fit into a line. Past L1, where lanes copy 16 bytes, data moves from one line of the
// source to one line of shared memory at a time, sector by sector; of lanes with one destination
// the last one's bytes count. One wavefront moves what lies in a line as it is to lie in the other:
// shifted, mirrored, or with bits of its position flipped (swizzled), and the same halves of all
// sectors that it moves.
//
// All of this was inferred from an H200's counts of random copies (simulator/test/accesses).
#include "async_copy.h"
#include "coalesce.h"
#include "machine/copy.h"

typedef struct AsyncCopy {
    u64 from[LANES], to[LANES];
    u32 lanes;
} AsyncCopy; // lanes that read something

static AsyncCopy async_copy_of(const Access *a)
{
    AsyncCopy c = { .lanes = 0 };
    for (u32 rest = a->mask; rest; rest &= rest - 1) {
        u32 l = __builtin_ctz(rest);
        c.from[l] = copy_from(a->warp, a->insn, l), c.to[l] = copy_to(a->warp, a->insn, l);
        if (copy_given(a->warp, a->insn, l)) c.lanes |= 1u << l;
    }
    return c;
}

// The lanes to whose destination no later lane copies.
static u32 last_ones(const AsyncCopy *c)
{
    u32 last = c->lanes;
    for (u32 rest = c->lanes; rest; rest &= rest - 1)
        for (u32 later = rest & (rest - 1); later; later &= later - 1)
            if (c->to[__builtin_ctz(later)] == c->to[__builtin_ctz(rest)]) last &= ~(rest & -rest);
    return last;
}

// The lanes that copy from the same source line as the first lane, to the same `bytes` of shared
// memory.
static u32 same_lines(const AsyncCopy *c, u32 lanes, u32 bytes)
{
    u32 first = __builtin_ctz(lanes), same = 0;
    for (u32 rest = lanes; rest; rest &= rest - 1) {
        u32 l = __builtin_ctz(rest);
        if (c->from[l] / LINE_BYTES == c->from[first] / LINE_BYTES
            && c->to[l] / bytes == c->to[first] / bytes)
            same |= 1u << l;
    }
    return same;
}

static u32 count_same_lines(const AsyncCopy *c, u32 lanes, u32 bytes)
{
    u32 count = 0;
    for (; lanes; lanes &= ~same_lines(c, lanes, bytes)) count++;
    return count;
}

void async_copy_count(const Access *a, u32 *lines, u32 *sectors)
{
    AsyncCopy c = async_copy_of(a);
    *lines = count_same_lines(&c, c.lanes, LINE_BYTES);
    *sectors = count_same_lines(&c, last_ones(&c), SECTOR_BYTES);
}

enum { CHUNK = 16, CHUNKS = LINE_BYTES / CHUNK }; // of a lane, and in a line

enum way { MOVED_ON, FLIPPED, MIRRORED, WAYS };

// Wavefronts from one line to one other.
static u32 count_passes(const AsyncCopy *c, u32 lanes, enum way way)
{
    u8 halves[LINE_SECTORS][CHUNKS] = { { 0 } };
    u32 passes = 0;
    for (; lanes; lanes &= lanes - 1) {
        u32 l = __builtin_ctz(lanes), from = c->from[l] / CHUNK, to = c->to[l] / CHUNK;
        u32 by = (way == MOVED_ON ? to - from : way == FLIPPED ? to ^ from : to + from) % CHUNKS;
        halves[to % CHUNKS / 2][by] |= 1 << to % 2;
    }
    for (u32 s = 0; s < LINE_SECTORS; s++)
        for (u32 by = 0; by < CHUNKS; by++) {
            bool moved = !halves[s][by];
            for (u32 before = 0; before < s; before++) moved |= halves[before][by] == halves[s][by];
            passes += !moved;
        }
    return passes;
}

static u32 passes_past_l1(const Access *a, u32 *conflicts)
{
    AsyncCopy c = async_copy_of(a);
    u32 passes = 0;
    for (u32 left = last_ones(&c), some; left; left &= ~some) {
        some = same_lines(&c, left, LINE_BYTES);
        u32 fewest = LANES;
        for (u32 way = 0, count; way < WAYS; way++)
            if ((count = count_passes(&c, some, way)) < fewest) fewest = count;
        passes += fewest;
        *conflicts += fewest - 1;
    }
    return passes ? passes : 1;
}

static u32 passes_by_l1(const Access *a, u32 *conflicts)
{
    AsyncCopy c = async_copy_of(a);
    u32 size = LINE_BYTES / a->bytes, passes = 0;
    for (u32 first = 0; first < LANES; first += size) {
        u8 from[LANES] = { 0 }, to[LANES] = { 0 };
        u32 most = 0;
        for (u32 l = first; l < first + size; l++) {
            u32 read = c.lanes >> l & 1 ? ++from[c.from[l] / a->bytes % size] : 0,
                put = a->mask >> l & 1 ? ++to[c.to[l] / a->bytes % size] : 0;
            if (read > most) most = read;
            if (put > most) most = put;
        }
        passes += most;
        *conflicts += most ? most - 1 : 0;
    }
    return passes;
}

u32 async_copy_wavefronts(const Access *a, u32 *conflicts)
{
    *conflicts = 0;
    return access_is_async_past_l1(a) ? passes_past_l1(a, conflicts) : passes_by_l1(a, conflicts);
}
