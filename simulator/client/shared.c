// The program's side of memory that it shares with the device: managed and pinned memory, mapped
// from the memfd while it is allocated, and unreadable again when it is freed.
//
// The pages of managed memory that the host touches are found without signals. Before each request
// the page table (/proc/self/pagemap) tells which pages are present; the device is told of them,
// and they are dropped from the page table, so that the next touch shows again. The bytes stay in
// the memfd.

#define _GNU_SOURCE
#include "client.h"
#include "guard.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BATCH = WIRE_TAIL / sizeof(WirePages), ENTRIES = 8192 };

typedef struct Mapping {
    struct Mapping *next;
    uint64_t base, bytes; // whole pages
    bool variable;
} Mapping;

static Mapping *managed, *pinned;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + WIRE_PAGE - 1) / WIRE_PAGE * WIRE_PAGE;
}

static int open_page_table(void) { return open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC); }

bool client_sees_touches(void)
{
    int file = open_page_table();
    if (file >= 0) close(file);
    return file >= 0;
}

static void tell_touched(void);

// Has tell_touched() called before each request, and when the program ends.
static void watch_touches(void)
{
    static ClientHooks hooks = { .just_before = tell_touched };
    client_hook(&hooks);
}

bool client_map(uint64_t address, uint64_t size, bool variable)
{
    uint64_t bytes = whole_pages(size);
    Mapping *mapping = malloc(sizeof *mapping);
    void *at = (void *)(uintptr_t)address;
    if (!mapping
        || mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, client_memory(),
                (off_t)(WIRE_SLOTS_BYTES + address - WIRE_SHARED))
               == MAP_FAILED) {
        free(mapping);
        return false;
    }
    madvise(at, bytes, MADV_DONTFORK);   // a forked child cannot use the device
    madvise(at, bytes, MADV_NOHUGEPAGE); // or a touch would show all pages around it
    pthread_mutex_lock(&mutex);
    Mapping **list = client_is_pinned(at) ? &pinned : &managed;
    static bool watched;
    if (list == &managed && !watched) watch_touches();
    if (list == &pinned) client_guard_mapped();
    watched |= list == &managed;
    *mapping = (Mapping){ *list, address, bytes, variable };
    *list = mapping;
    pthread_mutex_unlock(&mutex);
    return true;
}

// Makes freed memory inaccessible: host code that still touches it faults (fault.c).
static void forbid(const Mapping *mapping)
{
    mmap((void *)(uintptr_t)mapping->base, mapping->bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (mapping->base >= WIRE_PINNED) client_guard_unmapped(mapping->base, mapping->bytes);
}

void client_unmap(uint64_t address)
{
    pthread_mutex_lock(&mutex);
    Mapping **at = address >= WIRE_PINNED ? &pinned : &managed;
    while (*at && (*at)->base != address) at = &(*at)->next;
    Mapping *found = *at;
    if (found) {
        *at = found->next;
        forbid(found);
        free(found);
    }
    pthread_mutex_unlock(&mutex);
}

static void unmap_list(Mapping **list)
{
    while (*list) {
        Mapping *first = *list;
        if (first->variable) {
            list = &first->next;
            continue;
        }
        *list = first->next;
        forbid(first);
        free(first);
    }
}

void client_unmap_all(void)
{
    pthread_mutex_lock(&mutex);
    unmap_list(&managed);
    unmap_list(&pinned);
    pthread_mutex_unlock(&mutex);
}

cudaError_t client_free(const char *call, void *p, enum wire_memory kind)
{
    WireRequest request = client_request(WIRE_FREE, call);
    request.pointer.address = client_address(p);
    request.pointer.kind = kind;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error && (client_is_managed(p) || client_is_pinned(p))) client_unmap(client_address(p));
    return error;
}

// ---- What the host has touched ----

static struct {
    WirePages pages[BATCH];
    size_t count;
} touched;

static void tell(void)
{
    WireRequest request = { .version = WIRE_VERSION, .op = WIRE_TOUCHED };
    if (touched.count) client_tell(&request, touched.pages, touched.count * sizeof *touched.pages);
    touched.count = 0;
}

static void add(uint64_t page, uint64_t count)
{
    if (touched.count == BATCH) tell();
    touched.pages[touched.count++] = (WirePages){ (uint32_t)page, (uint32_t)count };
    madvise((void *)(uintptr_t)(WIRE_SHARED + page * WIRE_PAGE), count * WIRE_PAGE, MADV_DONTNEED);
}

// Adds the runs of present pages among the `count` pages from page `first` on. Bit 63 of an entry
// tells that the page is present.
static void add_present(const uint64_t *entries, uint64_t first, uint64_t count)
{
    for (uint64_t n = 0, end; n < count; n = end) {
        bool present = entries[n] >> 63;
        for (end = n + 1; end < count && entries[end] >> 63 == present; end++)
            ;
        if (present) add(first + n, end - n);
    }
}

static void look_at(int file, const Mapping *mapping)
{
    static uint64_t entries[ENTRIES];
    uint64_t left = mapping->bytes / WIRE_PAGE, base = mapping->base / WIRE_PAGE;
    while (left) {
        uint64_t count = left < ENTRIES ? left : ENTRIES;
        if (pread(file, entries, count * sizeof *entries, (off_t)(base * sizeof *entries))
            != (ssize_t)(count * sizeof *entries))
            return;
        add_present(entries, base - WIRE_SHARED / WIRE_PAGE, count);
        base += count;
        left -= count;
    }
}

static void tell_touched(void)
{
    if (!managed) return;
    pthread_mutex_lock(&mutex);
    int file = managed ? open_page_table() : -1;
    if (file >= 0) {
        for (const Mapping *mapping = managed; mapping; mapping = mapping->next)
            look_at(file, mapping);
        close(file);
        tell();
    }
    pthread_mutex_unlock(&mutex);
}
