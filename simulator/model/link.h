// The links that devices reach one another's memory by, and what goes over them.
#pragma once
#include "base/base.h"
#include "report/report.h"

// How long so many bytes take, in seconds.
double link_copy_seconds(u32 from, u32 to, u64 bytes);

// The kernel has moved so many bytes into and out of its device over the link, by an instruction
// with those counts.
struct Counts;
struct Grid;
void link_moves(const struct Grid *, struct Counts *, u64 in, u64 out);

// How long its accesses to other devices' memory keep the link busy, in seconds.
double link_kernel_seconds(const struct Grid *);

// What went over the links for the kernel; returns how many there are, at most 2 * MOST_DEVICES.
u32 link_report(const struct Grid *, LinkReport links[]);
