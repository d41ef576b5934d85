// The links between devices, and the traffic on them.
#pragma once
#include "base/base.h"
#include "report/report.h"

// The seconds that a copy of so many bytes takes.
double link_copy_seconds(u32 from, u32 to, u64 bytes);

// An instruction of the kernel has moved bytes into and out of its device over the link.
struct Counts;
struct Grid;
void link_moves(const struct Grid *, struct Counts *, u64 in, u64 out);

// The seconds for which the kernel's accesses to other devices' memory keep the link busy.
double link_kernel_seconds(const struct Grid *);

// The traffic on each link for the kernel. Returns the number of links, at most 2 * MOST_DEVICES.
u32 link_report(const struct Grid *, LinkReport links[]);
