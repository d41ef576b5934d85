// The thin CUDA runtime: each call becomes one request to the device process (wire.h).
// It keeps no truth of its own but handles and the thread's last error.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <driver_types.h>
#include <vector_types.h>
#include "wire.h"

#define EXPORT __attribute__((visibility("default")))

// The twin of an exported function that programs with per-thread default streams call.
#define TWIN(name, twin, parameters, arguments)                                                    \
    EXPORT cudaError_t twin parameters                                                             \
    {                                                                                              \
        client_per_thread++;                                                                       \
        cudaError_t error = name arguments;                                                        \
        client_per_thread--;                                                                       \
        return error;                                                                              \
    }

extern __thread int client_per_thread; // in a call for which stream 0 is the thread's own
extern __thread int client_within; // requests are parts of a call that the device has been told of

// Sends a request and waits for its answer. `tail` follows the request; the reply's tail goes to
// `out`. Returns the answer's error. Never blocks in a process that did not open the device: after
// a fork that is cudaErrorInitializationError, without a device cudaErrorNoDevice.
cudaError_t client_call(WireRequest *request, const void *tail, size_t bytes, WireReply *reply,
                        void *out, size_t out_bytes);

// For requests without tails.
cudaError_t client_simple(WireRequest *request, WireReply *reply);

// A request with its operation, the name for messages, and where the program called us from.
WireRequest client_request(enum wire_op op, const char *call);

// For requests without an answer. Safe in a signal handler.
void client_tell(WireRequest *request, const void *tail, size_t bytes);

// A transfer through the slots of the staging area. For each chunk: `fill` (if any) puts bytes in
// before it is sent, `drain` (if any) takes them out when it is answered. The last answer is left
// in *reply.
typedef void client_chunk(void *context, void *slot, uint64_t offset, uint32_t bytes);
cudaError_t client_transfer(WireRequest *request, WireChunk *chunk, uint64_t total,
                            client_chunk *fill, client_chunk *drain, void *context,
                            WireReply *reply);

// Tells that this process ends by itself.
void client_leave(void);

// Opens the device if this process has not done so.
cudaError_t client_open(void);
const WireFacts *client_facts(void);            // after client_open() has succeeded
cudaError_t client_check_devices(int a, int b); // are both devices of the machine?
uint32_t client_device(void);                   // the calling thread's current one
uint32_t client_use_device(uint32_t device);    // another one; returns the one before

// Notes an error as the calling thread's last one and returns it.
cudaError_t client_done(cudaError_t error);

// The sticky error that the device has last told of; cudaSuccess: none.
cudaError_t client_sticky(void);

// client_open(), and what calls give after it that need a context of the device's: none can be had
// once the device has been reset after a sticky error.
cudaError_t client_context(void);

// A <<<>>> launch failed and its result was thrown away: somebody should ask for the last error.
void client_unchecked(void);

// "warpwise: cudaFoo is not supported": told to the device; returns cudaErrorNotSupported.
cudaError_t client_unsupported(const char *call);

// Tells the device that it was called wrongly, in words for the student, and returns `error`.
cudaError_t client_misuse(const char *call, cudaError_t error, const char *message, const char *why,
                          const char *next);

// The same of an allocation that was given a null pointer to write the address to: p, and not &p
// (memory.c).
cudaError_t client_no_place(const char *call);

// Frees memory of cudaMalloc, cudaMallocManaged or cudaMallocHost (memory.c).
cudaError_t client_free(const char *call, void *p, enum wire_memory kind);

// Is this the process that opened the device, and no fork of it?
bool client_is_owner(void);

// shared.c: managed and pinned memory in this process.
// What the device has allocated; false: no room. A variable outlives cudaDeviceReset.
bool client_map(uint64_t address, uint64_t bytes, bool variable);
void client_unmap(uint64_t address); // it was freed
void client_unmap_all(void);         // but variables
bool client_runs_out(
    const void *p, uint64_t bytes); // do they begin in pinned memory, and end behind its last page?
bool client_sees_touches(void);     // can this process tell what of it the host touches?
void client_tell_touched(void);     // before a request
int client_memory(void);            // the memfd

// Memory of cudaMalloc and cudaMallocManaged; the host has the latter too.
static inline bool client_is_device(const void *p)
{
    return (uintptr_t)p >= WIRE_MEMORY && (uintptr_t)p < WIRE_PINNED;
}

static inline bool client_is_managed(const void *p)
{
    return (uintptr_t)p >= WIRE_SHARED && (uintptr_t)p < WIRE_PINNED;
}

// Memory of cudaMallocHost and cudaHostAlloc.
static inline bool client_is_pinned(const void *p)
{
    return (uintptr_t)p >= WIRE_PINNED && (uintptr_t)p < WIRE_END;
}

// stream.c: the id of the stream that the program means.
uint64_t client_stream(cudaStream_t stream);
void client_streams_reset(uint32_t device); // its streams are gone

// What the device knows of a stream, in reply->stream; and: do its work, however long the clock
// says that it takes.
cudaError_t client_stream_facts(const char *call, uint64_t stream, WireReply *reply);
cudaError_t client_stream_settle(const char *call, uint64_t stream);

enum { CLIENT_GREATEST_PRIORITY = -5 }; // of streams; the least is 0
// Is it an attribute's value that a stream, a launch or a node may be given?
bool client_good_attribute(cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value);

int client_priority(int wanted); // the nearest that there is

// Of a cluster: blocks, at most, of a kernel that asks for no more than every device has, and of
// any.
enum { CLIENT_PORTABLE_CLUSTER_BLOCKS = 8, CLIENT_CLUSTER_BLOCKS = WIRE_CLUSTER_BLOCKS };
bool client_divides(dim3 cluster, dim3 grid); // is the grid one of whole clusters? function.c

// Of an access policy, bytes; and of what L2 can be told to keep.
enum { CLIENT_LARGEST_WINDOW = 128 << 20, CLIENT_PERSISTING_STEP = 3932160 };

// stream_attributes.c: the stream is gone, or all of the device's are.
void client_stream_forget(uint64_t stream);
void client_streams_forget(uint32_t device);

// registered.c: is it host memory of the program's own that it has pinned with cudaHostRegister?
// What the device calls it; 0: nothing.
bool client_is_registered(const void *p);
uint64_t client_registered_address(const void *p);
void client_limits_reset(void);   // limits.c: they are those of the beginning
void client_unregister_all(void); // the device is being reset

static inline uint64_t client_address(const void *p) { return (uint64_t)(uintptr_t)p; }

// memory.c: the device address of a __device__ variable, for symbols (module.c).
cudaError_t client_symbol(const char *call, const void *symbol, uint64_t *address, uint64_t *size);
