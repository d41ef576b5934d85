// The program's own memory, pinned with cudaHostRegister(). So that kernels can access it, its
// pages are replaced by pages of the memfd, which the device maps as well. The bytes and their host
// address stay the same; the device address is another one. Unregistering replaces the pages again.

#define _GNU_SOURCE
#include "client.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// Pages that have been replaced, for as long as something in them is registered.
typedef struct Pages {
    struct Pages *next;
    char *first;
    size_t bytes;
    uint64_t device; // device address of the first page
    unsigned users;
    char *inner,
        *inner_end; // those of them that may be guarded: the program has nothing else there
} Pages;

typedef struct Registered {
    struct Registered *next;
    char *base;
    size_t bytes;
    Pages *pages; // NULL: kernels cannot access this memory
    unsigned flags;
} Registered;

static Registered *registered;
static Pages *replaced; // read in signal handlers: nothing in the list is ever freed
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static char *first_page(const Registered *r)
{
    return (char *)((uintptr_t)r->base / WIRE_PAGE * WIRE_PAGE);
}

static size_t page_bytes(const Registered *r)
{
    size_t before = (size_t)(r->base - first_page(r));
    return (before + r->bytes + WIRE_PAGE - 1) / WIRE_PAGE * WIRE_PAGE;
}

static const Registered *find(const void *p)
{
    const Registered *at = registered;
    while (at && ((const char *)p < at->base || (const char *)p >= at->base + at->bytes))
        at = at->next;
    return at;
}

bool client_is_registered(const void *p)
{
    pthread_mutex_lock(&mutex);
    bool found = find(p) != NULL;
    pthread_mutex_unlock(&mutex);
    return found;
}

uint64_t client_registered_address(const void *p)
{
    pthread_mutex_lock(&mutex);
    const Registered *r = find(p);
    uint64_t address =
        r && r->pages ? r->pages->device + (uint64_t)((const char *)p - r->pages->first) : 0;
    pthread_mutex_unlock(&mutex);
    return address;
}

uint64_t client_registered_reach(const void *p, uint64_t bytes)
{
    pthread_mutex_lock(&mutex);
    const Registered *r = find(p);
    bool all = r && r->pages && bytes <= (size_t)(r->base + r->bytes - (const char *)p);
    uint64_t address = all ? r->pages->device + (uint64_t)((const char *)p - r->pages->first) : 0;
    pthread_mutex_unlock(&mutex);
    return address;
}

// ---- Guarding pages ----

static const Pages *first_replaced(void) { return __atomic_load_n(&replaced, __ATOMIC_ACQUIRE); }

static const Pages *pages_of_device(uint64_t address)
{
    const Pages *p = first_replaced();
    while (p && (!p->users || address - p->device >= p->bytes)) p = p->next;
    return p;
}

bool client_is_registered_any(void) { return first_replaced() != NULL; }

bool client_is_alias(uint64_t address) { return pages_of_device(address) != NULL; }

void *client_registered_host(uint64_t address)
{
    const Pages *p = pages_of_device(address);
    char *host = p ? p->first + (address - p->device) : NULL;
    return p && host >= p->inner && host < p->inner_end ? host : NULL;
}

uint64_t client_registered_alias(const void *at)
{
    const Pages *p = first_replaced();
    while (p && (!p->users || (const char *)at < p->inner || (const char *)at >= p->inner_end))
        p = p->next;
    return p ? p->device + (uint64_t)((const char *)at - p->first) : 0;
}

// `apart`: the first and the last page hold nothing else, even where they are registered in part.
static void add_replaced(Pages *p, const Registered *r, bool apart)
{
    char *end = p->first + p->bytes, *after = r->base + r->bytes;
    p->inner = r->base > p->first && !apart ? p->first + WIRE_PAGE : p->first;
    p->inner_end = after < end && !apart ? end - WIRE_PAGE : end;
    p->next = replaced;
    __atomic_store_n(&replaced, p, __ATOMIC_RELEASE);
}

// ---- Replacing pages ----

// Are the pages writable and private? The main thread's stack may be replaced by the main thread
// only. *unnamed: they belong to no file, heap or stack, as far as the kernel knows.
static bool is_plain(const char *from, size_t bytes, bool *unnamed)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t at = (uintptr_t)from, end = at + bytes;
    // Replaced pages can't grow as a stack does. This large buffer makes sure that the stack
    // extends below the pages of the caller's variables.
    char line[2 * WIRE_PAGE], rights[8];
    bool good = maps != NULL;
    *unnamed = true;
    while (good && at < end && fgets(line, sizeof line, maps)) {
        unsigned long low, high;
        if (sscanf(line, "%lx-%lx %7s", &low, &high, rights) != 3 || high <= at) continue;
        good = low <= at && strncmp(rights, "rw-p", 4) == 0
            && (!strstr(line, "[stack") || gettid() == getpid());
        *unnamed = *unnamed && !strpbrk(line, "[/");
        at = high;
    }
    if (maps) fclose(maps);
    return good && at >= end;
}

// Replaced pages that already contain all of the memory, as happens with small variables next to
// each other; NULL: none.
static Pages *pages_around(const Registered *r)
{
    for (const Registered *at = registered; at; at = at->next) {
        Pages *p = at->pages;
        if (p && p->first <= first_page(r) && first_page(r) + page_bytes(r) <= p->first + p->bytes)
            return p;
    }
    return NULL;
}

static bool shares_pages(const Registered *r)
{
    for (const Registered *at = registered; at; at = at->next)
        if (first_page(at) < first_page(r) + page_bytes(r)
            && first_page(r) < first_page(at) + page_bytes(at))
            return true;
    return false;
}

// The pages are exchanged on a separate stack, because they may be part of the calling thread's
// stack: nothing may be written to the pages between the copy and the exchange.
typedef struct Exchange {
    ucontext_t caller, own;
    const Pages *pages;
    void *fresh;
    bool done;
    char stack[1 << 16];
} Exchange;

static Exchange *exchange; // in pages of its own

static void exchange_pages(void)
{
    const Pages *p = exchange->pages;
    memcpy(exchange->fresh, p->first, p->bytes);
    exchange->done =
        mremap(exchange->fresh, p->bytes, p->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, p->first)
        != MAP_FAILED;
}

// Copies the bytes of the pages to `fresh`, then moves `fresh` to the pages' address.
static bool replace(const Pages *pages, void *fresh)
{
    if (!exchange)
        exchange = mmap(NULL, sizeof *exchange, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
    if (fresh == MAP_FAILED || exchange == MAP_FAILED) return false;
    exchange->pages = pages;
    exchange->fresh = fresh;
    exchange->done = false;
    getcontext(&exchange->own);
    exchange->own.uc_stack.ss_sp = exchange->stack;
    exchange->own.uc_stack.ss_size = sizeof exchange->stack;
    exchange->own.uc_link = &exchange->caller;
    makecontext(&exchange->own, exchange_pages, 0);
    swapcontext(&exchange->caller, &exchange->own);
    return exchange->done;
}

static void free_on_device(uint64_t address)
{
    client_free("cudaHostUnregister", (void *)(uintptr_t)address, WIRE_OF_PROGRAM);
}

// Does the memory begin where malloc puts what is large, in pages of its own? Variables of the
// program and the stacks of threads are unnamed pages too.
static bool is_large_block(const Registered *r)
{
    enum { MOST_HEADER = 64 };
    Dl_info of;
    return r->base - first_page(r) <= MOST_HEADER && !dladdr(r->base, &of)
        && (r->base < (char *)__builtin_frame_address(0) || gettid() == getpid());
}

// Makes the memory accessible to the device, if possible. If it is not, copies still run at the
// rate of pinned memory.
static cudaError_t replace_pages(Registered *r)
{
    if ((r->pages = pages_around(r))) {
        r->pages->users++;
        return cudaSuccess;
    }
    size_t bytes = page_bytes(r);
    bool unnamed;
    if (shares_pages(r) || !is_plain(first_page(r), bytes, &unnamed)) return cudaSuccess;
    WireRequest request = client_request(WIRE_ALLOC, "cudaHostRegister");
    request.alloc.bytes = bytes;
    request.alloc.align = WIRE_PAGE;
    request.alloc.kind = WIRE_OF_PROGRAM;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (error) return error;
    uint64_t address = reply.memory.address;
    Pages *pages = malloc(sizeof *pages);
    if (pages)
        *pages = (Pages){ .first = first_page(r), .bytes = bytes, .device = address, .users = 1 };
    void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, client_memory(),
                       (off_t)(WIRE_SLOTS_BYTES + address - WIRE_SHARED));
    if (!pages || !client_map(address, bytes, false) || !replace(pages, fresh)) {
        free(pages);
        free_on_device(address);
        return cudaErrorMemoryAllocation;
    }
    r->pages = pages;
    add_replaced(pages, r, unnamed && is_large_block(r));
    return cudaSuccess;
}

// Waits for what copies bring to the pages, and has them no longer guarded.
static void land(uint64_t address)
{
    WireRequest request = client_request(WIRE_LAND, "cudaHostUnregister");
    WireReply reply;
    request.pointer.address = address;
    client_simple(&request, &reply);
}

static void restore_pages(const Registered *r)
{
    Pages *pages = r->pages;
    if (!pages || pages->users > 1) {
        if (pages) pages->users--;
        return;
    }
    land(pages->device);
    pages->users = 0;
    if (replace(pages, mmap(NULL, pages->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0)))
        free_on_device(pages->device);
}

// ---- Registering ----

cudaError_t client_register(void *p, size_t bytes, unsigned flags)
{
    Registered *new = malloc(sizeof *new);
    if (!new) return cudaErrorMemoryAllocation;
    *new = (Registered){ .base = p, .bytes = bytes, .flags = flags };
    pthread_mutex_lock(&mutex);
    cudaError_t error = replace_pages(new);
    if (!error) {
        new->next = registered;
        registered = new;
    }
    pthread_mutex_unlock(&mutex);
    if (error) free(new);
    return error;
}

cudaError_t client_unregister(const void *p)
{
    pthread_mutex_lock(&mutex);
    Registered **at = &registered;
    while (*at && (*at)->base != p) at = &(*at)->next;
    Registered *found = *at;
    bool within = !found && find(p);
    if (found) {
        *at = found->next;
        restore_pages(found);
    }
    pthread_mutex_unlock(&mutex);
    free(found);
    return found ? cudaSuccess : within ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered;
}

void client_unregister_all(void)
{
    pthread_mutex_lock(&mutex);
    while (registered) {
        Registered *first = registered;
        registered = first->next;
        restore_pages(first);
        free(first);
    }
    pthread_mutex_unlock(&mutex);
}

unsigned client_registered_flags(const void *p)
{
    pthread_mutex_lock(&mutex);
    const Registered *r = find(p);
    unsigned flags = r ? r->flags : 0;
    pthread_mutex_unlock(&mutex);
    return flags;
}
