// The details page of a launch, for a person: Nsight Compute's sections.
#pragma once
#include "report.h"

// The sections that a sentence follows: what bounds the time, and the place on the roofline.
#define DETAILS_OF_TIME "GPU Speed Of Light Throughput"
#define DETAILS_OF_ROOF "GPU Speed Of Light Roofline Chart"

// Prints on stderr the launch, its sections, source lines and findings. which: more about it; NULL:
// nothing.
void details_print(const KernelReport *kernel, const char *which);

// A number and its unit as people read them: "4,194,304" and "sector", "5.57" and "us" of 5566 ns.
// Nothing is rounded but what has a fraction or a larger unit.
typedef struct {
    char value[40], unit[24];
} FigureText;
FigureText details_figure(double value, const char *unit);

// What bounds the predicted time, and how far off such predictions were; and the place on the
// roofline. A sentence or two each, malloc'ed; NULL: there is nothing to say.
char *details_bound(const KernelReport *kernel);
char *details_roof(const KernelReport *kernel);

// What a finding's cost is made of, malloc'ed. time_ns: the launch's predicted time.
char *details_cost(const Finding *finding, double time_ns);
