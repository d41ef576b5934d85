// Device memory is private to the device process that allocated it. When an allocation is exported,
// its bytes move into a file that all device processes of the machine share, and stay at the same
// addresses; the importing process maps the file's pages at other addresses. Each process has its
// own clock: the time that one process takes while the host code of another waits for it does not
// advance the other's clock.
#define _GNU_SOURCE
#include "ipc.h"
#include "streams/clock.h"
#include "streams/shared_event.h"
#include "streams/peer.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum { MOST_EXPORTS = 4096, MOST_IMPORTS = 4096 };

typedef struct Export {
    u64 key;           // 0: none, or freed
    u64 offset, bytes; // in the file
    u32 device;
    pid_t owner; // the device process
} Export;

// Entries are only added. Only the process that added an entry writes it, and writes its key last.
static struct {
    u64 next; // free part of the file
    u32 export_count;
    Export exports[MOST_EXPORTS];
} * common;
static int file = -1;

static struct {
    u64 key;
    const Allocation *allocation;
    u32 opened; // how many times; 0: closed
} imports[MOST_IMPORTS];
static u32 import_count;

void ipc_make(void)
{
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    file = memfd_create("warpwise-ipc", MFD_CLOEXEC);
    if (common == MAP_FAILED || file < 0 || ftruncate(file, (off_t)MEMORY_SPAN) < 0) {
        perror("simulator/run: cannot make the memory that processes share");
        exit(1);
    }
}

static u64 new_key(void)
{
    u64 key = 0;
    if (getrandom(&key, sizeof key, 0) != sizeof key) return 0;
    return key | 1;
}

// ---- Memory ----

static Export *export_of(const Allocation *a)
{
    return a->exported ? &common->exports[a->exported - 1] : NULL;
}

static void export_now(Allocation *a)
{
    u32 at = __atomic_fetch_add(&common->export_count, 1, __ATOMIC_RELAXED);
    bool fits = at < MOST_EXPORTS;
    u64 pages = (a->size + 4095) / 4096 * 4096,
        offset = fits ? __atomic_fetch_add(&common->next, pages, __ATOMIC_RELAXED) : 0;
    if (!fits || offset + pages > MEMORY_SPAN || !memory_back(a, file, offset)) return;
    Export *e = &common->exports[at];
    *e = (Export){
        .offset = offset, .bytes = a->size, .device = device.number[a->device], .owner = getpid()
    };
    a->exported = at + 1;
    __atomic_store_n(&e->key, new_key(), __ATOMIC_RELEASE);
}

void ipc_export_memory(Call *call)
{
    device.shares = true;
    Allocation *a = memory_find(call->request.pointer.address);
    if (!a || a->freed || a->kind != MEMORY_DEVICE
        || a->pooled) { // exports the whole allocation that contains the address
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    if (!a->exported) export_now(a);
    if (a->exported) call->reply.id = export_of(a)->key;
    else call->reply.error = WIRE_MEMORY_ALLOCATION;
}

static const Export *find_export(u64 key)
{
    for (u32 n = 0; key && n < common->export_count && n < MOST_EXPORTS; n++)
        if (__atomic_load_n(&common->exports[n].key, __ATOMIC_ACQUIRE) == key)
            return &common->exports[n];
    return NULL;
}

static Allocation *import_now(const Call *call, const Export *e)
{
    Allocation *a =
        import_count < MOST_IMPORTS
            ? memory_import(e->bytes, visible_of(e->device), file, e->offset, call->request.caller)
            : NULL;
    if (!a) return NULL;
    imports[import_count].key = e->key;
    imports[import_count].allocation = a;
    imports[import_count++].opened = 1;
    return a;
}

void ipc_import_memory(Call *call)
{
    device.shares = true;
    const Export *e = find_export(call->request.object.id);
    const Allocation *a = NULL;
    if (!e || visible_of(e->device) >= device.count) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return;
    }
    if (e->owner == getpid()) { // a process cannot open its own
        call->reply.error = WIRE_DEVICE_UNINITIALIZED;
        return;
    }
    for (u32 n = 0; n < import_count && !a; n++)
        if (imports[n].key == e->key && imports[n].opened)
            imports[n].opened++, a = imports[n].allocation;
    if (!a) a = import_now(call, e);
    if (!a) {
        call->reply.error = WIRE_MEMORY_ALLOCATION;
        return;
    }
    ((Allocation *)a)->reached_by |= 1u
                                  << call->request.device; // as cudaIpcMemLazyEnablePeerAccess says
    if (a->device != call->request.device) peer_open(call->request.device, a->device);
    call->reply.memory.address = a->base;
    call->reply.memory.size = a->size;
}

void ipc_close_memory(Call *call)
{
    for (u32 n = 0; n < import_count; n++) {
        if (!imports[n].opened || imports[n].allocation->base != call->request.pointer.address)
            continue;
        if (--imports[n].opened == 0)
            memory_unimport(imports[n].allocation->base, call->request.caller);
        return;
    }
    call->reply.error = WIRE_INVALID_VALUE;
}

void ipc_freed(const Allocation *a)
{
    Export *e = export_of(a);
    if (!e) return;
    __atomic_store_n(&e->key, 0, __ATOMIC_RELEASE);
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)e->offset, (off_t)e->bytes);
}

// ---- Events ----

void ipc_export_event(Call *call)
{
    device.shares = true;
    u64 id = call->request.object.id;
    const u32 *shared = clock_event_shared(id);
    if (!shared) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return;
    }
    if (!*shared) {
        u32 number = shared_event_add(device.number[clock_event_device(id)]);
        if (!number) {
            call->reply.error = WIRE_MEMORY_ALLOCATION;
            return;
        }
        clock_event_share(id, number);
        shared_event_publish(number, new_key());
    }
    call->reply.id = shared_event_key(*shared);
}

void ipc_import_event(Call *call)
{
    device.shares = true;
    SharedEventFacts event = shared_event_find(call->request.object.id);
    if (event.number && event.own) {
        call->reply.error = WIRE_DEVICE_UNINITIALIZED;
        return;
    }
    if (!event.number || visible_of(event.device) >= device.count) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return;
    }
    call->reply.id = clock_event_create(call->request.device, false, false); // wherever it was made
    if (call->reply.id) clock_event_share(call->reply.id, event.number);
    else call->reply.error = WIRE_MEMORY_ALLOCATION;
}
