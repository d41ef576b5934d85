// Operations that a program puts on a stream. Each is described first, so that it can either be run
// at once or be kept as a graph's node.
#pragma once
#include "client.h"
#include <cuda_runtime_api.h>

enum operation_kind {
    OPERATION_KERNEL,
    OPERATION_COPY,
    OPERATION_FILL,
    OPERATION_HOST,
    OPERATION_RECORD,    // of an event
    OPERATION_WAIT,      // for an event
    OPERATION_GRAPH,     // only in graphs: a child graph,
    OPERATION_EMPTY,     // an empty node,
    OPERATION_ALLOC,     // an allocation of the graph,
    OPERATION_RELEASE,   // its release,
    OPERATION_CONDITION, // a conditional node
};

// A launch, with a copy of its parameters.
typedef struct {
    const void *key; // the stub, or the handle of a kernel without one
    struct Symbol *symbol;
    dim3 grid, block;
    size_t shared;     // dynamic, bytes
    bool unchecked;    // the program does not look at the result of the launch
    bool in_graph;     // launched together with others
    bool reaches_all;  // may access every device's memory: a library's, which is captured
    bool only_checked; // only checked, not launched
    bool cooperative;  // all blocks are resident at once
    dim3 cluster;      // blocks of its clusters; 0: unspecified
    int policy;        // enum cudaClusterSchedulingPolicy; like the next four it has no effect
    int priority;
    struct cudaAccessPolicyWindow window;
    cudaLaunchMemSyncDomain domain;
    cudaLaunchMemSyncDomainMap domains;
    unsigned carveout;
    char *parameters;
    size_t bytes; // of them
} KernelOperation;

// A box of bytes: rows `pitch` bytes apart, in slices `slice` bytes apart. A plain copy is one row.
typedef struct {
    char *address;
    size_t pitch, slice;
} Box;

typedef struct {
    Box to, from;
    size_t width, rows, slices; // bytes, rows in a slice, slices
    enum cudaMemcpyKind kind;
    bool blocks; // the host waits for it
} CopyOperation;

typedef struct {
    Box to;
    size_t width, rows, slices;
    unsigned value, value_bytes; // 1, 2 or 4 bytes at a time
    bool blocks;
} FillOperation;

typedef struct {
    cudaHostFn_t function;         // or
    cudaStreamCallback_t callback; // which is told the stream
    void *data;
    cudaStream_t stream;
} HostOperation;

typedef struct Operation {
    enum operation_kind kind;
    const char *call; // "cudaMemcpy": for messages
    bool kept;        // in a graph; then these two are set:
    uint32_t device;  // the current device
    uint64_t caller[WIRE_CALLERS];
    union {
        KernelOperation kernel;
        CopyOperation copy;
        FillOperation fill;
        HostOperation host;
        cudaEvent_t event;
        struct Graph *graph;
        struct {
            uint64_t address;
            size_t bytes;
        } memory;
        struct {
            uint64_t handle;
            uint32_t type, size;
            struct Graph **bodies;
        } condition;
    };
} Operation;

// Does it allocate or free memory of a graph?
static inline bool operation_is_memory(const Operation *operation)
{
    return operation->kind == OPERATION_ALLOC || operation->kind == OPERATION_RELEASE;
}

// Issues the operation to the stream or, if the stream is being captured, adds it to the graph.
cudaError_t operation_issue(const Operation *operation, cudaStream_t stream);

// Runs the operation on the stream with that id.
cudaError_t operation_run(const Operation *operation, uint64_t stream);

// The operation's request, with the call site of the current call or, for a kept operation, of the
// call that kept it.
WireRequest operation_request(const Operation *operation, enum wire_op op);

// Makes a copy for a graph; the copy owns its data. False: out of memory.
bool operation_keep(Operation *kept, const Operation *operation);
void operation_drop(Operation *kept);

// launch.c, copy.c, fill.c, host.c, event.c: run the operation on the stream of that id.
cudaError_t operation_run_kernel(const Operation *operation, uint64_t stream);
cudaError_t operation_run_copy(const Operation *operation, uint64_t stream);
cudaError_t operation_run_fill(const Operation *operation, uint64_t stream);
cudaError_t operation_run_host(const Operation *operation, uint64_t stream);
cudaError_t operation_run_event(const Operation *operation, uint64_t stream);
cudaError_t operation_run_memory(const Operation *operation, uint64_t stream); // graph_memory.c

// launch.c: fills in the kernel of that stub or handle, and its parameters.
cudaError_t operation_kernel(const void *key, void **arguments, KernelOperation *kernel,
                             char parameters[WIRE_TAIL]);

// fill.c, copy.c: check an operation; cudaSuccess: it is valid.
cudaError_t operation_check_copy(const Operation *operation);
cudaError_t operation_check_fill(const Operation *operation);

// copy.c: puts a valid copy on the stream, or returns its error.
cudaError_t operation_copy(const char *call, CopyOperation copy, cudaStream_t stream);

// copy.c: a copy of one row; and the copy that these parameters describe, without arrays.
CopyOperation operation_plain_copy(void *to, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind);
CopyOperation operation_box_copy(const struct cudaMemcpy3DParms *parameters, bool blocks);
