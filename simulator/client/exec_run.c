// A launch issues the graph's operations one after another in topological order, each branch on a
// stream of its own. Events order the streams. The first branch runs on the stream of the launch,
// if that is on the same device.

#include "exec.h"
#include "graph_condition.h"
#include "graph_memory.h"

// ---- The executable graph's streams and events on the device ----

static uint64_t make_stream(uint32_t device)
{
    WireRequest request = client_request(WIRE_STREAM_CREATE, "cudaGraphLaunch");
    request.device = device;
    request.create.flags = cudaStreamNonBlocking;
    WireReply reply;
    return client_simple(&request, &reply) ? 0 : reply.id;
}

static uint64_t make_event(uint32_t device)
{
    WireRequest request = client_request(WIRE_EVENT_CREATE, "cudaGraphLaunch");
    request.device = device;
    request.event.flags = cudaEventDisableTiming;
    WireReply reply;
    return client_simple(&request, &reply) ? 0 : reply.id;
}

// ---- Issuing ----

static cudaError_t on_event(enum wire_op op, uint64_t event, uint64_t stream)
{
    WireRequest request = client_request(op, "cudaGraphLaunch");
    request.stream = stream;
    request.event.event = event;
    WireReply reply;
    return client_simple(&request, &reply);
}

static cudaError_t record(uint64_t *event, uint32_t device, uint64_t stream)
{
    if (!*event) *event = make_event(device);
    return *event ? on_event(WIRE_EVENT_RECORD, *event, stream) : cudaErrorMemoryAllocation;
}

// The stream of a branch: for the first branch the stream of the launch, if both are on the same
// device.
static cudaError_t stream_of(Exec *exec, size_t branch, uint64_t launch, uint32_t device,
                             uint64_t *stream)
{
    Branch *b = &exec->branches[branch];
    *stream = launch;
    if (branch == 0 && b->device == device) return cudaSuccess;
    if (!b->stream) b->stream = make_stream(b->device);
    *stream = b->stream;
    return b->stream ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t run_steps(Exec *exec, uint64_t stream, uint32_t device);

static cudaError_t run_condition(Step *step, uint64_t stream, uint32_t device)
{
    const Operation *o = &step->node->operation;
    int body = -1;
    uint32_t most = 0;
    cudaError_t error;
    for (uint32_t i = 0; i < o->condition.size; i++)
        if (step->bodies[i]->count > most) most = (uint32_t)step->bodies[i]->count;
    do {
        error = condition_choose(o, stream, most, &body);
        if (!error && body >= 0) error = run_steps(step->bodies[body], stream, device);
    } while (!error && body >= 0 && o->condition.type == cudaGraphCondTypeWhile);
    return error;
}

static cudaError_t run_step(Exec *exec, Step *step, uint64_t launch, uint32_t device)
{
    uint64_t stream;
    cudaError_t error = stream_of(exec, step->branch, launch, device, &stream);
    if (!error && !step->need_count && stream != launch)
        error = on_event(WIRE_STREAM_WAIT, exec->begins, stream);
    for (size_t i = 0; i < step->need_count && !error; i++) {
        const Step *before = &exec->steps[step->needs[i]];
        if (before->branch != step->branch)
            error = on_event(WIRE_STREAM_WAIT, before->event, stream);
    }
    uint32_t current = client_use_device(exec->branches[step->branch].device);
    if (!error && step->bodies)
        error = run_condition(step, stream, exec->branches[step->branch].device);
    else if (!error && step->node && !step->node->disabled)
        error = operation_run(&step->node->operation, stream);
    client_use_device(current);
    bool awaited = step->awaited && (step->needed || stream != launch);
    if (!error && awaited)
        error = record(&step->event, exec->branches[step->branch].device, stream);
    if (!error && awaited && !step->needed) error = on_event(WIRE_STREAM_WAIT, step->event, launch);
    return error;
}

static cudaError_t device_of_stream(uint64_t stream, uint32_t *device)
{
    WireReply reply;
    cudaError_t error = client_stream_facts("cudaGraphLaunch", stream, &reply);
    if (!error) *device = reply.stream.device;
    return error;
}

static cudaError_t run_steps(Exec *exec, uint64_t stream, uint32_t device)
{
    cudaError_t error = cudaSuccess;
    if (exec->count && (exec->branch_count > 1 || exec->branches[0].device != device))
        error = record(&exec->begins, device, stream);
    for (size_t n = 0; n < exec->count && !error; n++)
        error = run_step(exec, &exec->steps[n], stream, device);
    return error;
}

cudaError_t exec_run(Exec *exec, uint64_t stream)
{
    uint32_t device;
    cudaError_t error = graph_memory_begin(
        exec->graph, exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch, stream);
    if (error) return error;
    WireRequest request = client_request(WIRE_GRAPH, "cudaGraphLaunch");
    request.stream = stream;
    request.object.id = exec->count;
    WireReply reply;
    error = client_simple(&request, &reply);
    client_within++;
    if (!error) error = device_of_stream(stream, &device);
    if (!error) error = condition_begin(exec->graph, stream);
    if (!error) error = run_steps(exec, stream, device);
    client_within--;
    graph_memory_end(exec->graph);
    return error;
}
