// Host memory of the program's own that it has pinned. Kernels reach it: its pages change places with
// pages of the memory that the device has as well, with the same bytes at the same address, until it is
// given back. What the device calls it is another address.

#define _GNU_SOURCE
#include "capture.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cuda_runtime_api.h>

typedef struct Registered {
    struct Registered *next;
    char *base;
    size_t bytes;
    uint64_t device;                            // where the first of its pages lies there; 0: they do not
    unsigned flags;
} Registered;

static Registered *registered;
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
        r && r->device ? r->device + (uint64_t)((const char *)p - first_page(r)) : 0;
    pthread_mutex_unlock(&mutex);
    return address;
}

// ---- Changing pages ----

// Are they memory that a program may write and that is nobody else's, and no stack?
static bool is_plain(const char *from, size_t bytes)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t at = (uintptr_t)from, end = at + bytes, stack = (uintptr_t)__builtin_frame_address(0);
    char line[512], rights[8];
    bool good = maps != NULL;
    while (good && at < end && fgets(line, sizeof line, maps)) {
        unsigned long low, high;
        if (sscanf(line, "%lx-%lx %7s", &low, &high, rights) != 3 || high <= at)
            continue;
        bool ours = stack >= low && stack < high;
        good = low <= at && strncmp(rights, "rw-p", 4) == 0 && !ours
            && !strstr(line, "[stack");
        at = high;
    }
    if (maps)
        fclose(maps);
    return good && at >= end;
}

static bool shares_pages(const Registered *r)
{
    for (const Registered *at = registered; at; at = at->next)
        if (first_page(at) < first_page(r) + page_bytes(r)
            && first_page(r) < first_page(at) + page_bytes(at))
            return true;
    return false;
}

// Puts `fresh`, with the bytes that lie there, in the place of the pages.
static bool replace(const Registered *r, void *fresh)
{
    size_t bytes = page_bytes(r);
    if (fresh == MAP_FAILED)
        return false;
    memcpy(fresh, first_page(r), bytes);
    return mremap(fresh, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, first_page(r)) != MAP_FAILED;
}

static void free_on_device(uint64_t address)
{
    client_free("cudaHostUnregister", (void *)(uintptr_t)address, WIRE_OF_PROGRAM);
}

// Where it cannot be shared, copies still run at the rate of pinned memory.
static cudaError_t lend(Registered *r)
{
    size_t bytes = page_bytes(r);
    if (shares_pages(r) || !is_plain(first_page(r), bytes))
        return cudaSuccess;
    WireRequest request = client_request(WIRE_ALLOC, "cudaHostRegister");
    request.alloc.bytes = bytes;
    request.alloc.align = WIRE_PAGE;
    request.alloc.kind = WIRE_OF_PROGRAM;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (error)
        return error;
    uint64_t address = reply.memory.address;
    void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, client_memory(),
                       (off_t)(WIRE_SLOTS_BYTES + address - WIRE_SHARED));
    if (!client_map(address, bytes, false) || !replace(r, fresh)) {
        free_on_device(address);
        return cudaErrorMemoryAllocation;
    }
    r->device = address;
    return cudaSuccess;
}

static void give_back(const Registered *r)
{
    if (!r->device)
        return;
    replace(r, mmap(NULL, page_bytes(r), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    free_on_device(r->device);
}

// ---- The calls ----

static cudaError_t enter(void *p, size_t bytes, unsigned flags)
{
    Registered *new = malloc(sizeof *new);
    if (!new)
        return cudaErrorMemoryAllocation;
    *new = (Registered){ .base = p, .bytes = bytes, .flags = flags };
    pthread_mutex_lock(&mutex);
    cudaError_t error = lend(new);
    if (!error) {
        new->next = registered;
        registered = new;
    }
    pthread_mutex_unlock(&mutex);
    if (error)
        free(new);
    return error;
}

EXPORT cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    cudaError_t error = client_open();
    if (error || client_sticky())
        return client_done(error ? error : client_sticky());
    if (!p || !bytes || client_is_device(p))
        return client_done(cudaErrorInvalidValue);
    unsigned here = cudaHostRegisterPortable | cudaHostRegisterMapped;
    if (flags & ~(here | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly))
        return client_done(cudaErrorInvalidValue);
    if (flags & ~here)
        return client_unsupported("cudaHostRegister with flags for I/O or read-only memory");
    if (client_is_pinned(p) || client_is_registered(p))
        return client_done(client_is_pinned(p) ? cudaErrorInvalidValue : cudaErrorHostMemoryAlreadyRegistered);
    error = capture_forbids();
    return client_done(error ? error : enter(p, bytes, flags));
}

EXPORT cudaError_t cudaHostUnregister(void *p)
{
    cudaError_t error = client_open();
    if (error || client_sticky())
        return client_done(error ? error : client_sticky());
    error = capture_forbids();
    if (error || !p || client_is_pinned(p))
        return client_done(error ? error : cudaErrorInvalidValue);
    pthread_mutex_lock(&mutex);
    Registered **at = &registered;
    while (*at && (*at)->base != p)
        at = &(*at)->next;
    Registered *found = *at;
    bool within = !found && find(p);
    if (found) {
        *at = found->next;
        give_back(found);
    }
    pthread_mutex_unlock(&mutex);
    free(found);
    return client_done(found ? cudaSuccess : within ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered);
}

void client_unregister_all(void)
{
    pthread_mutex_lock(&mutex);
    while (registered) {
        Registered *first = registered;
        registered = first->next;
        give_back(first);
        free(first);
    }
    pthread_mutex_unlock(&mutex);
}

EXPORT cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned flags)
{
    cudaError_t error = client_open();
    if (error || !out || flags)
        return client_done(error ? error : cudaErrorInvalidValue);
    uint64_t address = client_registered_address(p);
    if (client_is_registered(p) && !address)
        return client_unsupported("cudaHostGetDevicePointer of a registered stack, shared file or page in use");
    if (!address && !client_is_pinned(p))
        return client_done(cudaErrorInvalidValue);
    *out = address ? (void *)(uintptr_t)address : p;
    return client_done(client_sticky());
}

EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *p)
{
    cudaError_t error = client_open();
    if (error || !flags || !(client_is_pinned(p) || client_is_registered(p)))
        return client_done(error ? error : cudaErrorInvalidValue);
    pthread_mutex_lock(&mutex);
    const Registered *r = find(p);
    *flags = cudaHostAllocMapped | (r ? r->flags : 0);  // with one address space for all, all of it is
    pthread_mutex_unlock(&mutex);
    return client_done(client_sticky());
}
