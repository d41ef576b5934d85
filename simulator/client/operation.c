// Operations on streams: run at once, or kept for a graph.

#include "capture.h"
#include "graph.h"
#include "graph_condition.h"
#include "operation.h"
#include <stdlib.h>
#include <string.h>

cudaError_t operation_run(const Operation *operation, uint64_t stream)
{
    switch (operation->kind) {
    case OPERATION_KERNEL: return operation_run_kernel(operation, stream);
    case OPERATION_COPY: return operation_run_copy(operation, stream);
    case OPERATION_FILL: return operation_run_fill(operation, stream);
    case OPERATION_HOST: return operation_run_host(operation, stream);
    case OPERATION_RECORD:
    case OPERATION_WAIT: return operation_run_event(operation, stream);
    case OPERATION_ALLOC:
    case OPERATION_RELEASE: return operation_run_memory(operation, stream);
    case OPERATION_GRAPH:
    case OPERATION_CONDITION:
    case OPERATION_EMPTY: break;
    }
    return cudaSuccess;
}

cudaError_t operation_issue(const Operation *operation, cudaStream_t stream)
{
    uint64_t id = client_stream(stream);
    cudaError_t error;
    if (capture_takes(operation, id, &error)) return error;
    return operation_run(operation, id);
}

WireRequest operation_request(const Operation *operation, enum wire_op op)
{
    WireRequest request = client_request(op, operation->call);
    if (operation->kept) memcpy(request.caller, operation->caller, sizeof request.caller);
    return request;
}

bool operation_keep(Operation *kept, const Operation *operation)
{
    *kept = *operation;
    if (!operation->kept) {
        WireRequest here = client_request(WIRE_GRAPH, operation->call);
        memcpy(kept->caller, here.caller, sizeof kept->caller);
        kept->device = here.device;
        kept->kept = true;
        if (kept->kind == OPERATION_KERNEL) kept->kernel.reaches_all = client_within > 0;
    }
    if (kept->kind == OPERATION_KERNEL) {
        kept->kernel.unchecked = false;
        kept->kernel.in_graph = true;
        kept->kernel.parameters = malloc(kept->kernel.bytes + 1);
        if (!kept->kernel.parameters) return false;
        memcpy(kept->kernel.parameters, operation->kernel.parameters, kept->kernel.bytes);
    }
    if (kept->kind == OPERATION_GRAPH) {
        kept->graph = graph_clone(operation->graph);
        return kept->graph != NULL;
    }
    if (kept->kind == OPERATION_CONDITION) return condition_keep(kept, operation);
    return true;
}

void operation_drop(Operation *kept)
{
    if (kept->kind == OPERATION_KERNEL) free(kept->kernel.parameters);
    if (kept->kind == OPERATION_GRAPH && kept->graph) graph_free(kept->graph);
    if (kept->kind == OPERATION_CONDITION) condition_drop(kept);
    *kept = (Operation){ .kind = OPERATION_EMPTY };
}
