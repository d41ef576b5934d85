// The columns of the table of source lines. A hardware figure that depends on ptxas's code is
// marked with ~.
#include "counters.h"

static double part(uint64_t a, uint64_t b) { return b ? (double)a / b : 0; }
static uint64_t requests(const uint64_t *v)
{
    return v[GLOBAL_LD_REQUESTS] + v[GLOBAL_ST_REQUESTS] + v[GLOBAL_ATOM_REQUESTS]
         + v[GLOBAL_RED_REQUESTS] + v[LOCAL_LD_REQUESTS] + v[LOCAL_ST_REQUESTS];
}
static uint64_t sectors(const uint64_t *v)
{
    return v[GLOBAL_LD_SECTORS] + v[GLOBAL_ST_SECTORS] + v[GLOBAL_ATOM_SECTORS]
         + v[GLOBAL_RED_SECTORS] + v[LOCAL_LD_SECTORS] + v[LOCAL_ST_SECTORS];
}

static double line_share(const uint64_t *v, const uint64_t *all)
{
    return 100 * part(v[INSTRUCTIONS], all[INSTRUCTIONS]);
}
static double line_lanes(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return part(v[THREAD_INSTRUCTIONS], v[INSTRUCTIONS]);
}
static double line_requests(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return requests(v);
}
static double line_sectors(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return part(sectors(v), requests(v));
}
static double line_hits(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return 100
         * part(v[GLOBAL_LD_HITS] + v[LOCAL_LD_HITS], v[GLOBAL_LD_SECTORS] + v[LOCAL_LD_SECTORS]);
}
static double line_dram(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return v[DRAM_READ];
}
static double line_passes(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return v[SHARED_LD_WAVEFRONTS] + v[SHARED_ST_WAVEFRONTS] + v[SHARED_ATOM_WAVEFRONTS];
}
static double line_conflicts(const uint64_t *v, const uint64_t *all)
{
    (void)all;
    return v[SHARED_LD_CONFLICTS] + v[SHARED_ST_CONFLICTS] + v[SHARED_ATOM_CONFLICTS];
}

const CounterColumn counter_columns[] = {
    { "~% of", "instr.", 8, 1, line_share },        { "active", "threads", 8, 1, line_lanes },
    { "memory", "requests", 10, 0, line_requests }, { "sectors", "each", 9, 1, line_sectors },
    { "~hits", "in L1 %", 8, 1, line_hits },        { "~bytes", "from DRAM", 10, 0, line_dram },
    { "shared", "passes", 9, 0, line_passes },      { "bank", "conflicts", 10, 0, line_conflicts },
};
const u32 counter_column_count = sizeof counter_columns / sizeof *counter_columns;
