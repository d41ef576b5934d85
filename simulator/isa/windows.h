// Where the windows onto shared and local memory, and onto the kernel's parameters, lie in the
// generic address space.
#pragma once

#define SHARED_WINDOW 0x100000000000ull
#define LOCAL_WINDOW 0x110000000000ull
#define PARAM_WINDOW 0x130000000000ull
#define WINDOW_SPAN (1ull << 32)
#define CLUSTER_WINDOW (1u << 24) // in shared memory: of each block of a cluster (cluster.h)
