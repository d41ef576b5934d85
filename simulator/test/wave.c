// Reads of several SMs on their way through the coalescers and L2, by SMs that hold nothing yet.
#include "model/wave.h"
#include "machine/profile.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SMS = 2, LINE = 7, OTHERS = 64, PC = 3, OTHER_PC = 4, CODE = 8 };

static CacheTally tally[CODE];
static Wave wave;
static CachedGrid grid;

static LineAccess read_of_line(u64 line, u32 pc)
{
    return line | 15ull << AT_SECTORS | (u64)LOAD << AT_KIND | (u64)pc << AT_PC;
}

static void set_up(void)
{
    profile.sm_count = SMS;
    profile.gpc_count = 1;
    profile.l1_ways = profile.l2_ways = 16;
    profile.l2_bytes = 1 << 20;
    profile.l2_room = profile.l2_partitions = 1;
    profile.dram_granule_bytes = 2 * SECTOR_BYTES;
    profile.l2_aside_places = 64;
    profile.l2_waiting_ways = 16;
    wave = (Wave){ .grid = &grid, .block = calloc(SMS, sizeof *wave.block), .room = SMS };
    grid = (CachedGrid){ .l1 = calloc(SMS, sizeof *grid.l1),
                         .misses = calloc(SMS, sizeof *grid.misses),
                         .recent = calloc(RECENT, sizeof *grid.recent),
                         .drift = calloc(SMS, sizeof *grid.drift),
                         .resident = 1,
                         .l1_bytes = 1 << 16,
                         .cache_tally = tally,
                         .cache_tally_stride = CODE };
    grid.l2.cache_tally = tally;
    l2_start(&grid.l2);
}

TestSuite(wave, .init = set_up);

// The first SM reads LINE. The second reads it after so many other lines.
static void read_twice(u32 others)
{
    LineAccess *all = malloc((others + 2) * sizeof *all);
    memset(tally, 0, sizeof tally);
    all[0] = read_of_line(LINE, PC);
    for (u32 n = 1; n <= others; n++) all[n] = read_of_line(LINE + n, OTHER_PC);
    all[others + 1] = read_of_line(LINE, PC);
    wave.all = all;
    wave.blocks = SMS;
    wave.block[0].first = 0, wave.block[0].count = 1, wave.block[0].sm = 0;
    wave.block[1].first = 1, wave.block[1].count = others + 1, wave.block[1].sm = 1;
    wave_replay(&wave, true);
    cr_expect_eq(tally[OTHER_PC].l2_late, 0, "nobody else reads these");
    free(all);
}

static void expect_late(u32 others, u32 sectors)
{
    read_twice(others);
    cr_expect_eq(tally[PC].l2_misses, 4, "one fetch for both");
    cr_expect_eq(tally[PC].l2_late, sectors, "%u others are read before", others);
}

Test(wave, a_read_that_hits_soon_after_the_miss_is_late)
{
    profile.l2_reads_merged = 1;
    expect_late(0, 4);
}

Test(wave, a_read_that_is_coalesced_with_the_miss_is_late)
{
    profile.l2_reads_merged = 2;
    expect_late(0, 4);
}

Test(wave, a_read_long_after_the_miss_is_not_late)
{
    profile.l2_reads_merged = 1;
    expect_late(OTHERS, 0);
}

// A copy made it dirty: it is in L2, and nobody fetches it.
Test(wave, a_read_of_what_is_in_l2_is_not_late)
{
    profile.l2_reads_merged = 1;
    l2_written(0, LINE, 15);
    read_twice(0);
    cr_expect_eq(tally[PC].l2_misses, 0);
    cr_expect_eq(tally[PC].l2_late, 0);
}

// The earlier launch's fetch has ended, though this launch counts its turns anew.
Test(wave, a_read_by_the_next_launch_is_not_late)
{
    profile.l2_reads_merged = 1;
    expect_late(0, 4);
    for (u32 sm = 0; sm < SMS; sm++) cache_clear(&grid.l1[sm]);
    grid.turn = 0;
    l2_start(&grid.l2);
    read_twice(0);
    cr_expect_eq(tally[PC].l2_misses, 0);
    cr_expect_eq(tally[PC].l2_late, 0);
}
