// The engines of a device, which work at the same time: kernels as far as they fit beside one
// another, and a copy in each direction.
#pragma once
#include "base/base.h"

enum engine {
    ENGINE_NONE,     // fills, copies within the device, host functions: nothing waits for them
    ENGINE_COMPUTE,  // kernels, each with its share of the SMs
    ENGINE_COPY_IN,  // copies to the device, one after another,
    ENGINE_COPY_OUT, // and from it
    ENGINE_LINK_IN,  // from other devices,
    ENGINE_LINK_OUT, // and to them
    ENGINE_COUNT,
};

// Work of `ns` that may begin at `ready` and takes that share (0 to 1) of the engine. Work of
// higher priority (a lower number, as in CUDA) goes first.
typedef struct Demand {
    double ready, ns, share;
    int priority;
} Demand;

// When the work begins: in the first gap where it fits. `now`: no later demand begins earlier.
// *pushed: by how much work of lower priority ends later that had begun, or would have.
double engine_begin(u32 device, enum engine engine, Demand demand, double now, double *pushed);

// The same for work that occupies two engines, of two devices.
typedef struct EngineOf {
    u32 device;
    enum engine engine;
} EngineOf;
double engine_begin_both(EngineOf a, EngineOf b, double ready, double ns, double now);

// The first time after `now` at which some work ends; 0: none.
double engine_next_end(double now);

void engine_reset(void);
