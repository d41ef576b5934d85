// The CUDA runtime in the program's process. It is thin: most calls become one request to the
// device process (wire/wire.h), which keeps memory, streams and events. The client keeps what
// exists on the host only: registered kernels and variables, captures, graphs, and each thread's
// last error.
//
// Its files, in layers. A file includes and calls only files of its own layer and of layers that
// are listed before it (simulator/test/client.sh checks this). A header that is not listed is in
// the layer of its .c file.
//
//   transport   transport.c connection.c fault.c address.h
//   errors      error.c client.h
//   memory      shared.c registered.c guard.c io.c
//   code        module.c symbol.h function.c
//   streams     default_stream.c stream_attributes.c
//   operations  operation.c copy.c fill.c launch.c event.c host.c capture.c capture_member.c
//               capture_words.c graph.c graph_nodes.c graph_node.h graph_copies.c graph_kernels.c
//               graph_memory.c graph_condition.c exec.c exec_plan.c exec_run.c user_object.c
//   calls       batch.c device.c host_memory.c inside.c ipc.c library.c limits.c managed.c memory.c
//               peer.c pool.c settings.c stream.c
//
// Files of the layer `operations` call one another in a circle, because CUDA's concepts do: an
// operation runs or is captured, a captured operation becomes a node of a graph, and a node can be
// a whole graph.
#pragma once
#include "address.h"
#include "transport.h"
#include <vector_types.h>

#define EXPORT __attribute__((visibility("default")))

// The variant of an exported function that is called by code compiled with per-thread default
// streams: stream 0 is then the calling thread's own.
#define TWIN(name, twin, parameters, arguments)                                                    \
    EXPORT cudaError_t twin parameters                                                             \
    {                                                                                              \
        client_per_thread++;                                                                       \
        cudaError_t error = name arguments;                                                        \
        client_per_thread--;                                                                       \
        return error;                                                                              \
    }

// ---- error.c ----

// Records the error as the calling thread's last error, and returns it.
cudaError_t client_done(cudaError_t error);

// A <<<>>> launch failed. It returns no error to the program, so it counts as unchecked until the
// program asks for the last error.
void client_unchecked(void);

// Reports that the simulator does not support the call; returns cudaErrorNotSupported.
cudaError_t client_unsupported(const char *call);

// The same for what is no call of the runtime: it leaves the thread's last error as it is.
cudaError_t client_report_unsupported(const char *what);

// Reports that the program used the call wrongly: what happened, why, and what to do next. Returns
// `error`.
cudaError_t client_misuse(const char *call, cudaError_t error, const char *message, const char *why,
                          const char *next);

// A call that the program made.
typedef struct ClientSite {
    char call[32];
    uint64_t caller[WIRE_CALLERS];
} ClientSite;

// What is told of a call: what happened, why, and what to do next; and in a few words what another
// call did. `label` NULL: there is no such call.
typedef struct ClientWords {
    const char *message, *why, *next, *label;
    const ClientSite *site;
} ClientWords;

// Tells a person, once a line, why the call fails. It is no error of the run, since the program can
// know. Returns `error`.
cudaError_t client_note(const char *call, cudaError_t error, ClientWords words);

// The same; what happened is the call's name and then a format.
cudaError_t client_refuse(const char *call, cudaError_t error, const char *why, const char *next,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

// The refusals of more than one file: there is no such device; a flag that the call does not have.
cudaError_t client_no_device(const char *call, int ordinal);
cudaError_t client_no_flags(const char *call, unsigned flags);

// The same for an allocation call whose first argument is null: the program passed p, and not &p.
cudaError_t client_no_place(const char *call);

// The program has destroyed a handle that the client gave out.
void client_destroyed(const char *call, enum wire_handle kind, const void *handle);
// The call was given a handle that is none. If it was destroyed, true: a report says where. The
// report is an error if the call should have done work.
bool client_was_destroyed(const char *call, enum wire_handle kind, const void *handle, bool work);

// ---- shared.c: managed and pinned memory in this process ----

// Maps memory that the device has allocated. False: that failed. `variable`: it is a managed
// variable, which outlives cudaDeviceReset().
bool client_map(uint64_t address, uint64_t bytes, bool variable);
void client_unmap(uint64_t address); // after the device has freed it
void client_unmap_all(void);         // except variables

bool client_sees_touches(void); // can this process find out which managed pages the host touches?

// Frees an allocation on the device, and unmaps it if it is mapped here.
cudaError_t client_free(const char *call, void *p, enum wire_memory kind);

// ---- registered.c: the program's own memory, pinned with cudaHostRegister ----

cudaError_t client_register(void *p, size_t bytes, unsigned flags);
cudaError_t client_unregister(const void *p);
void client_unregister_all(void); // before cudaDeviceReset
bool client_is_registered(const void *p);
uint64_t client_registered_address(const void *p); // its device address; 0: none
unsigned client_registered_flags(const void *p);

// The device address of `bytes` bytes of registered memory; 0: they are not all accessible.
uint64_t client_registered_reach(const void *p, uint64_t bytes);

// For guards, safe in a signal handler. Is it an address of registered memory on the device? Its
// page in the program, if that may be guarded; NULL: it may not. And the device address of such a
// page's byte; 0: there is none.
bool client_is_registered_any(void); // has any memory been replaced?
bool client_is_alias(uint64_t address);
void *client_registered_host(uint64_t address);
uint64_t client_registered_alias(const void *at);

// ---- module.c (and symbol.h), function.c ----

// The device address of a __device__ variable.
cudaError_t client_symbol(const char *call, const void *symbol, uint64_t *address, uint64_t *size);

// The most blocks in a cluster: the portable size, and the limit for a kernel that allows a
// non-portable cluster size.
enum { CLIENT_PORTABLE_CLUSTER_BLOCKS = 8, CLIENT_CLUSTER_BLOCKS = WIRE_CLUSTER_BLOCKS };
bool client_divides(dim3 cluster, dim3 grid); // does the grid consist of whole clusters?

// ---- default_stream.c ----

extern __thread int client_per_thread; // above 0: in a call for which stream 0 is the thread's own

uint64_t client_stream(cudaStream_t stream); // the id of the stream that the handle means
void client_streams_reset(uint32_t device);  // cudaDeviceReset has destroyed its streams

// Gets the stream's properties, in reply->stream.
cudaError_t client_stream_facts(const char *call, uint64_t stream, WireReply *reply);

// Has the device do the stream's work now. The host's simulated time does not advance.
cudaError_t client_stream_settle(const char *call, uint64_t stream);

enum { CLIENT_GREATEST_PRIORITY = -5 }; // of streams; the lowest priority is 0
int client_priority(int wanted);        // the nearest valid priority

// ---- stream_attributes.c ----

// Is the value valid for this attribute of a stream, a launch or a kernel node?
bool client_good_attribute(cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value);
void client_stream_forget(uint64_t stream);  // after the stream was destroyed
void client_streams_forget(uint32_t device); // after cudaDeviceReset

// Bytes: the largest access policy window, and the granularity of the L2 set-aside for persisting
// accesses.
enum { CLIENT_LARGEST_WINDOW = 128 << 20, CLIENT_PERSISTING_STEP = 3932160 };

// ---- limits.c ----

void client_limits_reset(void); // back to the initial limits
