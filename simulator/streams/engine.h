// What of a device works at the same time: kernels where they fit beside one another, a copy in
// each direction.
#pragma once
#include "base/base.h"

enum engine {
    ENGINE_NONE, // nothing that others wait for: filling, copying within the device, host functions
    ENGINE_COMPUTE,  // kernels, each with its share of the SMs
    ENGINE_COPY_IN,  // one copy after another,
    ENGINE_COPY_OUT, // and the other way
    ENGINE_LINK_IN,  // from other devices,
    ENGINE_LINK_OUT, // and to them
    ENGINE_COUNT,
};

// Work of `ns` that may begin at `ready` and takes that share (0 to 1) of the engine. Of two, that
// of the lower priority (as CUDA counts: the lower number) goes first.
typedef struct Demand {
    double ready, ns, share;
    int priority;
} Demand;

// When it begins: in the first gap where it fits. `now`: nothing that is asked for later begins
// earlier. *pushed: by so much what has less priority and had begun, or would have, ends later.
double engine_begin(u32 device, enum engine engine, Demand demand, double now, double *pushed);

// The same for work that has two engines to itself, of two devices.
typedef struct EngineOf {
    u32 device;
    enum engine engine;
} EngineOf;
double engine_begin_both(EngineOf a, EngineOf b, double ready, double ns, double now);

// The first moment after `now` at which some work ends; 0: there is none.
double engine_next_end(double now);

void engine_reset(void);
