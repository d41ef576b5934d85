// The simulated device: the figures of profiles/devices/NAME.cfg.
#pragma once
#include "base/base.h"

enum { MOST_CARVEOUTS = 16, MOST_CLUSTER_GROUPS = 32, LOAD_PARTS = 6 };

typedef struct Profile {
    char name[256];   // as cudaDeviceProp.name
    int major, minor; // compute capability
#define FIGURE(type, name, what) type name;
#include "profile.def"
#undef FIGURE
    int carveouts[MOST_CARVEOUTS]; // the bytes of l1_bytes that shared memory may have, ascending
    int carveout_count;
    int cluster_sms[MOST_CLUSTER_GROUPS]; // multiprocessors of each group; a cluster lies within
                                          // one group
    int cluster_groups;
    double dram_load_clocks[LOAD_PARTS]; // the clocks within which 5, 25, 50, 75, 90 and 99 % of
                                         // loads complete
} Profile;

// Reads `path` (libconfig). On an error prints file, line and cause, and returns false.
bool profile_load(const char *path, Profile *profile);

extern Profile profile; // the profile in use
