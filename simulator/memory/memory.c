// Device memory. Allocations are handed out at rising addresses with a gap behind each; freed ones
// stay in the list, their pages given back, so that a late access is known for what it is.
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

enum { GAP = 1 << 20, PAGE = 4096, SHARED_ALIGN = 64 << 10, LARGE = 4 << 20 };

u64 *memory_defined_bits, *memory_computed_bits;
static bool all_is_written;

static Allocation **table; // by rising address
static u32 count, room;
static u64 own[MOST_DEVICES], capacity;
static u64 *used[MOST_DEVICES]; // own and other processes'; NULL: there are none
static int shared_file = -1;
static u64 shared_offset;                       // where the shared part starts in that file
static void (*tell_shared)(const Allocation *); // NULL: nobody asks

// Where the next allocation goes in each part of the range, and where the part ends.
static struct {
    u64 next, end;
} parts[] = {
    { MEMORY_BASE + GAP, MEMORY_SHARED },
    { MEMORY_SHARED + GAP, MEMORY_PINNED },
    { MEMORY_PINNED + GAP, MEMORY_BASE + MEMORY_SPAN },
};

static u32 part_of(enum memory_kind kind)
{
    return kind == MEMORY_MANAGED ? 1 : kind == MEMORY_PINNED_HOST ? 2 : 0;
}

// A bit for each byte.
static u64 *make_bits(void)
{
    return mmap(NULL, MEMORY_SPAN / 8, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

bool memory_init(u64 bytes)
{
    capacity = bytes;
    void *range = mmap((void *)MEMORY_BASE, MEMORY_SPAN, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (range != (void *)MEMORY_BASE) return false;
    memory_defined_bits = make_bits();
    memory_computed_bits = make_bits();
    return memory_defined_bits != MAP_FAILED && memory_computed_bits != MAP_FAILED;
}

bool memory_share(int fd, u64 offset)
{
    shared_file = fd;
    shared_offset = offset;
    void *range = mmap((void *)MEMORY_SHARED, MEMORY_SHARED_SPAN, PROT_NONE,
                       MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, (off_t)offset);
    if (range == MAP_FAILED) return false;
    madvise(range, MEMORY_SHARED_SPAN,
            MADV_NOHUGEPAGE); // a page that one side makes is 4 KiB for both
    return true;
}

void *memory_shared_view(u64 bytes)
{
    void *view = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, shared_file,
                      (off_t)shared_offset);
    if (view == MAP_FAILED) return NULL;
    madvise(view, bytes, MADV_NOHUGEPAGE);
    return view;
}

bool memory_shared_part(u64 *from, u64 *end)
{
    u64 zero = MEMORY_SHARED - shared_offset; // the address of the file's first byte
    off_t data = lseek(shared_file, (off_t)(*from - zero), SEEK_DATA);
    off_t hole = data < 0 ? data : lseek(shared_file, data, SEEK_HOLE);
    if (hole < 0) return false;
    *from = zero + (u64)data;
    *end = zero + (u64)hole;
    return true;
}

static u64 round_up(u64 n, u64 unit) { return (n + unit - 1) / unit * unit; }

static void account(u32 device, u64 more)
{
    own[device] += more;
    if (used[device]) __atomic_fetch_add(used[device], more, __ATOMIC_RELAXED);
}

void memory_count_in(u64 *const shared[MOST_DEVICES]) { memcpy(used, shared, sizeof used); }

void memory_end(void)
{
    for (u32 d = 0; d < MOST_DEVICES; d++) account(d, -own[d]);
}

static void remember(u64 to[MEMORY_CALLERS], const u64 *callers)
{
    if (callers) memcpy(to, callers, MEMORY_CALLERS * sizeof *to);
}

// Index of the last allocation that starts at or below the address, or -1.
static s64 last_below(u64 address)
{
    s64 low = 0, high = count;
    while (low < high) {
        s64 middle = (low + high) / 2;
        if (table[middle]->base <= address) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

// Puts it where it belongs by address. Within a part addresses rise, so little ever moves.
static bool enter(Allocation *a)
{
    if (count == room) {
        u32 more = room ? 2 * room : 64;
        Allocation **larger = realloc(table, more * sizeof *table);
        if (!larger) return false;
        table = larger;
        room = more;
    }
    s64 at = last_below(a->base) + 1;
    memmove(table + at + 1, table + at, (count - at) * sizeof *table);
    table[at] = a;
    count++;
    if (at) table[at - 1]->next = a;
    a->next = at + 1 < count ? table[at + 1] : NULL;
    return true;
}

Allocation *memory_place(u64 base, u64 size, enum memory_kind kind, u32 device)
{
    Allocation *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    *a = (Allocation){
        .base = base, .size = size, .kind = kind, .device = device, .number = count + 1
    };
    if (!enter(a)) {
        free(a);
        return NULL;
    }
    if (part_of(kind) || all_is_written) memory_define(base, size);
    return a;
}

u64 memory_reserve(u64 bytes)
{
    u64 base = round_up(parts[0].next, PAGE), pages = round_up(bytes, PAGE);
    if (pages < bytes || base + pages + GAP > parts[0].end) return 0;
    if (mprotect((void *)base, pages, PROT_READ | PROT_WRITE)) return 0;
    parts[0].next = base + pages + GAP;
    return base;
}

Allocation *memory_alloc(u64 size, u64 align, enum memory_kind kind, u32 device, const u64 *callers)
{
    u32 part = part_of(kind);
    if (!size || size > MEMORY_SPAN || (!part && size > capacity - memory_used(device)))
        return NULL;
    if (part && align < SHARED_ALIGN) align = SHARED_ALIGN;
    u64 base = round_up(parts[part].next, align < PAGE ? PAGE : align);
    u64 pages = round_up(size, PAGE);
    if (base + pages + GAP > parts[part].end) return NULL;
    if (mprotect((void *)base, pages, PROT_READ | PROT_WRITE)) return NULL;
    if (!part && pages >= LARGE)
        madvise((void *)base, pages,
                MADV_HUGEPAGE); // fewer faults, and ways that the host has to look up
    Allocation *a = memory_place(base, size, kind, device);
    if (!a) return NULL;
    remember(a->made, callers);
    if (!part) account(device, size);
    parts[part].next = base + pages + GAP;
    if (part && tell_shared) tell_shared(a);
    return a;
}

void memory_tell_shared(void (*allocated)(const Allocation *)) { tell_shared = allocated; }

bool memory_back(const Allocation *a, int fd, u64 offset)
{
    u64 pages = round_up(a->size, PAGE), done = 0;
    while (done < a->size) {
        ssize_t n = pwrite(fd, (void *)(a->base + done), a->size - done, (off_t)(offset + done));
        if (n <= 0) return false;
        done += (u64)n;
    }
    return mmap((void *)a->base, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                (off_t)offset)
        != MAP_FAILED;
}

Allocation *memory_import(u64 size, u32 device, int fd, u64 offset, const u64 *callers)
{
    u64 base = memory_reserve(size);
    if (!base
        || mmap((void *)base, round_up(size, PAGE), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                fd, (off_t)offset)
               == MAP_FAILED)
        return NULL;
    Allocation *a = memory_place(base, size, MEMORY_IMPORTED, device);
    if (!a) return NULL;
    memory_define(base, size);
    remember(a->made, callers);
    return a;
}

void memory_unimport(u64 address, const u64 *callers)
{
    Allocation *a = memory_find(address);
    a->freed = true;
    remember(a->unmade, callers);
    mmap((void *)a->base, round_up(a->size, PAGE), PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

bool memory_free(u64 address, const u64 *callers)
{
    Allocation *a = memory_find(address);
    if (!a || a->freed || a->base != address || !memory_is_freeable(a)) return false;
    a->freed = true;
    remember(a->unmade, callers);
    u64 pages = round_up(a->size, PAGE);
    madvise((void *)a->base, pages, MADV_DONTNEED);
    if (a->kind == MEMORY_DEVICE) {
        account(a->device, -a->size);
    } else {
        fallocate(shared_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(a->base - MEMORY_SHARED + shared_offset), (off_t)pages);
    }
    mprotect((void *)a->base, pages, PROT_NONE);
    return true;
}

// The bits of a word of the bitmap that belong to a range, and how many bytes of it they stand for.
static u64 bits_of(u64 first, u64 bytes, u64 *in_word)
{
    u64 at = first % 64, n = 64 - at < bytes ? 64 - at : bytes;
    *in_word = n;
    return (n == 64 ? ~0ull : (1ull << n) - 1) << at;
}

bool memory_revive(Allocation *a, const u64 *callers)
{
    if (a->size > capacity - memory_used(a->device)) return false;
    if (mprotect((void *)a->base, round_up(a->size, PAGE), PROT_READ | PROT_WRITE)) return false;
    a->freed = false;
    remember(a->made, callers);
    account(a->device, a->size);
    for (u64 first = a->base - MEMORY_BASE, left = a->size, n; left; first += n, left -= n) {
        u64 bits = bits_of(first, left, &n);
        if (!all_is_written) memory_defined_bits[first / 64] &= ~bits;
        memory_computed_bits[first / 64] &= ~bits;
    }
    return true;
}

Allocation *memory_find(u64 address)
{
    s64 n = last_below(address);
    return n >= 0 && address - table[n]->base < table[n]->size ? table[n] : NULL;
}

Allocation *memory_nearest(u64 address)
{
    if (!count) return NULL;
    s64 n = last_below(address);
    if (n < 0) return table[0];
    if (n + 1 == count) return table[n];
    u64 behind = address - (table[n]->base + table[n]->size), before = table[n + 1]->base - address;
    return address < table[n]->base + table[n]->size || behind <= before ? table[n] : table[n + 1];
}

Allocation *memory_first(void) { return count ? table[0] : NULL; }
u64 memory_used(u32 device)
{
    return used[device] ? __atomic_load_n(used[device], __ATOMIC_RELAXED) : own[device];
}
u64 memory_capacity(void) { return capacity; }

void memory_ignore_definedness(void) { all_is_written = true; }

void memory_define(u64 address, u64 bytes)
{
    for (u64 first = address - MEMORY_BASE, n; bytes; first += n, bytes -= n)
        memory_defined_bits[first / 64] |= bits_of(first, bytes, &n);
}

// Bytes from there on, of so many, whose words of the bitmap are full: whole words only.
static u64 written_words(u64 first, u64 bytes)
{
    enum { AT_ONCE = 8 };
    const u64 *word = memory_defined_bits + first / 64, *from = word, *end = word + bytes / 64;
    if (first % 64) return 0;
    for (u64 all = ~0ull; word + AT_ONCE <= end; word += AT_ONCE) {
        for (u32 n = 0; n < AT_ONCE; n++) all &= __atomic_load_n(word + n, __ATOMIC_RELAXED);
        if (~all) break;
    }
    return (u64)(word - from) * 64;
}

u64 memory_undefined(u64 address, u64 bytes)
{
    u64 first = address - MEMORY_BASE, done = 0;
    for (u64 n; done < bytes; first += n, done += n) {
        n = written_words(first, bytes - done);
        if (n) continue;
        u64 wanted = bits_of(first, bytes - done, &n);
        u64 missing = wanted & ~__atomic_load_n(&memory_defined_bits[first / 64], __ATOMIC_RELAXED);
        if (missing) return done + __builtin_ctzll(missing) - first % 64;
    }
    return bytes;
}
