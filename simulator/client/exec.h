// An executable graph, for the files of it: the plan that is made of a graph (exec_plan.c), its
// launch (exec_run.c), and the calls (exec.c).
#pragma once
#include "graph.h"

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

void exec_drop_plan(Exec *exec); // with what the device has made for it

// Issues all of it on the stream.
cudaError_t exec_run(Exec *exec, uint64_t stream);
