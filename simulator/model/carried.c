#define _GNU_SOURCE
#include "carried.h"
#include "base/need.h"
#include "memory/choices.h"
#include "memory/writer.h"
#include "program/kernel.h"
#include "report/report.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORD = WRITER_WORD, PAGE = 4096 };

// The known texts: what the host was given; what copies have taken to it; and what the device left
// in managed memory, which is made of the mirror when something is in neither of the others.
static Pieces given, taken, left;
static Choices choices;
static bool left_is_old;
static int page_table;    // of this process
static u8 *view, *mirror; // of managed memory from MEMORY_SHARED on: what the host has there; and a
                          // copy of what the device has. NULL: nothing is kept

static const Allocation **kept; // managed memory
static u64 kept_count;

// Managed memory is; and of a call what the host was given. The process is not the owner's, so that
// nobody says what it was given.
static bool is_kept, is_told, is_another;

static bool tells(void) { return is_told || is_another; }

static u8 *hosts(u64 address) { return view + (address - MEMORY_SHARED); }

static u8 *mirror_of(u64 address) { return mirror + (address - MEMORY_SHARED); }

static bool is_managed(u64 address) { return address - MEMORY_SHARED < MEMORY_SHARED_SPAN / 2; }

// The next part of the allocation, from *from on, that has memory behind it. False: there is none.
static bool next_part(const Allocation *a, u64 *from, u64 *end)
{
    u64 all = a->base + a->size;
    if (a->freed || *from >= all || !memory_shared_part(from, end) || *from >= all) return false;
    if (*end > all) *end = all;
    return true;
}

// The mirror has it, too.
static void keep(u64 address, u64 bytes)
{
    memcpy(mirror_of(address), (void *)address, bytes);
    left_is_old = true;
}

// ---- Which words are known ----

// Adds the words of a range that kernels and fills have written, as `bytes` has them.
static void add_made(Pieces *to, u64 address, u64 count, const u8 *bytes)
{
    for (u64 at = 0, run; at < count; at += run) {
        bool made;
        run = writer_run(address + at, count - at, &made);
        if (made) pieces_add(to, bytes + at, run);
    }
}

static void renew_left(void)
{
    if (!left_is_old) return;
    pieces_forget(&left);
    for (u64 n = 0; n < kept_count; n++)
        add_made(&left, kept[n]->base, kept[n]->size, mirror_of(kept[n]->base));
    left_is_old = false;
}

// Adds where this text knows words from that no text before it knows, or only in short pieces.
// Returns how many are unknown still.
static u64 narrow(Pieces *text, u8 base, const u32 *words, u64 count, u8 *from)
{
    u64 rest = 0;
    u8 *here = need(malloc(count));
    pieces_find(text, words, count, here);
    for (u64 n = 0; n < count; n++) {
        bool better = here[n] >= PIECE_LONG ? from[n] < PIECE_LONG : from[n] == PIECE_NONE;
        if (here[n] && better) from[n] = here[n] & PIECE_SAME ? here[n] : (u8)(here[n] + base);
        rest += !from[n];
    }
    free(here);
    return rest;
}

// Finds where the words come from (choices.h). Returns how many are unknown.
static u64 find(const u32 *words, u64 count, u8 *from)
{
    memset(from, PIECE_NONE, count);
    u64 rest = narrow(&given, 0, words, count, from);
    if (rest) rest = narrow(&taken, PIECE_CURSORS, words, count, from);
    if (!rest) return 0;
    renew_left();
    return narrow(&left, 2 * PIECE_CURSORS, words, count, from);
}

// How many bytes the host has worked out, or said by the order of known words.
static u64 worked_out(const void *bytes, u64 count)
{
    u64 words = count / WORD, part = count % WORD ? WORD : 0; // of which nobody can say more
    if (is_another) return count;
    if (!is_told || !words) return part;
    u8 *from = need(malloc(words));
    u32 *copy = need(malloc(words * WORD));
    memcpy(copy, bytes, words * WORD);
    u64 rest = find(copy, words, from) * WORD;
    rest += choices_count(&choices, from, words);
    free(copy);
    free(from);
    return rest + part;
}

u64 carried_unknown(const void *bytes, u64 count) { return worked_out(bytes, count) / WORD; }

// ---- What the program does ----

void carried_given(const void *bytes, u64 count) { pieces_add(&given, bytes, count); }

void carried_in(const void *bytes, u64 count)
{
    if (tells()) report_crossing(CROSSING_HOSTS, worked_out(bytes, count));
}

void carried_pinned(u64 bytes)
{
    if (tells()) report_crossing(CROSSING_PINNED, bytes);
}

void carried_out(u64 address, u64 bytes)
{
    if (is_told) add_made(&taken, address, bytes, (const u8 *)address);
}

// ---- Launches, copies and fills ----

enum { KINDS = 32, BEFORE = 16 }; // that are remembered, and operations of each
enum { PERIODS = BEFORE / 2 };

// A kind's latest operations, the last one first. A kernel is a kind.
typedef struct Operations {
    const void *kind;
    u64 count; // words of each
    u32 *words[BEFORE];
    u32 rule; // that the last one followed: its period, from 1 on, twice; and 1 if it goes on
} Operations;

static Operations operations[KINDS];
static u32 oldest;

static void forget_operations(Operations *o)
{
    for (u32 n = 0; n < BEFORE; n++) free(o->words[n]);
    *o = (Operations){ 0 };
}

static Operations *operations_of(const void *kind, u64 count)
{
    for (u32 n = 0; n < KINDS; n++)
        if (operations[n].kind == kind && operations[n].count == count) return &operations[n];
    Operations *o = &operations[oldest];
    oldest = (oldest + 1) % KINDS;
    forget_operations(o);
    *o = (Operations){ .kind = kind, .count = count, .rule = 2 };
    for (u32 n = 0; n < BEFORE; n++) o->words[n] = need(calloc(count, WORD));
    return o;
}

// How many of the words are not as an operation would have them by that rule: the words of the
// latest operation at its place in the period; or going on from there, as far from them as they are
// from those a period before.
static u64 departing(const Operations *o, const u32 *words, u32 rule)
{
    u32 period = rule / 2;
    bool goes_on = rule % 2;
    const u32 *last = o->words[period - 1], *before = o->words[2 * period - 1];
    u64 rest = 0;
    for (u64 n = 0; n < o->count; n++)
        rest += words[n] != (goes_on ? 2 * last[n] - before[n] : last[n]);
    return rest;
}

// What is new, in bytes: words, and that another rule holds from now on. All other words follow one
// rule, else each would say which it follows.
static u64 count_new(Operations *o, const u32 *words)
{
    u32 best = o->rule;
    u64 least = departing(o, words, best);
    for (u32 rule = 2; rule < 2 * (PERIODS + 1) && least; rule++) {
        u64 rest = departing(o, words, rule);
        if (rest >= least) continue;
        least = rest;
        best = rule;
    }
    bool turns = best != o->rule;
    o->rule = best;
    return least * WORD + turns;
}

// The bytes that the words say, which then are the latest ones of their kind.
static u64 add_operation(const void *kind, const u32 *words, u64 count)
{
    Operations *o = operations_of(kind, count);
    u32 *now = o->words[BEFORE - 1]; // in the place of the oldest
    u64 bytes = count_new(o, words);
    memcpy(now, words, count * WORD);
    memmove(o->words + 1, o->words, (BEFORE - 1) * sizeof *o->words);
    o->words[0] = now;
    return bytes;
}

void carried_operation(const void *kind, const u32 *words, u64 count)
{
    enum { ADDRESSES = 2 * sizeof(u64) }; // from one to the other, or an address and a length
    if (tells()) report_crossing(CROSSING_HOSTS, add_operation(kind, words, count));
    else report_crossing(CROSSING_WHERE, ADDRESSES);
}

// Which kernel is launched says a byte, where it is not the one whose turn it is.
static u64 add_kernel(const Kernel *kernel)
{
    static const Kernel *before[PERIODS];
    static u32 period = 1;
    bool in_turn = before[period - 1] == kernel;
    for (u32 n = 0; n < PERIODS && before[period - 1] != kernel; n++)
        if (before[n] == kernel) period = n + 1;
    memmove(before + 1, before, (PERIODS - 1) * sizeof *before);
    before[0] = kernel;
    return !in_turn;
}

void carried_launch(const Launch *l)
{
    enum { SHAPE = 10 };
    if (l->depth || !writers) return;
    u64 count = SHAPE + (l->kernel->param_bytes + WORD - 1) / WORD;
    u32 *words = need(calloc(count, WORD));
    memcpy(words, l->grid, sizeof l->grid);
    memcpy(words + 3, l->block, sizeof l->block);
    memcpy(words + 6, l->cluster, sizeof l->cluster);
    words[9] = l->dynamic_shared;
    memcpy(words + SHAPE, l->params, l->kernel->param_bytes);
    u64 bytes = add_operation(l->kernel, words, count) + add_kernel(l->kernel);
    report_crossing(tells() ? CROSSING_HOSTS : CROSSING_WHERE, bytes);
    free(words);
}

// ---- Managed memory ----

// The host has changed some words of this part, which the device has as they are now.
static void look_at(u64 address, u64 bytes)
{
    u64 count = bytes / WORD, rest = 0;
    const u32 *now = (const u32 *)address, *before = (const u32 *)mirror_of(address);
    u8 *from = need(calloc(count, 1));
    if (is_told) find(now, count, from);
    for (u64 n = 0; n < count; n++) {
        if (now[n] == before[n]) {
            from[n] = CHOICE_KEPT;
            continue;
        }
        rest += from[n] ? 0 : WORD;
        writer_set(address + n * WORD, WORD, WRITER_HOST);
    }
    if (is_told) rest += choices_count(&choices, from, count);
    free(from);
    report_crossing(CROSSING_PAGES, rest);
    keep(address, bytes);
}

// Takes over the pages of the part that the host has changed, and looks at them.
static void look_for_changes(u64 from, u64 end)
{
    u64 changed = from; // a run of changed pages begins here
    for (u64 page = from; page < end; page += PAGE) {
        u64 bytes = end - page < PAGE ? end - page : PAGE;
        if (memcmp(hosts(page), mirror_of(page), bytes) != 0) {
            memcpy((void *)page, hosts(page), bytes);
            continue;
        }
        if (changed < page) look_at(changed, page - changed);
        changed = page + PAGE;
    }
    if (changed < end) look_at(changed, end - changed);
}

void carried_look(void)
{
    for (u64 n = 0; n < kept_count; n++)
        for (u64 from = kept[n]->base, end; next_part(kept[n], &from, &end); from = end)
            look_for_changes(from, end);
}

// The device may have changed some words of this part: the host gets these, and keeps what it has
// changed of the others meanwhile.
static void show(u64 address, u64 bytes)
{
    const u8 *now = (const u8 *)address, *before = mirror_of(address);
    u64 shown = 0;
    if (memcmp(now, before, bytes) == 0) return;
    for (u64 n = 0, part; n < bytes; n += part) {
        part = bytes - n < WORD ? bytes - n : WORD;
        if (memcmp(now + n, before + n, part) == 0) continue;
        memcpy(hosts(address + n), now + n, part);
        shown += part;
    }
    report_crossing(CROSSING_SHOWN, shown);
    keep(address, bytes);
}

// Pages that the device has not touched are in no page table, and have not changed.
static void show_all(const Allocation *a)
{
    enum { CHUNK = 512, IS_THERE = 62 }; // bits 62 and 63 of an entry: swapped, present
    u64 entries[CHUNK];
    for (u64 at = 0; at < a->size && !a->freed; at += CHUNK * PAGE) {
        ssize_t got = pread(page_table, entries, sizeof entries,
                            (off_t)((a->base + at) / PAGE * sizeof *entries));
        if (got != sizeof entries) memset(entries, 0xff, sizeof entries);
        for (u64 n = 0, from = at; n < CHUNK && from < a->size; n++, from += PAGE)
            if (entries[n] >> IS_THERE)
                show(a->base + from, a->size - from < PAGE ? a->size - from : PAGE);
    }
}

void carried_done(void)
{
    for (u64 n = 0; n < kept_count; n++) show_all(kept[n]);
}

void carried_written(u64 address, u64 bytes)
{
    if (mirror) show(address, bytes);
}

static void make_room(void)
{
    mirror = need(mmap(NULL, MEMORY_SHARED_SPAN / 2, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    view = need(memory_shared_view(MEMORY_SHARED_SPAN / 2));
    page_table = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

static void forget_freed(void)
{
    u64 live = 0;
    for (u64 n = 0; n < kept_count; n++) {
        if (!kept[n]->freed) kept[live++] = kept[n];
        else madvise(mirror_of(kept[n]->base), kept[n]->size, MADV_DONTNEED);
    }
    kept_count = live;
}

// From now on the device's bytes are its own.
void carried_allocated(const Allocation *a)
{
    if (!is_kept || !is_managed(a->base)) return;
    if (!mirror) make_room();
    if (!is_told) forget_freed();
    need(mmap((void *)a->base, a->size, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
    kept = need(realloc(kept, (kept_count + 1) * sizeof *kept));
    kept[kept_count++] = a;
}

void carried_keep(void) { is_kept = true; }

void carried_by_another(void) { is_another = is_kept; }

bool carried_is_by_another(void) { return is_another; }

// What is in managed memory by now has nothing to do with the call.
void carried_begin(void)
{
    is_told = true;
    forget_freed();
    left_is_old = true;
    pieces_forget(&given);
    pieces_forget(&taken);
    choices = (Choices){ 0 };
    for (u32 n = 0; n < KINDS; n++) forget_operations(&operations[n]);
    for (u64 n = 0; n < kept_count; n++) {
        for (u64 from = kept[n]->base, end; next_part(kept[n], &from, &end); from = end) {
            memcpy((void *)from, hosts(from), end - from);
            keep(from, end - from);
        }
        writer_set(kept[n]->base, kept[n]->size, WRITER_HOST);
    }
}
