#include "guard.h"
#include "client.h"
#include "connection.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

// Of each page of pinned memory. A page that host code has come to is open for good, or while one
// instruction runs, as long as not too many do: most of the page may not be in flight.
typedef struct {
    uint8_t state; // enum wire_guard, and OPENED; 0: it was never guarded
    uint8_t steps; // for so many instructions it was opened
} Page;

enum { OPENED = 1 << 7, MOST_STEPS_OF_PAGE = 255, MOST_STEPS = 1 << 15, MOST_AT_ONCE = 4 };

static const uint64_t page_count = (WIRE_END - WIRE_PINNED) / WIRE_PAGE;
static Page *pages; // NULL: no pinned memory is mapped
static const int rights[] = {
    [WIRE_OPEN] = PROT_READ | PROT_WRITE, [WIRE_READ_ONLY] = PROT_READ, [WIRE_CLOSED] = PROT_NONE
};

// The pages that are open while the thread runs one instruction.
static __thread struct {
    struct {
        Page *page;
        void *at;
        uint8_t before;
    } of[MOST_AT_ONCE];
    int count;
} step __attribute__((tls_model("initial-exec"))); // no allocation in a signal handler

static void *page_at(uint64_t page)
{
    uint64_t address = WIRE_PINNED + page * WIRE_PAGE;
    void *registered = client_registered_host(address);
    return registered ? registered : (void *)(uintptr_t)address;
}

// Pages that lie side by side in the program.
static void guard_run(uint64_t page, uint64_t count, uint32_t guard)
{
    for (uint64_t n = page; n < page + count; n++) {
        if (guard == WIRE_OPEN && !pages[n].state) continue;
        pages[n].steps = 0;
        __atomic_store_n(&pages[n].state, guard == WIRE_OPEN ? OPENED : guard, __ATOMIC_SEQ_CST);
    }
    mprotect(page_at(page), count * WIRE_PAGE, rights[guard]);
}

// A program that handles SIGSEGV itself is not guarded: it would take each guarded page for a
// mistake of its own.
static void guard_all(const WireGuard *guards, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        const WireGuard *g = &guards[n];
        if (g->guard != WIRE_OPEN && !fault_is_watched()) continue;
        uint64_t address = WIRE_PINNED + g->first * (uint64_t)WIRE_PAGE;
        if (!client_is_alias(address)) {
            guard_run(g->first, g->count, g->guard);
            continue;
        }
        for (uint32_t page = g->first; page < g->first + g->count; page++)
            if (client_registered_host(WIRE_PINNED + page * (uint64_t)WIRE_PAGE))
                guard_run(page, 1, g->guard);
    }
}

// Is the page to be closed again after one instruction? Then it is remembered.
static bool opens_for_one(Page *page, void *begin, uint8_t before)
{
    static uint32_t steps;
    if (!fault_can_step || step.count == MOST_AT_ONCE || page->steps == MOST_STEPS_OF_PAGE
        || __atomic_fetch_add(&steps, 1, __ATOMIC_RELAXED) >= MOST_STEPS)
        return false;
    page->steps++;
    step.of[step.count].page = page;
    step.of[step.count].at = begin;
    step.of[step.count++].before = before;
    return true;
}

static Page *page_of(const void *at, uint64_t *device)
{
    *device = client_is_pinned(at) ? client_address(at) : client_registered_alias(at);
    return *device && pages ? &pages[(*device - WIRE_PINNED) / WIRE_PAGE] : NULL;
}

// Opens a page that is guarded now, or was. Returns its state before; 0: it never was.
static uint8_t open_state(Page *page, const void *at)
{
    uint8_t before = __atomic_load_n(&page->state, __ATOMIC_SEQ_CST);
    while (before
           && !__atomic_compare_exchange_n(&page->state, &before, before | OPENED, false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    if (before)
        mprotect((void *)((uintptr_t)at / WIRE_PAGE * WIRE_PAGE), WIRE_PAGE, rights[WIRE_OPEN]);
    return before;
}

static enum client_opening open_page(const void *at, uint64_t *address)
{
    uint64_t device;
    Page *page = page_of(at, &device);
    uint8_t before = page ? open_state(page, at) : 0;
    if (!before) return CLIENT_NOT_GUARDED;
    if (before & OPENED) return CLIENT_OPEN_ALREADY; // by another thread, just now
    *address = device;
    void *begin = (void *)((uintptr_t)at / WIRE_PAGE * WIRE_PAGE);
    return opens_for_one(page, begin, before) ? CLIENT_OPEN_FOR_ONE : CLIENT_OPEN;
}

static void pass_page(const char *at, uint64_t bytes, bool writes)
{
    uint64_t device;
    Page *page = page_of(at, &device);
    uint8_t state = page ? __atomic_load_n(&page->state, __ATOMIC_SEQ_CST) : 0;
    if (state != WIRE_CLOSED && !(state == WIRE_READ_ONLY && writes)) return;
    if (open_state(page, at) & OPENED) return;
    WireRequest request = client_request(WIRE_TOUCH, "host code");
    request.fault.address = device;
    request.fault.bytes = (uint32_t)bytes;
    request.fault.writes = writes;
    request.fault.opened = true;
    client_tell(&request, NULL, 0);
}

void client_guard_pass(const void *at, size_t bytes, bool writes)
{
    const char *begin = at;
    if (!pages || (!client_is_pinned(at) && !client_is_registered_any())) return;
    for (size_t done = 0, n; done < bytes; done += n) {
        size_t left = WIRE_PAGE - (uintptr_t)(begin + done) % WIRE_PAGE;
        n = left < bytes - done ? left : bytes - done;
        pass_page(begin + done, n, writes);
    }
}

// The instruction has run. What was guarded anew meanwhile stays as it is.
static void close_pages(void)
{
    while (step.count--) {
        uint8_t opened = step.of[step.count].before | OPENED, before = step.of[step.count].before;
        if (__atomic_compare_exchange_n(&step.of[step.count].page->state, &opened, before, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            mprotect(step.of[step.count].at, WIRE_PAGE, rights[before]);
    }
    step.count = 0;
}

static void watch(void)
{
    static ClientHooks hooks = { .guards = guard_all, .opens = open_page, .closes = close_pages };
    void *at = mmap(NULL, page_count * sizeof *pages, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return; // nothing is guarded
    pages = at;
    client_hook(&hooks);
}

void client_guard_mapped(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}

void client_guard_unmapped(uint64_t address, uint64_t bytes)
{
    uint64_t first = (address - WIRE_PINNED) / WIRE_PAGE;
    for (uint64_t n = first; pages && n < first + bytes / WIRE_PAGE; n++)
        __atomic_store_n(&pages[n].state, 0, __ATOMIC_SEQ_CST);
}
