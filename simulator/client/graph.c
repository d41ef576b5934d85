// The structure of graphs: nodes, dependencies, clones, and queries. The handle of a graph or a
// node is its address.

#include "graph.h"
#include "graph_condition.h"
#include "graph_memory.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Graph *graphs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

Graph *graph_make(void)
{
    Graph *graph = calloc(1, sizeof *graph);
    if (!graph) return NULL;
    graph->end = &graph->first;
    pthread_mutex_lock(&mutex);
    graph->next = graphs;
    graphs = graph;
    pthread_mutex_unlock(&mutex);
    return graph;
}

bool graph_known(const Graph *graph)
{
    pthread_mutex_lock(&mutex);
    const Graph *at = graphs;
    while (at && at != graph) at = at->next;
    pthread_mutex_unlock(&mutex);
    return at != NULL;
}

bool graph_given(const char *call, cudaGraph_t graph)
{
    bool known = graph_known((Graph *)graph);
    if (!known) client_was_destroyed(call, WIRE_HANDLE_GRAPH, graph, false);
    return known;
}

// May the node's memory be freed? A destroyed node is in no graph, but it may have clones.
static bool is_forgotten(const Node *node) { return !node->graph && !node->clones; }

void graph_set_original(Node *clone, Node *original)
{
    pthread_mutex_lock(&mutex);
    Node *old = clone->original;
    clone->original = original;
    if (original) original->clones++;
    if (old) old->clones--;
    bool forgotten = old && is_forgotten(old);
    pthread_mutex_unlock(&mutex);
    if (forgotten) free(old);
}

// Clones name their original by its address. Until the last clone is destroyed, no other node may
// get that address, so the memory is kept.
static void free_node(Node *node)
{
    operation_drop(&node->operation);
    free(node->needs);
    free(node->arguments);
    graph_set_original(node, NULL);
    pthread_mutex_lock(&mutex);
    *node = (Node){ .clones = node->clones };
    bool forgotten = is_forgotten(node);
    pthread_mutex_unlock(&mutex);
    if (forgotten) free(node);
}

void graph_free(Graph *graph)
{
    pthread_mutex_lock(&mutex);
    Graph **at = &graphs;
    while (*at != graph) at = &(*at)->next;
    *at = graph->next;
    pthread_mutex_unlock(&mutex);
    for (Node *next, *node = graph->first; node; node = next) {
        next = node->next;
        free_node(node);
    }
    graph_hold_nothing(graph);
    condition_forget(graph);
    free(graph);
}

bool graph_need(Node *node, Node *before)
{
    Node **more = realloc(node->needs, (node->need_count + 1) * sizeof *more);
    if (!more) return false;
    node->needs = more;
    node->needs[node->need_count++] = before;
    return true;
}

static bool needs(const Node *node, const Node *before)
{
    for (size_t i = 0; i < node->need_count; i++)
        if (node->needs[i] == before) return true;
    return false;
}

Node *graph_add(Graph *graph, Node *const *before, size_t count, const Operation *operation)
{
    Node *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->graph = graph;
    bool good = operation_keep(&node->operation, operation);
    for (size_t i = 0; i < count && good; i++)
        good = needs(node, before[i]) || graph_need(node, before[i]);
    if (!good) {
        free_node(node);
        return NULL;
    }
    graph_adopt(node);
    *graph->end = node;
    graph->end = &node->next;
    graph->count++;
    return node;
}

void graph_adopt(Node *node)
{
    Operation *o = &node->operation;
    if (o->kind == OPERATION_GRAPH) o->graph->inside = node->graph;
    for (uint32_t i = 0; o->kind == OPERATION_CONDITION && i < o->condition.size; i++) {
        o->condition.bodies[i]->inside = node->graph;
        o->condition.bodies[i]->conditional = true;
    }
}

bool graph_is_single(const Graph *graph)
{
    return graph_has_memory(graph) || graph_has_condition(graph);
}

void graph_number(const Graph *graph)
{
    size_t place = 0;
    for (Node *node = graph->first; node; node = node->next) node->place = place++;
}

static bool clone_needs(const Graph *graph, Node *const *clones)
{
    for (const Node *node = graph->first; node; node = node->next)
        for (size_t i = 0; i < node->need_count; i++)
            if (!graph_need(clones[node->place], clones[node->needs[i]->place])) return false;
    return true;
}

Graph *graph_clone(const Graph *graph)
{
    Graph *clone = graph_make();
    Node **clones = calloc(graph->count + 1, sizeof *clones);
    bool good = clone && clones;
    graph_number(graph);
    for (Node *node = graph->first; node && good; node = node->next) {
        Node *copy = clones[node->place] = graph_add(clone, NULL, 0, &node->operation);
        good = copy != NULL;
        if (!good) break;
        graph_set_original(copy, node);
        copy->disabled = node->disabled;
    }
    good = good && clone_needs(graph, clones) && graph_hold_as(clone, graph);
    free(clones);
    if (clone) clone->owned = true;
    if (good || !clone) return clone;
    graph_free(clone);
    return NULL;
}

// Goes through the nodes in rounds, in the order in which they were added, and takes each node
// whose dependencies have all been taken. A round that takes none means a cycle.
Node **graph_sorted(const Graph *graph)
{
    Node **sorted = calloc(graph->count + 1, sizeof *sorted);
    size_t *missing = calloc(graph->count + 1, sizeof *missing), count = 0;
    bool moved = sorted && missing;
    graph_number(graph);
    for (Node *node = graph->first; node && moved; node = node->next)
        missing[node->place] = node->need_count + 1;
    while (moved && count < graph->count) {
        moved = false;
        for (Node *node = graph->first; node; node = node->next) {
            bool ready = missing[node->place] > 0;
            for (size_t i = 0; i < node->need_count && ready; i++)
                ready = missing[node->needs[i]->place] == 0;
            if (!ready) continue;
            missing[node->place] = 0;
            sorted[count++] = node;
            moved = true;
        }
    }
    free(missing);
    if (moved || !graph->count) return sorted;
    free(sorted);
    return NULL;
}

// ---- Making and destroying ----

EXPORT cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    cudaError_t error = client_context();
    if (error || !graph || flags) return client_done(error ? error : cudaErrorInvalidValue);
    *graph = (cudaGraph_t)graph_make();
    return client_done(*graph ? cudaSuccess : cudaErrorMemoryAllocation);
}

EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!graph_given(__func__, graph) || ((Graph *)graph)->owned)
        return client_done(cudaErrorInvalidValue);
    client_destroyed(__func__, WIRE_HANDLE_GRAPH, graph);
    graph_free((Graph *)graph);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    if (!clone || !graph_given(__func__, graph)) return client_done(cudaErrorInvalidValue);
    if (graph_is_single((Graph *)graph)) return client_done(cudaErrorNotSupported);
    Graph *made = graph_clone((Graph *)graph);
    if (!made) return client_done(cudaErrorMemoryAllocation);
    made->owned = false;
    *clone = (cudaGraph_t)made;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t original,
                                            cudaGraph_t clone)
{
    if (!out || !original || !graph_given(__func__, clone))
        return client_done(cudaErrorInvalidValue);
    for (Node *node = ((Graph *)clone)->first; node; node = node->next)
        if (node->original == (Node *)original) {
            *out = (cudaGraphNode_t)node;
            return cudaSuccess;
        }
    return client_done(cudaErrorInvalidValue);
}

static void forget_need(Node *node, const Node *before)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->need_count; i++)
        if (node->needs[i] != before) node->needs[kept++] = node->needs[i];
    node->need_count = kept;
}

EXPORT cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle)
{
    Node *node = (Node *)handle;
    if (!node || !graph_known(node->graph)) return client_done(cudaErrorInvalidValue);
    Graph *graph = node->graph;
    if (graph_has_memory(graph)) return client_done(cudaErrorNotSupported);
    for (Node *other = graph->first; other; other = other->next) forget_need(other, node);
    Node **at = &graph->first;
    while (*at != node) at = &(*at)->next;
    *at = node->next;
    if (graph->end == &node->next) graph->end = at;
    graph->count--;
    free_node(node);
    return cudaSuccess;
}

// ---- Edges ----

bool graph_edges_plain(const cudaGraphEdgeData *edges, size_t count)
{
    static const cudaGraphEdgeData plain;
    for (size_t i = 0; edges && i < count; i++)
        if (memcmp(&edges[i], &plain, sizeof plain) != 0) return false;
    return true;
}

static bool are_in(const Graph *graph, const cudaGraphNode_t *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!nodes[i] || ((Node *)nodes[i])->graph != graph) return false;
    return true;
}

static cudaError_t check_edges(const char *call, cudaGraph_t handle, const cudaGraphNode_t *from,
                               const cudaGraphNode_t *to, size_t count)
{
    const Graph *graph = (Graph *)handle;
    bool good = graph_given(call, handle) && (!count || (from && to)) && are_in(graph, from, count)
             && are_in(graph, to, count);
    return good ? cudaSuccess : cudaErrorInvalidValue;
}

// Is the edge data valid? A programmatic edge goes from a kernel node to another.
static bool can_be_edge(const cudaGraphEdgeData *edge, const Node *from, const Node *to)
{
    static const cudaGraphEdgeData unused;
    bool programmatic = edge->type == cudaGraphDependencyTypeProgrammatic;
    return edge->type <= cudaGraphDependencyTypeProgrammatic
        && programmatic == (edge->from_port != cudaGraphKernelNodePortDefault)
        && edge->from_port <= cudaGraphKernelNodePortLaunchCompletion && !edge->to_port
        && !memcmp(edge->reserved, unused.reserved, sizeof unused.reserved)
        && (!programmatic
            || (from->operation.kind == OPERATION_KERNEL
                && to->operation.kind == OPERATION_KERNEL));
}

EXPORT cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *edges, size_t count)
{
    cudaError_t error = check_edges(__func__, graph, from, to, count);
    for (size_t i = 0; i < count && edges && !error; i++)
        if (!can_be_edge(&edges[i], (Node *)from[i], (Node *)to[i])) error = cudaErrorInvalidValue;
    if (!error && !graph_edges_plain(edges, count))
        return client_unsupported("a graph's edge from within a kernel");
    for (size_t i = 0; i < count && !error; i++) {
        if (from[i] == to[i] || needs((Node *)to[i], (Node *)from[i]))
            error = cudaErrorInvalidValue;
        else if (!graph_need((Node *)to[i], (Node *)from[i])) error = cudaErrorMemoryAllocation;
    }
    return client_done(error);
}

EXPORT cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to,
                                               const cudaGraphEdgeData *edges, size_t count)
{
    (void)edges; // an H200 removes an edge whatever its edge data says
    cudaError_t error = graph_known((Graph *)graph) && graph_has_memory((Graph *)graph)
                          ? cudaErrorNotSupported
                          : check_edges(__func__, graph, from, to, count);
    for (size_t i = 0; i < count && !error; i++) {
        if (!needs((Node *)to[i], (Node *)from[i])) error = cudaErrorInvalidValue;
        else forget_need((Node *)to[i], (Node *)from[i]);
    }
    return client_done(error);
}

// ---- Queries. Without an array they tell how many entries there are. ----

typedef struct {
    cudaGraphNode_t *nodes;
    size_t room, count;
} List;

static void list(List *to, const Node *node)
{
    if (to->nodes && to->count < to->room) to->nodes[to->count] = (cudaGraphNode_t)node;
    to->count++;
}

static cudaError_t listed(const List *l, size_t *count)
{
    if (l->nodes)
        for (size_t i = l->count; i < l->room; i++) l->nodes[i] = NULL;
    *count = l->nodes && l->room < l->count ? l->room : l->count;
    return cudaSuccess;
}

static bool can_list(const char *call, const void *graph, const size_t *count)
{
    return count && graph_given(call, (cudaGraph_t)graph);
}

EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!can_list(__func__, graph, count)) return client_done(cudaErrorInvalidValue);
    List l = { nodes, *count, 0 };
    for (const Node *node = ((Graph *)graph)->first; node; node = node->next) list(&l, node);
    return listed(&l, count);
}

EXPORT cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!can_list(__func__, graph, count)) return client_done(cudaErrorInvalidValue);
    List l = { nodes, *count, 0 };
    for (const Node *node = ((Graph *)graph)->first; node; node = node->next)
        if (!node->need_count) list(&l, node);
    return listed(&l, count);
}

static void clear_edges(cudaGraphEdgeData *edges, size_t count)
{
    if (edges) memset(edges, 0, count * sizeof *edges);
}

EXPORT cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                     cudaGraphEdgeData *edges, size_t *count)
{
    if (!can_list(__func__, graph, count) || !from != !to || (edges && !from))
        return client_done(cudaErrorInvalidValue);
    List all[] = { { from, *count, 0 }, { to, *count, 0 } };
    for (const Node *node = ((Graph *)graph)->first; node; node = node->next)
        for (size_t i = 0; i < node->need_count; i++) {
            list(&all[0], node->needs[i]);
            list(&all[1], node);
        }
    listed(&all[0], count);
    *count = all[1].room;
    listed(&all[1], count);
    clear_edges(edges, *count);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                cudaGraphEdgeData *edges, size_t *count)
{
    if (!node || !can_list(__func__, ((Node *)node)->graph, count))
        return client_done(cudaErrorInvalidValue);
    List l = { nodes, *count, 0 };
    for (size_t i = 0; i < ((Node *)node)->need_count; i++) list(&l, ((Node *)node)->needs[i]);
    listed(&l, count);
    clear_edges(edges, *count);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                  cudaGraphEdgeData *edges, size_t *count)
{
    if (!node || !can_list(__func__, ((Node *)node)->graph, count))
        return client_done(cudaErrorInvalidValue);
    List l = { nodes, *count, 0 };
    for (const Node *other = ((Node *)node)->graph->first; other; other = other->next)
        if (needs(other, (Node *)node)) list(&l, other);
    listed(&l, count);
    clear_edges(edges, *count);
    return cudaSuccess;
}

// ---- DOT output ----

static const char *label(const Operation *operation)
{
    switch (operation->kind) {
    case OPERATION_KERNEL: return "KERNEL";
    case OPERATION_COPY: return "MEMCPY";
    case OPERATION_FILL: return "MEMSET";
    case OPERATION_HOST: return "HOST";
    case OPERATION_RECORD: return "EVENT_RECORD";
    case OPERATION_WAIT: return "EVENT_WAIT";
    case OPERATION_GRAPH: return "GRAPH";
    case OPERATION_EMPTY: return "EMPTY";
    case OPERATION_ALLOC: return "MEM_ALLOC";
    case OPERATION_RELEASE: return "MEM_FREE";
    case OPERATION_CONDITION: return "CONDITIONAL";
    }
    return "";
}

EXPORT cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char *path, unsigned flags)
{
    (void)flags; // how many details of each node to print
    Graph *graph = (Graph *)handle;
    if (!path || !graph_given(__func__, handle)) return client_done(cudaErrorInvalidValue);
    FILE *file = fopen(path, "w");
    if (!file) return client_done(cudaErrorOperatingSystem);
    graph_number(graph);
    fprintf(file, "digraph dot {\n");
    for (const Node *node = graph->first; node; node = node->next) {
        const char *name = NULL;
        if (node->operation.kind == OPERATION_KERNEL)
            cudaFuncGetName(&name, node->operation.kernel.key);
        fprintf(file, "    n%zu [label=\"%zu %s%s%s\"];\n", node->place, node->place,
                label(&node->operation), name ? "\\n" : "", name ? name : "");
        for (size_t i = 0; i < node->need_count; i++)
            fprintf(file, "    n%zu -> n%zu;\n", node->needs[i]->place, node->place);
    }
    fprintf(file, "}\n");
    return client_done(fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem);
}
