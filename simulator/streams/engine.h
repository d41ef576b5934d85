// The engines of a device, which work concurrently: kernels, as far as their blocks fit on the
// device together, and one copy in each direction.
#pragma once
#include "base/base.h"

enum engine {
    ENGINE_NONE,     // fills, copies within the device, host functions: they occupy no engine
    ENGINE_COMPUTE,  // kernels, each with a share of the SMs
    ENGINE_COPY_IN,  // copies from the host, one after another
    ENGINE_COPY_OUT, // copies to the host
    ENGINE_LINK_IN,  // copies from other devices
    ENGINE_LINK_OUT, // copies to other devices
    ENGINE_COUNT,
};

// Work that may begin at `ready`, takes `ns`, and occupies a share (0 to 1) of the engine. Work of
// higher priority (a lower number, as in CUDA) goes first.
typedef struct Demand {
    double ready, ns, share;
    int priority;
} Demand;

// Returns when the work begins: in the first gap in which it fits. `now`: no later demand may begin
// earlier. *pushed: the delay of work of lower priority that it displaces, in ns.
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
