// The plan of an executable graph: its operations in topological order, and the branch of each. The
// operations of a branch run one after another on one stream.

#include "exec.h"
#include <stdlib.h>
#include <string.h>

static void unmake(enum wire_op op, uint64_t id)
{
    WireRequest request = client_request(op, "cudaGraphExecDestroy");
    request.object.id = id;
    WireReply reply;
    if (id) client_simple(&request, &reply);
}

// Frees the plans only: their graphs belong to the conditional node.
static void drop_bodies(Step *step)
{
    for (uint32_t i = 0; i < step->body_count; i++) {
        if (step->bodies[i]) exec_drop_plan(step->bodies[i]);
        free(step->bodies[i]);
    }
    free(step->bodies);
}

void exec_drop_plan(Exec *exec)
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

// ---- Making the plan ----

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

// A child graph: an empty step before its root nodes, and another after its last nodes.
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

// Adds steps for the graph's nodes. Root nodes depend on the steps `needs`.
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

// A step continues the branch of a step on which it depends, if that step is the last of its branch
// and on the same device. Otherwise it begins a new branch.
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
    exec_drop_plan(exec);
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
