// Graphs: operations and their dependencies. A graph exists in the program's process only; a launch
// sends its operations to the device like any others.
#pragma once
#include "operation.h"

typedef struct Node {
    struct Node *next; // of the graph, in the order in which they were added
    struct Graph *graph;
    Operation operation;
    struct Node **needs; // the nodes on which it depends
    size_t need_count;
    struct Node *original; // the node of which this node is a clone; NULL: none
    size_t clones;    // clones of this node; while there are any, no other node gets its address
    bool disabled;    // in an executable graph (cudaGraphNodeSetEnabled)
    size_t place;     // scratch, for functions that number or mark the nodes
    void **arguments; // the array that cudaGraphKernelNodeGetParams returned
} Node;

typedef struct Graph {
    struct Graph *next; // in the list of all graphs
    Node *first, **end;
    size_t count;
    bool owned;                 // by a node or an executable graph
    const struct Graph *inside; // the graph with a node that contains this graph; NULL: none
    bool conditional;           // it belongs to a conditional node
    struct Held *held;          // references to user objects (user_object.c)
} Graph;

Graph *graph_make(void);                // NULL: out of memory
Graph *graph_clone(const Graph *graph); // NULL: out of memory. Sets the `original` of its nodes
void graph_free(Graph *graph);
bool graph_known(const Graph *graph);                  // is it a graph that has not been destroyed?
bool graph_given(const char *call, cudaGraph_t graph); // the same; if not, a note says where it was

// user_object.c: the graph retains the user objects of the other graph (false: out of memory), or
// releases all of its own.
bool graph_hold_as(Graph *graph, const Graph *other);
void graph_hold_nothing(Graph *graph);

// Adds a node with a copy of the operation and its data. NULL: out of memory.
Node *graph_add(Graph *graph, Node *const *needs, size_t count, const Operation *operation);
void graph_adopt(Node *node); // sets `inside` of the graphs that the node contains
void graph_set_original(Node *clone, Node *original); // NULL: the node is no clone any more
bool graph_need(Node *node, Node *before);            // adds a dependency; false: out of memory
void graph_number(const Graph *graph); // numbers the nodes from 0 on, in their `place`

// Does it have memory nodes or conditional nodes? Then it cannot be cloned or be a child graph, and
// can have only one executable graph at a time.
bool graph_is_single(const Graph *graph);

// The nodes in topological order; the caller frees the array. NULL: there is a cycle, or no memory.
Node **graph_sorted(const Graph *graph);

// Are all edges ordinary dependencies? `edges` may be NULL: then they are.
bool graph_edges_plain(const cudaGraphEdgeData *edges, size_t count);

// exec.c: an executable graph is a clone of a graph, with the order in which its operations are
// issued.
typedef struct Exec Exec;
// The clone of that node; NULL: none. If the graph was destroyed, a note says where.
Node *exec_node(const char *call, Exec *exec, const Node *original);
cudaError_t exec_plan(Exec *exec); // plans it, or plans it anew after a child graph has changed

// Can the other graph replace this one in an executable graph?
bool exec_is_like(const Graph *graph, const Graph *other);
