// Distinguishes a deadlock from progress. The machine is deterministic: a warp that is in the same
// state as some turns before, while nothing in memory has changed, repeats itself for ever unless
// another warp changes something. When that holds for every warp that does not wait at a barrier,
// and no further block can start, the grid is deadlocked, and nothing has to be guessed.
//
// A waiting warp may still store, the same value each time. Seeing that would cost every store a
// comparison with memory. So only a warp that may be waiting, because in its last turn it read what
// others may change, has its stores compared, up to the first store that changes something (lsu.c).
//
// A warp that counts its attempts is never twice in one state. So the grid also counts as
// deadlocked when all warps have for long enough read only unchanging values that others may
// change. A warp that reads a clock may give up at some time: while nothing else happens the clocks
// run faster and faster, until hours have passed on them.
#define _GNU_SOURCE
#include <driver_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "mbarrier.h"
#include "source_fill.h"
#include "cluster.h"
#include "deadlock.h"

// Warp instructions without any change; or a quarter of what the launch may take, if that is less.
static const u64 LONG_ENOUGH = 1ull << 26;
static const u64 HOURS = 1ull << 44; // in clocks

// Hashes eight lanes at once, so that the compiler can vectorise the loop.
static u64 hash(u64 seed, const void *data, size_t bytes)
{
    enum { SUMS = 8 };
    const u64 prime = 0x9e3779b97f4a7c15;
    u64 sum[SUMS], block[SUMS] = { 0 };
    const u8 *at = data;
    for (u32 n = 0; n < SUMS; n++) sum[n] = seed + n;
    for (; bytes; at += sizeof block) {
        size_t part = bytes < sizeof block ? bytes : sizeof block;
        if (part < sizeof block) memset(block, 0, sizeof block);
        memcpy(block, at, part);
        for (u32 n = 0; n < SUMS; n++) sum[n] = (sum[n] ^ block[n]) * prime, sum[n] ^= sum[n] >> 29;
        bytes -= part;
    }
    for (u32 n = 0; n < SUMS; n++) seed = (seed ^ sum[n]) * prime, seed ^= seed >> 32;
    return seed;
}

// Hashes everything that decides what the warp does next, except memory that it shares with others.
static u64 state_of(const Warp *w)
{
    const Kernel *k = w->block->grid->kernel;
    const u32 own[] = { w->pc,         w->active, w->depth,   w->live,       w->arrived,
                        w->arrived_pc, w->votes,  w->skipped, w->ready_count };
    u64 h = hash(w->clock_ready, own, sizeof own);
    for (u32 n = 0; n < w->ready_count; n++) {
        const u32 path[] = { w->ready[n].pc, w->ready[n].mask, w->ready[n].held, w->ready[n].late,
                             w->ready[n].depth };
        h = hash(h, path, sizeof path);
    }
    h = hash(h, w->regs, k->register_bytes);
    h = hash(h, w->frame_top, sizeof w->frame_top);
    for (u32 l = 0; l < LANES; l++) h = hash(h, w->local + l * k->local_bytes, w->frame_top[l]);
    u32 deepest = 0;
    for (u32 l = 0; l < LANES; l++)
        if (w->lane_depth[l] > deepest) deepest = w->lane_depth[l];
    for (u32 n = 0; n < deepest; n++) {
        const Frame *f = &w->frames[n];
        h = hash(h, f->back, sizeof f->back);
        h = hash(h, f->function, sizeof f->function);
        if (f->kept) h = hash(h, f->regs, k->register_bytes);
    }
    return h;
}

// The state to compare with is kept for exponentially longer spans (Brent, "An improved Monte Carlo
// factorization algorithm", BIT 1980), so a cycle of any length is found.
bool deadlock_warp_spins(Warp *w)
{
    Spin *s = &w->spin;
    u64 progress = w->block->grid->progress;
    bool same = s->low == w->polled_low && s->high == w->polled_high;
    s->low = w->polled_low;
    s->high = w->polled_high;
    if (!same) return false;
    if (s->progress != progress) {
        *s = (Spin){ .progress = progress, .low = s->low, .high = s->high };
    } else if (!s->repeats) {
        u64 state = state_of(w);
        s->repeats = s->span && state == s->state;
        if (s->age++ >= s->span) {
            s->state = state;
            s->span = 2 * s->span + 1;
            s->age = 0;
        }
    }
    w->turn_limit = s->span < WARP_TURNS / SPIN_TURNS ? SPIN_TURNS * (s->span + 1) : WARP_TURNS;
    return true;
}

bool deadlock_all_wait(const Grid *g)
{
    for (u32 n = 0; n < g->slot_count; n++) {
        const Block *b = g->slots[n];
        if (g->shuffled && b->occupied && b->seen != g->progress)
            return false; // its turn is yet to come
        for (u32 k = 0; b->occupied && !b->stuck && k < b->warp_count; k++)
            if (b->warps[k].live && !b->warps[k].waiting && !b->warps[k].spins) return false;
    }
    return true;
}

bool deadlock_is_certain(Grid *g, bool alone)
{
    if (!deadlock_all_wait(g)) return false;
    bool repeats = true, hosts = false, timed = false;
    for (u32 n = 0; n < g->slot_count; n++) {
        const Block *b = g->slots[n];
        for (u32 k = 0; b->occupied && !b->stuck && k < b->warp_count; k++) {
            const Warp *w = &b->warps[k];
            if (!w->live || w->waiting) continue;
            repeats &= w->spin.repeats && w->spin.progress == g->progress;
            hosts |= w->reads_host_memory;
            timed |= w->reads_clock;
        }
    }
    if (hosts && !alone) return false;
    if (timed && g->waited < HOURS) {
        g->waited += g->waited + g->steps;
        return false;
    }
    const u64 limit = g->launch->limit / 4;
    return repeats || timed
        || g->steps - g->idle_since > (limit && limit < LONG_ENOUGH ? limit : LONG_ENOUGH);
}

// ---- Where they stand ----

enum how { SPINS, AT_BARRIER, AT_MBARRIER, AT_CLUSTER, FOR_LANES, READY };

typedef struct Group { // warps that wait at one line for one reason
    Place place;
    enum how how;
    u32 barrier, warps;
    u32 ranges;         // ranges of warps that were listed
    const Block *block; // the current range: warps `first` to `last` of this block
    u32 first, last;
    char *names;
    size_t length;
} Group;

static u32 stands_at(const Warp *w, enum how *how)
{
    const Insn *code = w->block->grid->kernel->code;
    if (w->cluster_waiting) return *how = AT_CLUSTER, w->cluster_pc;
    if (w->waiting) return *how = AT_BARRIER, w->arrival[0].pc;
    if (w->polled) return *how = mbarrier_waits(w->polled) ? AT_MBARRIER : SPINS, w->polled - code;
    if (w->arrived) return *how = AT_BARRIER, w->arrived_pc;
    *how = w->ready_count && w->ready[0].held ? FOR_LANES : READY;
    return w->active ? w->pc : w->ready_count ? w->ready[0].pc : 0;
}

static bool same_place(const Place *a, const Place *b)
{
    return a->line == b->line && a->file == b->file && (a->line || a->function == b->function);
}

// Appends the group's current range to its text. Only the first few ranges are listed.
static void name_range(Group *g)
{
    enum { NAMED = 4, ROOM = 400 };
    if (!g->block) return;
    if (!g->names) g->names = calloc(1, ROOM);
    if (!g->names || g->ranges++ >= NAMED) return;
    const u32 *b = g->block->index;
    g->length +=
        snprintf(g->names + g->length, ROOM - g->length, "%sblock (%u,%u,%u) warp%s %u",
                 g->length ? "; " : "", b[0], b[1], b[2], g->last > g->first ? "s" : "", g->first);
    if (g->last > g->first)
        g->length += snprintf(g->names + g->length, ROOM - g->length, "-%u", g->last);
}

static void add_warp(Group *g, const Warp *w)
{
    g->warps++;
    if (g->block == w->block && w->number == g->last + 1) {
        g->last++;
        return;
    }
    name_range(g);
    g->block = w->block;
    g->first = g->last = w->number;
}

enum { MOST_GROUPS = 12 };

static u32 group_warps(const Grid *g, const Block *only, Group groups[MOST_GROUPS])
{
    u32 count = 0, n;
    for (u32 s = 0; s < g->slot_count; s++) {
        const Block *b = g->slots[s];
        for (u32 k = 0; b->occupied && (!only || b == only) && k < b->warp_count; k++) {
            const Warp *w = &b->warps[k];
            enum how how;
            if (!w->live) continue;
            u32 pc = stands_at(w, &how),
                barrier = how == AT_BARRIER ? w->waiting ? w->barrier : w->arrived_at : 0;
            Place place = source_place(g->kernel, pc);
            for (n = 0; n < count; n++)
                if (groups[n].how == how && groups[n].barrier == barrier
                    && same_place(&groups[n].place, &place))
                    break;
            if (n == MOST_GROUPS) n--; // the last group takes the remaining warps
            if (n == count)
                groups[count++] = (Group){ .place = place, .how = how, .barrier = barrier };
            add_warp(&groups[n], w);
        }
    }
    for (n = 0; n < count; n++) name_range(&groups[n]);
    return count;
}

char *deadlock_list_warps(const Grid *g, const Block *only)
{
    Group groups[MOST_GROUPS];
    u32 count = group_warps(g, only, groups);
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    for (u32 n = 0; n < count; n++) {
        Group *at = &groups[n];
        if (n) fputc('\n', f);
        if (at->place.line) fprintf(f, "%s:%u: ", names_base(at->place.file), at->place.line);
        fprintf(f, "%u warp%s ", at->warps, at->warps == 1 ? "" : "s");
        const char *s = at->warps == 1 ? "s" : "";
        if (at->how == SPINS) fprintf(f, "read%s again and again", s);
        else if (at->how == AT_BARRIER) fprintf(f, "wait%s at barrier %u", s, at->barrier);
        else if (at->how == AT_MBARRIER) fprintf(f, "wait%s at an mbarrier", s);
        else if (at->how == AT_CLUSTER) fprintf(f, "wait%s at the cluster's barrier", s);
        else if (at->how == FOR_LANES) fprintf(f, "wait%s for other lanes", s);
        else fprintf(f, "could go on");
        fprintf(f, " (%s%s)", at->names ? at->names : "", at->ranges > 4 ? "; ..." : "");
        free(at->names);
    }
    fclose(f);
    return text;
}

// A warp that lives and does not wait at a barrier of its block.
static const Warp *first_stuck(const Grid *g)
{
    for (u32 s = 0; s < g->slot_count; s++)
        for (u32 n = 0; g->slots[s]->occupied && n < g->slots[s]->warp_count; n++) {
            const Warp *w = &g->slots[s]->warps[n];
            if (w->live && !w->waiting) return w;
        }
    return NULL;
}

// What the grid waits for: another device, later work, an mbarrier, blocks that have no place, or
// what nobody does.
static void fill_cause(Report *r, const Grid *g, const Warp *first, u32 devices)
{
    u64 left = g->blocks - g->next;
    if (devices) {
        r->detail = NULL;
        r->cause = devices == 1 ? CAUSE_no_other_device_at_work : CAUSE_devices_wait_for_devices;
        r->number[0] = (ReportNumber){ "devices", devices };
    } else if ((r->cause && !(left && grid_is_shuffled(g))) || mbarrier_missing(first, r)) {
        return;
    } else if (left) {
        r->detail = NULL;
        r->cause = grid_is_shuffled(g) ? CAUSE_waits_for_shuffled_blocks
                                       : CAUSE_waits_for_blocks_without_place;
        r->number[0] = (ReportNumber){ "resident", g->resident };
        r->number[1] = (ReportNumber){ "left", (s64)left };
    } else {
        r->cause = CAUSE_nobody_does_it;
    }
}

void deadlock_report(Grid *g, enum report_cause cause, const char *kernel, u32 devices)
{
    OBSERVERS(grid_turn, g);
    const Warp *first = first_stuck(g);
    char detail[201] = "";
    if (kernel) snprintf(detail, sizeof detail, "%s", kernel);
    Report r = { .cause = cause, .detail = kernel ? detail : NULL };
    u32 lanes = first->active      ? first->active
              : first->ready_count ? first->ready[0].mask
                                   : first->live;
    source_fill(&r, first, first->polled ? first->polled : &g->kernel->code[first->pc],
                __builtin_ctz(lanes));
    fill_cause(&r, g, first, devices);
    r.waiting_warps = deadlock_list_warps(g, NULL);
    report_error(&r);
    free(r.waiting_warps);
    grid_fail(g, cudaErrorLaunchTimeout);
}
