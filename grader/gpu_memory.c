// A child without exec: it opens the driver's library, which the check's own process never does.
#define _GNU_SOURCE
#include "gpu_memory.h"
#include "../simulator/wire/wire.h"
#include "driver.h"
#include "message.h"
#include "process.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET = 3 };

// One allocation, at its address here.
typedef struct Memory {
    CUdeviceptr address;
    CUmemGenericAllocationHandle handle;
    size_t bytes;
    struct Memory *next;
} Memory;

typedef struct Owner {
    Driver driver;
    CUresult broken; // what kept the GPU from being opened; every request is answered so
    size_t granule;
    Memory *memory;
} Owner;

static CUmemAllocationProp properties(void)
{
    return (CUmemAllocationProp){ .type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                  .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE } };
}

static CUresult open_gpu(Owner *o)
{
    CUdevice gpu;
    CUcontext context;
    CUmemAllocationProp kind = properties();
    const Driver *d = &o->driver;
    if (!driver_open(&o->driver)) return CUDA_ERROR_STUB_LIBRARY;
    CUresult error = d->cuInit(0);
    if (!error) error = d->cuDeviceGet(&gpu, 0);
    if (!error) error = d->cuDevicePrimaryCtxRetain(&context, gpu);
    if (!error) error = d->cuCtxSetCurrent(context);
    return error ? error
                 : d->cuMemGetAllocationGranularity(&o->granule, &kind,
                                                    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
}

static void release(const Owner *o, Memory *m)
{
    driver_unmap(&o->driver, m->address, m->bytes);
    if (m->handle) o->driver.cuMemRelease(m->handle);
    free(m);
}

static CUresult allocate(Owner *o, const WireRequest *r, WireReply *reply, int *file)
{
    const Driver *d = &o->driver;
    CUmemAllocationProp kind = properties();
    Memory *m = calloc(1, sizeof *m);
    if (!m) return CUDA_ERROR_OUT_OF_MEMORY;
    m->bytes = (r->alloc.bytes + o->granule - 1) / o->granule * o->granule;
    CUresult error = d->cuMemCreate(&m->handle, m->bytes, &kind, 0);
    if (!error) error = driver_map(d, m->handle, m->bytes, &m->address);
    if (!error)
        error = d->cuMemExportToShareableHandle(file, m->handle,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (error) return release(o, m), error;
    m->next = o->memory;
    o->memory = m;
    reply->memory.address = m->address;
    reply->memory.size = m->bytes;
    return CUDA_SUCCESS;
}

static CUresult free_memory(Owner *o, uint64_t address)
{
    for (Memory **at = &o->memory; *at; at = &(*at)->next)
        if ((*at)->address == address) {
            Memory *m = *at;
            *at = m->next;
            release(o, m);
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

// Between the array and its bytes in the file. A copy from pageable memory may return before the
// bytes are in the array (CUDA Driver API, "API synchronization behavior"), and what the worker
// does with them waits for no stream of ours.
static CUresult copy(const Owner *o, const WireRequest *r, int file)
{
    bool in = r->op == WIRE_COPY_IN;
    size_t bytes = r->copy.width, end = r->copy.from.address + bytes;
    char *all = mmap(NULL, end, in ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (all == MAP_FAILED) return CUDA_ERROR_OPERATING_SYSTEM;
    char *host = all + r->copy.from.address;
    CUresult error = in ? o->driver.cuMemcpyHtoD(r->copy.device.address, host, bytes)
                        : o->driver.cuMemcpyDtoH(host, r->copy.device.address, bytes);
    if (!error && in) error = o->driver.cuCtxSynchronize();
    munmap(all, end);
    return error;
}

// *file: the request's, then the reply's; -1: none.
static CUresult answer(Owner *o, const WireRequest *r, WireReply *reply, int *file)
{
    int given = *file;
    CUresult error = CUDA_ERROR_NOT_SUPPORTED;
    *file = -1;
    if (o->broken) error = o->broken;
    else if (r->op == WIRE_ALLOC) error = allocate(o, r, reply, file);
    else if (r->op == WIRE_FREE) error = free_memory(o, r->pointer.address);
    else if (r->op == WIRE_COPY_IN || r->op == WIRE_COPY_OUT) error = copy(o, r, given);
    if (given >= 0) close(given);
    return error;
}

// Our process alone: nothing of the check's is kept open.
static void serve(int socket, pid_t parent)
{
    Owner owner = { 0 };
    WireRequest request;
    int file;
    process_die_with_parent();
    if (getppid() != parent || dup2(socket, SOCKET) < 0 || close_range(SOCKET + 1, ~0u, 0)) return;
    owner.broken = open_gpu(&owner);
    while (message_receive(SOCKET, &request, sizeof request, 0, &file) == sizeof request) {
        WireReply reply = { .version = WIRE_VERSION };
        reply.error = (int32_t)answer(&owner, &request, &reply, &file);
        bool sent = message_send(SOCKET, &reply, sizeof reply, &file, file >= 0);
        if (file >= 0) close(file);
        if (!sent) return;
    }
}

pid_t gpu_memory_start(int *socket)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return -1;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        serve(pair[1], parent);
        _exit(0);
    }
    close(pair[1]);
    if (pid > 0) *socket = pair[0];
    else close(pair[0]);
    return pid;
}
