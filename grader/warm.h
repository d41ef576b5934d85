// When a GPU is warm. One that had nothing to do runs at a clock far below its own, and takes a
// while to raise it; the first calls load what they need besides. So both sides of a measurement
// run in turns, stretch after stretch, until neither's quickest call of a stretch is quicker than
// of the one before: the quickest, as whatever else disturbs a call only makes it longer.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct Warmth {
    double busy;        // seconds that all runs took
    double stretch;     // ... those of this stretch
    double quickest[2]; // of either side, a call's seconds in this stretch; 0: none yet
    double before[2];   // the same of the stretch before; 0: there was none
} Warmth;

// A side, 0 or 1, ran `calls` calls in so many seconds.
void warm_run(Warmth *w, int side, double seconds, uint32_t calls);

// Asked after each turn of both: have they run long enough?
bool warm_enough(Warmth *w);
