// Executable graphs. A launch issues the operations one after another, each behind what it needs,
// on as many streams as the graph has branches; events order those among one another. The first
// branch is the stream of the launch itself.

#include "capture.h"
#include "graph.h"
#include "graph_condition.h"
#include "graph_memory.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Node *node;                // NULL: where a graph inside of the graph begins or ends
    size_t *needs, need_count; // steps
    size_t branch;
    bool needed, awaited; // by another step; by one on another branch
    uint64_t event;       // once it is awaited; of the device
    Exec **bodies;        // of a node that chooses among graphs,
    uint32_t body_count;
} Step;

typedef struct {
    uint32_t device;
    uint64_t stream; // 0: not made yet
    size_t last;     // step, while it is planned
} Branch;

struct Exec {
    Exec *next;
    Graph *graph;
    unsigned long long flags;
    Step *steps;
    size_t count;
    Branch *branches;
    size_t branch_count;
    uint64_t begins; // the event at which the other branches begin
};

static Exec *execs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool is_known(const Exec *exec)
{
    pthread_mutex_lock(&mutex);
    const Exec *at = execs;
    while (at && at != exec) at = at->next;
    pthread_mutex_unlock(&mutex);
    return at != NULL;
}

Node *exec_node(Exec *exec, const Node *original)
{
    Node *node = is_known(exec) && original ? exec->graph->first : NULL;
    while (node && node->original != original) node = node->next;
    return node;
}

// ---- Streams and events of its own, on the device ----

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

static void unmake(enum wire_op op, uint64_t id)
{
    WireRequest request = client_request(op, "cudaGraphExecDestroy");
    request.object.id = id;
    WireReply reply;
    if (id) client_simple(&request, &reply);
}

static void drop_plan(Exec *exec);

// The graphs are the node's.
static void drop_bodies(Step *step)
{
    for (uint32_t i = 0; i < step->body_count; i++) {
        if (step->bodies[i]) drop_plan(step->bodies[i]);
        free(step->bodies[i]);
    }
    free(step->bodies);
}

static void drop_plan(Exec *exec)
{
    for (size_t i = 0; i < exec->count; i++) {
        unmake(WIRE_EVENT_DESTROY, exec->steps[i].event);
        drop_bodies(&exec->steps[i]);
        free(exec->steps[i].needs);
    }
    for (size_t i = 0; i < exec->branch_count; i++)
        unmake(WIRE_STREAM_DESTROY, exec->branches[i].stream);
    unmake(WIRE_EVENT_DESTROY, exec->begins);
    free(exec->steps);
    free(exec->branches);
    exec->steps = NULL;
    exec->branches = NULL;
    exec->count = exec->branch_count = 0;
    exec->begins = 0;
}

// ---- The plan ----

static Step *add_step(Exec *exec, Node *node, const size_t *needs, size_t count)
{
    Step *more = realloc(exec->steps, (exec->count + 1) * sizeof *more);
    size_t *own = malloc((count + 1) * sizeof *own);
    if (more) exec->steps = more;
    if (!more || !own) {
        free(own);
        return NULL;
    }
    if (count) memcpy(own, needs, count * sizeof *own);
    for (size_t i = 0; i < count; i++) exec->steps[needs[i]].needed = true;
    exec->steps[exec->count] = (Step){ .node = node, .needs = own, .need_count = count };
    return &exec->steps[exec->count++];
}

static bool add_graph(Exec *exec, const Graph *graph, const size_t *needs, size_t count);

// A graph inside: a step before its first nodes and one behind its last.
static bool add_inner(Exec *exec, const Graph *graph, const size_t *needs, size_t count)
{
    size_t begin = exec->count;
    if (!add_step(exec, NULL, needs, count) || !add_graph(exec, graph, &begin, 1)) return false;
    size_t *last = calloc(exec->count, sizeof *last), last_count = 0;
    for (size_t i = begin; i < exec->count && last; i++)
        if (!exec->steps[i].needed) last[last_count++] = i;
    bool good = last && add_step(exec, NULL, last, last_count);
    free(last);
    return good;
}

// Adds steps for the graph's nodes; those that need no other need these steps.
static bool add_graph(Exec *exec, const Graph *graph, const size_t *needs, size_t count)
{
    Node **sorted = graph_sorted(graph);
    size_t *step_of = calloc(graph->count + 1, sizeof *step_of);
    size_t *before = calloc(graph->count + 1, sizeof *before);
    bool good = sorted && step_of && before;
    for (size_t n = 0; n < graph->count && good; n++) {
        Node *node = sorted[n];
        for (size_t i = 0; i < node->need_count; i++) before[i] = step_of[node->needs[i]->place];
        const size_t *from = node->need_count ? before : needs;
        size_t from_count = node->need_count ? node->need_count : count;
        good = node->operation.kind == OPERATION_GRAPH
                 ? add_inner(exec, node->operation.graph, from, from_count)
                 : add_step(exec, node, from, from_count) != NULL;
        step_of[node->place] = exec->count - 1;
    }
    free(sorted);
    free(step_of);
    free(before);
    return good;
}

static uint32_t device_of(const Exec *exec, const Step *step)
{
    if (step->node) return step->node->operation.device;
    return step->need_count ? exec->branches[exec->steps[step->needs[0]].branch].device
                            : client_device();
}

// A step goes on with the branch of one that it needs, if nothing else did before.
static bool choose_branch(Exec *exec, size_t n)
{
    Step *step = &exec->steps[n];
    uint32_t device = device_of(exec, step);
    for (size_t i = 0; i < step->need_count; i++) {
        size_t branch = exec->steps[step->needs[i]].branch;
        if (exec->branches[branch].last == step->needs[i]
            && exec->branches[branch].device == device) {
            step->branch = branch;
            exec->branches[branch].last = n;
            return true;
        }
    }
    Branch *more = realloc(exec->branches, (exec->branch_count + 1) * sizeof *more);
    if (!more) return false;
    exec->branches = more;
    exec->branches[exec->branch_count] = (Branch){ .device = device, .last = n };
    step->branch = exec->branch_count++;
    return true;
}

static void find_awaited(Exec *exec)
{
    for (size_t n = 0; n < exec->count; n++) {
        Step *step = &exec->steps[n];
        step->awaited |= !step->needed; // by the stream of the launch
        for (size_t i = 0; i < step->need_count; i++)
            if (exec->steps[step->needs[i]].branch != step->branch)
                exec->steps[step->needs[i]].awaited = true;
    }
}

static cudaError_t plan_bodies(Step *step)
{
    const Operation *o = &step->node->operation;
    step->bodies = calloc(o->condition.size, sizeof *step->bodies);
    cudaError_t error = step->bodies ? cudaSuccess : cudaErrorMemoryAllocation;
    step->body_count = error ? 0 : o->condition.size;
    for (uint32_t i = 0; i < step->body_count && !error; i++) {
        Exec *body = step->bodies[i] = calloc(1, sizeof *body);
        if (body) body->graph = o->condition.bodies[i];
        error = body ? exec_plan(body) : cudaErrorMemoryAllocation;
    }
    return error;
}

cudaError_t exec_plan(Exec *exec)
{
    drop_plan(exec);
    if (!add_graph(exec, exec->graph, NULL, 0)) return cudaErrorInvalidValue;
    for (size_t n = 0; n < exec->count; n++)
        if (!choose_branch(exec, n)) return cudaErrorMemoryAllocation;
    find_awaited(exec);
    cudaError_t error = cudaSuccess;
    for (size_t n = 0; n < exec->count && !error; n++)
        if (exec->steps[n].node && exec->steps[n].node->operation.kind == OPERATION_CONDITION)
            error = plan_bodies(&exec->steps[n]);
    return error;
}

// ---- Launching ----

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

// Its stream: that of the launch for the first one, if they are of one device.
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
    cudaError_t error;
    do {
        error = condition_choose(o, stream, &body);
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

static cudaError_t run(Exec *exec, uint64_t stream)
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

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream)
{
    Exec *exec = (Exec *)handle;
    cudaError_t error = client_open();
    if (!error && !is_known(exec))
        error = client_misuse("cudaGraphLaunch", cudaErrorInvalidValue,
                              "cudaGraphLaunch: this is no executable graph",
                              "It was never instantiated, or has been destroyed.",
                              "Launch what cudaGraphInstantiate gave.");
    if (error) return client_done(error);
    uint64_t id = client_stream(stream);
    bool captured = capture_has_stream(id);
    error = capture_forbids_waiting(id);
    if (captured)
        error =
            client_misuse("cudaGraphLaunch", error, "cudaGraphLaunch: the stream is being captured",
                          "A launch of an executable graph cannot become a part of another graph, "
                          "and the capture is lost.",
                          "Add the graph as a node, with cudaGraphAddChildGraphNode, or launch it "
                          "behind cudaStreamEndCapture.");
    return client_done(error ? error : run(exec, id));
}
TWIN(cudaGraphLaunch, cudaGraphLaunch_ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
     (exec, stream))

// There is nothing to bring there ahead of the launch.
EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    uint32_t device;
    cudaError_t error = is_known((Exec *)exec) ? capture_forbids_waiting(client_stream(stream))
                                               : cudaErrorInvalidValue;
    if (!error) error = device_of_stream(client_stream(stream), &device);
    return client_done(error);
}
TWIN(cudaGraphUpload, cudaGraphUpload_ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
     (exec, stream))

// ---- Making and destroying ----

static void free_exec(Exec *exec)
{
    drop_plan(exec);
    if (exec->graph) graph_free(exec->graph);
    free(exec);
}

// Has one been made of the graph that is still there?
static bool is_executable(const Graph *graph)
{
    bool found = false;
    pthread_mutex_lock(&mutex);
    for (const Exec *exec = execs; exec && !found; exec = exec->next)
        for (const Node *node = exec->graph->first; node && !found; node = node->next)
            found = node->original->graph == graph;
    pthread_mutex_unlock(&mutex);
    return found;
}

static cudaError_t instantiate(cudaGraphExec_t *out, const Graph *graph, unsigned long long flags)
{
    cudaError_t error = client_open();
    if (!error) error = capture_forbids();
    if (!error && out && !graph_known(graph))
        error = client_misuse("cudaGraphInstantiate", cudaErrorInvalidValue,
                              "cudaGraphInstantiate: this is no graph",
                              "It was never made, or has been destroyed.",
                              "Instantiate what cudaStreamEndCapture gave.");
    if (error || !out) return error ? error : cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return client_unsupported("a graph that kernels launch");
    if (flags
        & ~(unsigned long long)(cudaGraphInstantiateFlagAutoFreeOnLaunch
                                | cudaGraphInstantiateFlagUpload
                                | cudaGraphInstantiateFlagUseNodePriority))
        return cudaErrorInvalidValue;
    if (graph->conditional || (graph_is_single(graph) && is_executable(graph)))
        return cudaErrorNotSupported;
    error = condition_check_bodies(graph);
    if (error) return error;
    Exec *exec = calloc(1, sizeof *exec);
    if (!exec) return cudaErrorMemoryAllocation;
    exec->flags = flags;
    exec->graph = graph_clone(graph);
    error = exec->graph ? exec_plan(exec) : cudaErrorMemoryAllocation;
    if (error) {
        free_exec(exec);
        return error;
    }
    pthread_mutex_lock(&mutex);
    exec->next = execs;
    execs = exec;
    pthread_mutex_unlock(&mutex);
    *out = (cudaGraphExec_t)exec;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                        unsigned long long flags)
{
    return client_done(instantiate(exec, (Graph *)graph, flags));
}

// Which stream it were to be uploaded on, flags alone do not say.
EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                 unsigned long long flags)
{
    bool uploads = flags & cudaGraphInstantiateFlagUpload;
    return client_done(uploads ? cudaErrorInvalidValue : instantiate(exec, (Graph *)graph, flags));
}

EXPORT cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                  cudaGraphInstantiateParams *how)
{
    if (!how) return client_done(cudaErrorInvalidValue);
    cudaError_t error = instantiate(exec, (Graph *)graph, how->flags);
    Node **sorted = error && graph_known((Graph *)graph) ? graph_sorted((Graph *)graph) : NULL;
    bool circle = error && graph_known((Graph *)graph) && !sorted;
    free(sorted);
    how->errNode_out = circle ? (cudaGraphNode_t)((Graph *)graph)->first : NULL;
    how->result_out = circle ? cudaGraphInstantiateInvalidStructure
                    : error  ? cudaGraphInstantiateError
                             : cudaGraphInstantiateSuccess;
    return client_done(error);
}
TWIN(cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz,
     (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *how),
     (exec, graph, how))

EXPORT cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    if (!flags || !is_known((Exec *)exec)) return client_done(cudaErrorInvalidValue);
    *flags = ((Exec *)exec)->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch; // as an H200 answers
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle)
{
    Exec *exec = (Exec *)handle;
    if (!is_known(exec)) return client_done(cudaErrorInvalidValue);
    pthread_mutex_lock(&mutex);
    Exec **at = &execs;
    while (*at != exec) at = &(*at)->next;
    *at = exec->next;
    pthread_mutex_unlock(&mutex);
    free_exec(exec);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t original,
                                           unsigned enabled)
{
    Node *node = exec_node((Exec *)exec, (Node *)original);
    if (!node || node->operation.kind > OPERATION_FILL) // only of kernels, copies and fills
        return client_done(cudaErrorInvalidValue);
    node->disabled = !enabled;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t original,
                                           unsigned *enabled)
{
    Node *node = exec_node((Exec *)exec, (Node *)original);
    if (!enabled || !node || node->operation.kind > OPERATION_FILL)
        return client_done(cudaErrorInvalidValue);
    *enabled = !node->disabled;
    return cudaSuccess;
}

// ---- Updating ----

static bool is_row(const CopyOperation *copy) { return copy->rows == 1 && copy->slices == 1; }

static bool same_side(const void *p, const void *q)
{
    return client_is_device(p) == client_is_device(q);
}

// What fills or copies rows stays as it is; what was the host's stays the host's, and what was a
// device's a device's.
static bool can_become(const Operation *o, const Operation *other)
{
    if (o->kind == OPERATION_FILL)
        return o->fill.rows == other->fill.rows
            && (o->fill.rows == 1 || o->fill.width == other->fill.width);
    if (o->kind != OPERATION_COPY) return true;
    return is_row(&o->copy) == is_row(&other->copy)
        && same_side(o->copy.to.address, other->copy.to.address)
        && same_side(o->copy.from.address, other->copy.from.address);
}

// Is the other graph's node like this one, but for its parameters?
static enum cudaGraphExecUpdateResult compare(const Node *node, const Node *other)
{
    if (node->need_count != other->need_count) return cudaGraphExecUpdateErrorTopologyChanged;
    if (node->operation.kind != other->operation.kind)
        return cudaGraphExecUpdateErrorNodeTypeChanged;
    bool has_memory = operation_is_memory(&node->operation);
    if (has_memory && node->operation.memory.address != other->operation.memory.address)
        return cudaGraphExecUpdateErrorNotSupported;
    for (size_t i = 0; i < node->need_count; i++)
        if (node->needs[i]->place != other->needs[i]->place)
            return cudaGraphExecUpdateErrorTopologyChanged;
    return can_become(&node->operation, &other->operation)
             ? cudaGraphExecUpdateSuccess
             : cudaGraphExecUpdateErrorParametersChanged;
}

static enum cudaGraphExecUpdateResult compare_all(const Graph *graph, const Graph *other,
                                                  const Node **at);

// Node by node, each behind what it needs, whenever it was made. *at: where they differ; NULL: in
// how many they are.
static enum cudaGraphExecUpdateResult compare_sorted(Node **nodes, Node **others, size_t count,
                                                     const Node **at)
{
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    for (size_t i = 0; i < count; i++) nodes[i]->place = others[i]->place = i;
    for (size_t i = 0; i < count && !result; i++) {
        *at = others[i];
        result = compare(nodes[i], others[i]);
        if (!result && nodes[i]->operation.kind == OPERATION_GRAPH)
            result = compare_all(nodes[i]->operation.graph, others[i]->operation.graph, at);
    }
    return result;
}

static enum cudaGraphExecUpdateResult compare_all(const Graph *graph, const Graph *other,
                                                  const Node **at)
{
    *at = NULL;
    if (graph->count != other->count) return cudaGraphExecUpdateErrorTopologyChanged;
    Node **nodes = graph_sorted(graph), **others = graph_sorted(other);
    enum cudaGraphExecUpdateResult result = nodes && others
                                              ? compare_sorted(nodes, others, graph->count, at)
                                              : cudaGraphExecUpdateErrorTopologyChanged;
    free(nodes);
    free(others);
    return result;
}

bool exec_is_like(const Graph *graph, const Graph *other)
{
    const Node *at;
    return compare_all(graph, other, &at) == cudaGraphExecUpdateSuccess;
}

// The new one's nodes are known by those that the old one was made from.
static bool pass_on(const Graph *old, const Graph *new)
{
    Node **from = graph_sorted(old), **to = graph_sorted(new);
    bool good = from && to;
    for (size_t i = 0; good && i < old->count; i++) {
        graph_set_original(to[i], from[i]->original);
        to[i]->disabled = from[i]->disabled;
    }
    free(from);
    free(to);
    return good;
}

// Whoever makes one of another graph meanwhile looks at all (is_executable).
static void become(Exec *exec, Graph *graph)
{
    pthread_mutex_lock(&mutex);
    Graph *old = exec->graph;
    exec->graph = graph;
    pthread_mutex_unlock(&mutex);
    graph_free(old);
}

EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph,
                                       cudaGraphExecUpdateResultInfo *info)
{
    Exec *exec = (Exec *)handle;
    const Node *at = NULL;
    if (!is_known(exec) || !graph_known((Graph *)graph)) return client_done(cudaErrorInvalidValue);
    cudaGraphExecUpdateResultInfo none, *to = info ? info : &none;
    *to =
        (cudaGraphExecUpdateResultInfo){ .result = compare_all(exec->graph, (Graph *)graph, &at) };
    if (to->result) {
        to->errorNode = (cudaGraphNode_t)at;
        return client_done(cudaErrorGraphExecUpdateFailure);
    }
    Graph *updated = graph_clone((Graph *)graph);
    if (!updated) return client_done(cudaErrorMemoryAllocation);
    if (!pass_on(exec->graph, updated)) {
        graph_free(updated);
        return client_done(cudaErrorMemoryAllocation);
    }
    become(exec, updated);
    return client_done(exec_plan(exec));
}
