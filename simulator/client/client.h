// The thin CUDA runtime: each call becomes one request to the device process (wire.h).
// It keeps no truth of its own but handles and the thread's last error.
//
// Its files, lowest first. What a file includes, and what its object calls, is in its own line or
// in one above (simulator/test/client.sh holds it); a header that is not named belongs to its .c
// file.
//
//   transport   transport.c connection.c fault.c address.h
//   errors      error.c client.h
//   memory      shared.c registered.c
//   code        module.c symbol.h function.c
//   streams     default_stream.c stream_attributes.c
//   operations  operation.c copy.c fill.c launch.c event.c host.c capture.c capture_member.c
//               graph.c graph_nodes.c graph_node.h graph_copies.c graph_kernels.c graph_memory.c
//               graph_condition.c exec.c exec_plan.c exec_run.c user_object.c
//   calls       batch.c device.c host_memory.c inside.c ipc.c library.c limits.c managed.c memory.c
//               peer.c pool.c settings.c stream.c
//
// The line of operations is a circle, and CUDA's own: an operation runs or is captured, what is
// captured becomes a node of a graph, and a graph is an operation.
#pragma once
#include "address.h"
#include "transport.h"
#include <vector_types.h>

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

// ---- error.c ----

// Notes an error as the calling thread's last one and returns it.
cudaError_t client_done(cudaError_t error);

// A <<<>>> launch failed and its result was thrown away: somebody should ask for the last error.
void client_unchecked(void);

// "warpwise: cudaFoo is not supported": told to the device; returns cudaErrorNotSupported.
cudaError_t client_unsupported(const char *call);

// Tells the device that it was called wrongly, in words for the student, and returns `error`.
cudaError_t client_misuse(const char *call, cudaError_t error, const char *message, const char *why,
                          const char *next);

// The same of an allocation that was given a null pointer to write the address to: p, and not &p.
cudaError_t client_no_place(const char *call);

// ---- shared.c: managed and pinned memory in this process ----

// What the device has allocated; false: no room. A variable outlives cudaDeviceReset.
bool client_map(uint64_t address, uint64_t bytes, bool variable);
void client_unmap(uint64_t address); // it was freed
void client_unmap_all(void);         // but variables
bool client_runs_out(
    const void *p, uint64_t bytes); // do they begin in pinned memory, and end behind its last page?
bool client_sees_touches(void);     // can this process tell what of it the host touches?

// Frees memory of cudaMalloc, cudaMallocManaged or cudaMallocHost.
cudaError_t client_free(const char *call, void *p, enum wire_memory kind);

// ---- registered.c: host memory of the program's own that it has pinned ----

cudaError_t client_register(void *p, size_t bytes, unsigned flags);
cudaError_t client_unregister(const void *p);
void client_unregister_all(void); // the device is being reset
bool client_is_registered(const void *p);
uint64_t client_registered_address(const void *p); // what the device calls it; 0: nothing
unsigned client_registered_flags(const void *p);

// ---- module.c (and symbol.h), function.c ----

// The device address of a __device__ variable.
cudaError_t client_symbol(const char *call, const void *symbol, uint64_t *address, uint64_t *size);

// Of a cluster: blocks, at most, of a kernel that asks for no more than every device has, and of
// any.
enum { CLIENT_PORTABLE_CLUSTER_BLOCKS = 8, CLIENT_CLUSTER_BLOCKS = WIRE_CLUSTER_BLOCKS };
bool client_divides(dim3 cluster, dim3 grid); // is the grid one of whole clusters?

// ---- default_stream.c ----

extern __thread int client_per_thread; // in a call for which stream 0 is the thread's own

uint64_t client_stream(cudaStream_t stream); // the id of the stream that the program means
void client_streams_reset(uint32_t device);  // its streams are gone

// What the device knows of a stream, in reply->stream; and: do its work, however long the clock
// says that it takes.
cudaError_t client_stream_facts(const char *call, uint64_t stream, WireReply *reply);
cudaError_t client_stream_settle(const char *call, uint64_t stream);

enum { CLIENT_GREATEST_PRIORITY = -5 }; // of streams; the least is 0
int client_priority(int wanted);        // the nearest that there is

// ---- stream_attributes.c ----

// Is it an attribute's value that a stream, a launch or a node may be given?
bool client_good_attribute(cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value);
void client_stream_forget(uint64_t stream);  // it is gone,
void client_streams_forget(uint32_t device); // or all of the device's are

// Of an access policy, bytes; and of what L2 can be told to keep.
enum { CLIENT_LARGEST_WINDOW = 128 << 20, CLIENT_PERSISTING_STEP = 3932160 };

// ---- limits.c ----

void client_limits_reset(void); // they are those of the beginning
