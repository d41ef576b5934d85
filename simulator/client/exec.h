// Executable graphs, for the files that implement them: the plan (exec_plan.c), the launch
// (exec_run.c), and the calls (exec.c).
#pragma once
#include "graph.h"

typedef struct {
    Node *node;                // NULL: the beginning or the end of a child graph
    size_t *needs, need_count; // the steps on which it depends
    size_t branch;
    bool needed, awaited; // by another step; by another branch or the stream of the launch
    uint64_t event;       // on the device, if the step is awaited; 0: not created yet
    Exec **bodies;        // of a conditional node: a plan for each of its graphs
    uint32_t body_count;
} Step;

typedef struct {
    uint32_t device;
    uint64_t stream; // 0: not created yet
    size_t last;     // its last step so far, while the graph is planned
} Branch;

struct Exec {
    Exec *next;
    Graph *graph;
    unsigned long long flags;
    Step *steps;
    size_t count;
    Branch *branches;
    size_t branch_count;
    uint64_t begins; // an event on the stream of the launch, for which the other branches wait
};

void exec_drop_plan(Exec *exec); // and its streams and events on the device

// Launches the graph on the stream.
cudaError_t exec_run(Exec *exec, uint64_t stream);
