// Interprocess memory and events. A handle holds the device's key for the memory or event, and a
// mark that tells it from other bytes.

#include "client.h"
#include <string.h>
#include <cuda_runtime_api.h>

enum { HANDLE_MARK = 0x57504950 };

typedef struct {
    uint64_t key;
    uint32_t mark, event;
} Handle;

static cudaError_t ask_of_memory(enum wire_op op, const char *call, const void *p, WireReply *reply)
{
    WireRequest request = client_request(op, call);
    request.pointer.address = client_address(p);
    return client_simple(&request, reply);
}

// `id`: an event or a key.
static cudaError_t ask_of(enum wire_op op, const char *call, uint64_t id, WireReply *reply)
{
    WireRequest request = client_request(op, call);
    request.object.id = id;
    return client_simple(&request, reply);
}

static void write_handle(void *handle, uint64_t key, bool event)
{
    Handle ours = { key, HANDLE_MARK, event };
    memset(handle, 0, CUDA_IPC_HANDLE_SIZE);
    memcpy(handle, &ours, sizeof ours);
}

// The key; 0: it is no such handle.
static uint64_t read_handle(const void *handle, bool event)
{
    Handle ours;
    memcpy(&ours, handle, sizeof ours);
    return ours.mark == HANDLE_MARK && ours.event == event ? ours.key : 0;
}

EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *p)
{
    if (!handle) return client_done(cudaErrorInvalidValue);
    WireReply reply;
    cudaError_t error = ask_of_memory(WIRE_IPC_EXPORT, "cudaIpcGetMemHandle", p, &reply);
    if (!error) write_handle(handle, reply.id, false);
    return client_done(error);
}

EXPORT cudaError_t cudaIpcOpenMemHandle(void **p, cudaIpcMemHandle_t handle, unsigned flags)
{
    if (!p || flags != cudaIpcMemLazyEnablePeerAccess || !read_handle(&handle, false))
        return client_done(cudaErrorInvalidValue);
    WireReply reply;
    cudaError_t error =
        ask_of(WIRE_IPC_IMPORT, "cudaIpcOpenMemHandle", read_handle(&handle, false), &reply);
    if (!error) *p = (void *)(uintptr_t)reply.memory.address;
    return client_done(error);
}

EXPORT cudaError_t cudaIpcCloseMemHandle(void *p)
{
    WireReply reply;
    return client_done(ask_of_memory(WIRE_IPC_CLOSE, "cudaIpcCloseMemHandle", p, &reply));
}

EXPORT cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    if (!handle || !event) return client_done(cudaErrorInvalidValue);
    WireReply reply;
    cudaError_t error =
        ask_of(WIRE_IPC_EXPORT_EVENT, "cudaIpcGetEventHandle", client_address(event), &reply);
    if (!error) write_handle(handle, reply.id, true);
    return client_done(error);
}

EXPORT cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    if (!event) return client_done(cudaErrorInvalidValue);
    if (!read_handle(&handle, true))
        return client_done(cudaErrorMapBufferObjectFailed); // as on an H200
    WireReply reply;
    cudaError_t error =
        ask_of(WIRE_IPC_IMPORT_EVENT, "cudaIpcOpenEventHandle", read_handle(&handle, true), &reply);
    if (!error) *event = (cudaEvent_t)(uintptr_t)reply.id;
    return client_done(error);
}
