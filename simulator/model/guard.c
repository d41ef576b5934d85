#include <stdlib.h>
#include <sys/mman.h>

#include "base/need.h"
#include "guard.h"

enum { PAGE = WIRE_PAGE };

typedef struct Page {
    u32 closed, read_only; // how many pieces of work want that
    u8 told;               // enum wire_guard: what the client does with it, as far as is known
} Page;

static const u64 page_count = (MEMORY_SHARED + MEMORY_SHARED_SPAN - MEMORY_PINNED) / PAGE;
static Page *pages; // of pinned memory; NULL before any is guarded

static struct Range {
    u64 first, end;
} * changed; // ranges of pages that may differ from what the client was told
static size_t changed_count, changed_room;

static enum wire_guard wanted(const Page *p)
{
    return p->closed ? WIRE_CLOSED : p->read_only ? WIRE_READ_ONLY : WIRE_OPEN;
}

static void note_change(u64 first, u64 end)
{
    struct Range *last = changed_count ? &changed[changed_count - 1] : NULL;
    if (last && first <= last->end && end >= last->first) {
        if (first < last->first) last->first = first;
        if (end > last->end) last->end = end;
        return;
    }
    if (changed_count == changed_room) {
        changed_room = changed_room ? 2 * changed_room : 64;
        changed = need(realloc(changed, changed_room * sizeof *changed));
    }
    changed[changed_count++] = (struct Range){ first, end };
}

void guard_pages(u64 address, u64 bytes, enum wire_guard guard, int by)
{
    if (!pages)
        pages = need(mmap(NULL, page_count * sizeof *pages, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    u64 first = (address - MEMORY_PINNED) / PAGE,
        end = (address + bytes - 1 - MEMORY_PINNED) / PAGE + 1;
    for (u64 n = first; n < end; n++)
        *(guard == WIRE_CLOSED ? &pages[n].closed : &pages[n].read_only) += (u32)by;
    note_change(first, end);
}

void guard_opened(u64 address)
{
    u64 page = (address - MEMORY_PINNED) / PAGE;
    if (!pages || page >= page_count) return;
    pages[page].told = WIRE_OPEN;
    note_change(page, page + 1);
}

// Skips the pages of the range of which the client knows all. False: there are no others.
static bool skip_known(struct Range *r)
{
    while (r->first < r->end && pages[r->first].told == wanted(&pages[r->first])) r->first++;
    return r->first < r->end;
}

bool guard_is_news(void)
{
    while (changed_count && !skip_known(&changed[changed_count - 1])) changed_count--;
    return changed_count;
}

size_t guard_take_news(WireGuard *to, size_t room)
{
    size_t count = 0;
    while (count < room && guard_is_news()) {
        struct Range *r = &changed[changed_count - 1];
        WireGuard *g = &to[count++];
        *g = (WireGuard){ .first = (u32)r->first, .guard = wanted(&pages[r->first]) };
        for (; r->first < r->end && wanted(&pages[r->first]) == g->guard; r->first++, g->count++)
            pages[r->first].told = (u8)g->guard;
    }
    return count;
}
