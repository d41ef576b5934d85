// A launch's time by its roofline.
#include "roofline.h"
#include "profile.h"

double roofline_seconds(u64 sectors, u64 instructions)
{
    double memory = sectors * (double)SECTOR_BYTES / profile.dram_bytes_per_second;
    double issue = instructions / (profile.sm_count * profile.issue_per_sm_per_clock * profile.clock_hz);
    return profile.launch_seconds + (memory > issue ? memory : issue);
}
