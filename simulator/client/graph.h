// Graphs: operations and what each of them needs done before. They live in the program; launched,
// they become requests like others.
#pragma once
#include "operation.h"

typedef struct Node {
    struct Node *next; // of the graph, in the order in which they were made
    struct Graph *graph;
    Operation operation;
    struct Node **needs; // the nodes before it
    size_t need_count;
    struct Node *original; // of which this one is a clone
    size_t clones;    // so many are of this one: until they are gone no other node has its address
    bool disabled;    // in an executable graph
    size_t place;     // scratch, for those who number the nodes
    void **arguments; // what cudaGraphKernelNodeGetParams has given out
} Node;

typedef struct Graph {
    struct Graph *next; // of all graphs
    Node *first, **end;
    size_t count;
    bool owned;                 // by a node or an executable graph
    const struct Graph *inside; // of which graph, if it is a node's of one
    bool conditional;           // a conditional node's
    struct Held *held;          // user objects (user_object.c)
} Graph;

Graph *graph_make(void);                // NULL: no memory
Graph *graph_clone(const Graph *graph); // its nodes know their originals
void graph_free(Graph *graph);
bool graph_known(const Graph *graph); // is it a graph, and not destroyed?

// user_object.c: it needs what the other does, as well; false: no memory. It needs nothing any
// more.
bool graph_hold_as(Graph *graph, const Graph *other);
void graph_hold_nothing(Graph *graph);

// A further node; what belongs to `operation` is copied. NULL: no memory.
Node *graph_add(Graph *graph, Node *const *needs, size_t count, const Operation *operation);
void graph_adopt(Node *node); // the graphs inside of it are told so
void graph_set_original(Node *clone,
                        Node *original);   // from now on it is a clone of that one; NULL: of none
bool graph_need(Node *node, Node *before); // false: no memory
void graph_number(const Graph *graph);     // gives each node its place, from 0 on

// It has memory or conditions of its own: it cannot be cloned, put into others, or made executable
// twice.
bool graph_is_single(const Graph *graph);

// The nodes so that each comes behind what it needs; the caller's to free. NULL: they form a
// circle, or there is no memory.
Node **graph_sorted(const Graph *graph);

// Do the edges say no more than which node comes first?
bool graph_edges_plain(const cudaGraphEdgeData *edges, size_t count);

// exec.c: an executable graph: a clone of a graph, and the order in which its operations are
// issued.
typedef struct Exec Exec;
Node *exec_node(Exec *exec,
                const Node *original); // NULL: neither is one, or they do not belong together
cudaError_t exec_plan(Exec *exec);     // anew, after a graph inside of it has changed
bool exec_is_like(const Graph *graph,
                  const Graph *other); // may the other take its place in an executable graph?
