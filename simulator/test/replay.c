// The model of time, with traces and a device whose clocks can be counted by hand: every unit takes
// one warp a clock, a result is there after 4 clocks, a word of shared memory after 30.
#include "model/replay.h"
#include "machine/profile.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { ALU, LOAD, OTHER_LOAD, STORE, BARRIER, USE, OPS }; // the code: its instructions, by pc

static Op code[OPS];
static TraceAccess accesses[8];
static Counts counts[OPS];

static void set_up(void)
{
    profile.sm_count = 1;
    profile.clock_hz = 1e9;
    profile.alu_lanes_per_clock = profile.fma_lanes_per_clock = profile.imad_lanes_per_clock = 128;
    profile.shuffle_lanes_per_clock = 32;
    profile.alu_latency_clocks = 4;
    profile.shared_latency_clocks = 30;
    profile.shared_clocks_per_request = 1;
    profile.barrier_latency_clocks = 10;
    profile.barrier_clocks_per_warp = 1;
    profile.block_clocks = 0;
    profile.l2_bytes_per_sm_per_clock = profile.l2_read_bytes_per_clock = 64;
    profile.dram_read_bytes_per_second = 64e9;
    profile.l2_random_sectors_per_clock = 64;
    for (u32 pc = 0; pc < OPS; pc++)
        code[pc] = (Op){ .kind = OP_PLAIN, .unit = UNIT_ALU, .slots = 1, .own = 1, .latency = 4 };
    code[ALU].write[0] = 1, code[ALU].write_count = 1;
    code[LOAD] = code[OTHER_LOAD] =
        (Op){ .kind = OP_LOAD, .unit = UNIT_LSU, .slots = 1, .own = 1, .space = SPACE_SHARED };
    code[LOAD].write[0] = 1, code[LOAD].write_count = 1;
    code[OTHER_LOAD].write[0] = 2, code[OTHER_LOAD].write_count = 1;
    code[STORE] =
        (Op){ .kind = OP_STORE, .unit = UNIT_LSU, .slots = 1, .own = 1, .space = SPACE_SHARED };
    code[BARRIER] = (Op){ .kind = OP_BARRIER, .unit = UNIT_ADU, .slots = 1, .own = 1 };
    code[USE].read[0] = 1, code[USE].read_count = 1;
    for (u32 n = 0; n < 8; n++) accesses[n] = (TraceAccess){ .space = SPACE_SHARED, .passes = n };
}

TestSuite(replay, .init = set_up);

// One step: its pc, and the passes over the banks that it takes; MET is one that happens with
// another access.
enum { MET = -1 };
typedef struct Do {
    u32 pc;
    int passes;
} Do;

static TraceWarp warp(const Do *what, u32 count)
{
    TraceWarp w = { .step = calloc(count, sizeof(Step)), .count = count };
    for (u32 n = 0; n < count; n++)
        w.step[n] = (Step){ .pc = what[n].pc,
                            .access = what[n].passes == MET ? 1
                                    : what[n].passes        ? 1 + what[n].passes
                                                            : 0 };
    return w;
}
#define WARP(...) warp((Do[]){ __VA_ARGS__ }, sizeof(Do[]){ __VA_ARGS__ } / sizeof(Do))

static const Op *of_trace = code;

// As many blocks as there are, each of these warps, `resident` of them at a time.
static Replay run(u32 blocks, u32 resident, u32 warps, TraceWarp *of)
{
    TraceBlock block = { .warp_count = warps, .warp = of }, *all[8];
    for (u32 n = 0; n < blocks; n++) all[n] = &block;
    static u32 phases[] = { 0, 1 }; // of an mbarrier: one step ends it
    static Piece line = { .line = 1, .sectors = 0xf };
    Trace trace = { .op = of_trace,
                    .op_count = OPS,
                    .block = all,
                    .block_count = blocks,
                    .access = accesses,
                    .access_count = 8,
                    .phase = phases,
                    .phase_count = 2,
                    .piece = &line,
                    .piece_count = 1 };
    DeviceLoad load = {
        .counts = counts, .active_sms = 1, .resident = resident, .l1_bytes = 1 << 16
    };
    Replay r = replay_blocks(&trace, &load, 4);
    for (u32 n = 0; n < warps; n++) free(of[n].step);
    return r;
}

static void expect_clocks(double expected, Replay r)
{
    cr_expect_float_eq(r.clocks, expected, 1e-9, "%g clocks, not %g", r.clocks, expected);
}

Test(replay, issues_one_instruction_a_clock)
{
    TraceWarp w = WARP({ ALU, 0 }, { USE, 0 }, { USE, 0 }); // both wait for the first
    Replay r = run(1, 1, 1, &w);
    expect_clocks(6, r); // at 0, at 4 when the result is there, and at 5
}

Test(replay, makes_what_uses_a_load_wait_for_it)
{
    TraceWarp w = WARP({ LOAD, 1 }, { USE, 0 });
    expect_clocks(1 + 30 - 4 - 1 + 1,
                  run(1, 1, 1, &w)); // the latency as measured has the use's own 4 clocks in it
}

Test(replay, takes_a_clock_for_each_pass_over_the_banks)
{
    TraceWarp w[] = { WARP({ LOAD, 7 }, { USE, 0 }), WARP({ LOAD, 1 }, { USE, 0 }) };
    expect_clocks(8 + 30 - 4 - 1 + 1,
                  run(1, 1, 2, w)); // the second warp's comes behind the first's seven passes
}

Test(replay, does_nothing_for_an_access_that_happened_with_another)
{
    code[LOAD].wide = (Wide){ .bytes = 8, .leads = true };
    code[OTHER_LOAD].wide = (Wide){ .bytes = 8, .offset = 4 };
    code[OTHER_LOAD].slots = 0;
    code[USE].read[0] = 2; // the word of the second
    TraceWarp w = WARP({ LOAD, 2 }, { OTHER_LOAD, MET }, { USE, 0 });
    expect_clocks(2 + 30 - 4 - 1 + 1, run(1, 1, 1, &w));
}

// Loads that belong together keep together, even if others come in between.
Test(replay, knows_several_wide_loads_apart)
{
    code[LOAD].wide = (Wide){ .bytes = 8, .leads = true };
    code[OTHER_LOAD].wide = (Wide){ .bytes = 8, .offset = 4 };
    code[OTHER_LOAD].slots = 0;
    code[STORE] = code[LOAD]; // another group's first
    code[STORE].write[0] = 3;
    code[STORE].wide_number = 1;
    code[USE].read[0] = 2;
    TraceWarp w = WARP({ LOAD, 2 }, { STORE, 2 }, { OTHER_LOAD, MET }, { USE, 0 });
    expect_clocks(2 + 30 - 4 - 1 + 1, run(1, 1, 1, &w)); // does not wait for the other group's
}

Test(replay, lets_nobody_past_a_barrier_before_all_have_come)
{
    TraceWarp w[] = { WARP({ BARRIER, 0 }, { ALU, 0 }),
                      WARP({ LOAD, 1 }, { USE, 0 }, { BARRIER, 0 }, { ALU, 0 }) };
    // The second arrives at 27 and is counted at 28; 10 later both go on, and end a clock after.
    expect_clocks(28 + 10 + 1, run(1, 1, 2, w));
}

Test(replay, starts_a_block_when_there_is_room)
{
    TraceWarp one = WARP({ LOAD, 1 }, { USE, 0 });
    expect_clocks(27, run(1, 1, 1, &one));
    one = WARP({ LOAD, 1 }, { USE, 0 });
    expect_clocks(2 * 27, run(2, 1, 1, &one));
    one = WARP({ LOAD, 1 }, { USE, 0 });
    expect_clocks(1 + 27, run(2, 2, 1, &one));
}

// Of two blocks side by side one ends a clock after the other; of two in turn there is always one.
Test(replay, says_how_many_warps_were_held)
{
    TraceWarp one = WARP({ LOAD, 1 }, { USE, 0 });
    double warps = run(2, 1, 1, &one).warps;
    cr_expect_float_eq(warps, 1, 1e-9);
    one = WARP({ LOAD, 1 }, { USE, 0 });
    warps = run(2, 2, 1, &one).warps;
    cr_expect_float_eq(warps, (27 + 28) / 28.0, 1e-9);
    TraceWarp two[] = { WARP({ LOAD, 1 }, { USE, 0 }), WARP({ ALU, 0 }) };
    warps = run(1, 1, 2, two).warps;
    cr_expect_float_eq(warps, (27 + 1) / 27.0, 1e-9);
}

// One of four schedulers issues four times, and shared memory has three passes.
Test(replay, says_what_was_busy)
{
    TraceWarp w = WARP({ LOAD, 3 }, { ALU, 0 }, { ALU, 0 }, { ALU, 0 });
    Replay r = run(1, 1, 1, &w);
    cr_expect_float_eq(r.issue, 4.0 / 4, 1e-9, "%g", r.issue);
    cr_expect_float_eq(r.memory, 3, 1e-9, "%g", r.memory);
    cr_expect_float_eq(r.atomics, 0, 1e-9, "%g", r.atomics);
}

// ---- Where loads of DRAM differ

// Warps of one block whose loads have these pieces, of which `accesses` from 1 on has one each.
static Replay run_loads(u32 warps, TraceWarp *w, Piece *pieces, u32 count)
{
    code[LOAD].space = code[OTHER_LOAD].space = SPACE_GLOBAL;
    for (u32 n = 0; n < count; n++)
        accesses[n + 1] = (TraceAccess){ .first = n, .count = 1, .space = SPACE_GLOBAL };
    TraceBlock block = { .warp_count = warps, .warp = w }, *all = &block;
    Trace trace = { .op = code,
                    .op_count = OPS,
                    .block = &all,
                    .block_count = 1,
                    .access = accesses,
                    .access_count = 8,
                    .piece = pieces,
                    .piece_count = count };
    DeviceLoad load = { .counts = counts, .active_sms = 1, .resident = 1, .l1_bytes = 1 << 16 };
    Replay r = replay_blocks(&trace, &load, 4);
    for (u32 n = 0; n < warps; n++) free(w[n].step);
    memset(counts, 0, sizeof counts);
    return r;
}

// A load of that line, which is not in L2, and what uses it: the clocks until that is done, as the
// latency was measured, and not until it is issued.
static double load_line(u64 line)
{
    Piece piece = { .line = line, .sectors = 15 };
    counts[LOAD].global.sectors = counts[LOAD].l2_misses = counts[LOAD].dram_sectors = 4;
    for (u32 n = 0; n < LOAD_PARTS; n++) profile.dram_load_clocks[n] = (n + 1) * 1000;
    TraceWarp w = WARP({ LOAD, 1 }, { USE, 0 });
    return run_loads(1, &w, &piece, 1).clocks - 1 + 4;
}

Test(replay, lets_as_many_loads_take_long_as_were_measured)
{
    enum { LINES = 4000 };
    u32 within[LOAD_PARTS] = { 0 };
    static const double part[LOAD_PARTS] = { 0.05, 0.25, 0.5, 0.75, 0.9, 0.99 };
    for (u64 line = 0; line < LINES; line += 2) {
        double clocks = load_line(line);
        cr_expect(clocks >= 1000 && clocks <= 6000, "line %lu takes %g", (unsigned long)line,
                  clocks);
        cr_expect_float_eq(load_line(line + 1), clocks, 1e-9); // neighbours are alike
        for (u32 n = 0; n < LOAD_PARTS; n++) within[n] += clocks <= (n + 1) * 1000;
    }
    for (u32 n = 0; n < LOAD_PARTS; n++)
        cr_expect_float_eq(within[n] / (LINES / 2.0), part[n], 0.02,
                           "%g of the loads take %u at most, not %g", within[n] / (LINES / 2.0),
                           (n + 1) * 1000, part[n]);
}

// Half of the hits that L2 counts as late: each takes half of the rest of the way from DRAM, and as
// much as any hit.
Test(replay, lets_late_hits_wait_for_dram)
{
    Piece pieces[] = { { .line = 1, .sectors = 15 }, { .line = 5, .sectors = 15 } };
    counts[LOAD].global.sectors = 8;
    counts[LOAD].l2_late = 4;
    profile.l2_latency_clocks = 200;
    for (u32 n = 0; n < LOAD_PARTS; n++) profile.dram_load_clocks[n] = 1000;
    TraceWarp w = WARP({ LOAD, 1 }, { USE, 0 }, { LOAD, 2 }, { USE, 0 });
    expect_clocks(200 - 4 + 1 + (200 + 1000) / 2 - 4 + 1, run_loads(1, &w, pieces, 2));
    profile.l2_latency_clocks = 0;
}

// One that hits comes back before one that was asked for earlier and misses.
Test(replay, lets_loads_overtake_one_another)
{
    Piece pieces[] = { { .line = 1, .sectors = 15 }, { .line = 5, .sectors = 15 } };
    code[OTHER_LOAD].write[0] = 1;
    counts[LOAD].global.sectors = counts[LOAD].l2_misses = counts[LOAD].dram_sectors = 4;
    counts[OTHER_LOAD].global.sectors = 4;
    profile.l2_latency_clocks = 200;
    for (u32 n = 0; n < LOAD_PARTS; n++) profile.dram_load_clocks[n] = 1000;
    TraceWarp w[] = { WARP({ LOAD, 1 }, { USE, 0 }), WARP({ OTHER_LOAD, 2 }, { USE, 0 }) };
    Replay r = run_loads(2, w, pieces, 2);
    cr_expect_lt(r.warps * r.clocks, 1.5 * 1000, "the two warps were there %g clocks",
                 r.warps * r.clocks);
    profile.l2_latency_clocks = 0;
}

// ---- What is stored

// Stores and loads of one line, which L2 has; two clocks for each store to leave L1.
static void set_up_stores(void)
{
    code[STORE].space = code[LOAD].space = SPACE_GLOBAL;
    accesses[1] = (TraceAccess){ .count = 1, .space = SPACE_GLOBAL };
    profile.l2_write_bytes_per_clock = 64;
    profile.l2_random_writes_per_clock = 64;
    profile.l1_clocks_per_request = 1;
    profile.l1_latency_clocks = 40;
    profile.l2_latency_clocks = 200;
}

Test(replay, finds_in_l1_what_was_stored)
{
    set_up_stores();
    TraceWarp w = WARP({ STORE, 1 }, { LOAD, 1 }, { USE, 0 });
    expect_clocks(1 + 40 - 4 + 1, run(1, 1, 1, &w));
}

Test(replay, asks_l2_for_what_is_loaded_past_l1)
{
    set_up_stores();
    code[LOAD].past_l1 = true;
    TraceWarp w = WARP({ LOAD, 1 }, { USE, 0 }, { LOAD, 1 }, { USE, 0 });
    expect_clocks(2 * (200 - 4 + 1), run(1, 1, 1, &w)); // each time
}

Test(replay, lets_loads_pass_stores_in_l2_unless_dram_is_asked)
{
    set_up_stores();
    code[LOAD].past_l1 = true;
    profile.l2_write_bytes_per_clock = 1; // 128 clocks for the line that is stored
    for (u32 n = 0; n < LOAD_PARTS; n++) profile.dram_load_clocks[n] = 300;
    for (int misses = 0; misses < 2; misses++) {
        counts[LOAD].global.sectors = counts[LOAD].l2_misses = (u64)misses;
        TraceWarp alone = WARP({ LOAD, 1 }, { USE, 0 }),
                  after = WARP({ STORE, 1 }, { LOAD, 1 }, { USE, 0 });
        double clocks = run(1, 1, 1, &alone).clocks;
        expect_clocks((misses ? 128 : 1) + clocks, run(1, 1, 1, &after));
    }
    counts[LOAD] = (Counts){ 0 };
}

// ---- Native code ----

enum { FIRST = OPS, SECOND, THIRD }; // of the native ops, which follow the others
static Op native_code[OPS + 3];

// Three native instructions, of which each may be issued so many clocks after the one before.
static void set_up_native(u8 stall)
{
    memcpy(native_code, code, sizeof code);
    for (u32 n = FIRST; n <= THIRD; n++)
        native_code[n] =
            (Op){ .kind = OP_PLAIN,
                  .unit = UNIT_ALU,
                  .slots = 1,
                  .own = 1,
                  .busy = 2,
                  .native = { .known = true, .stall = stall, .sets = -1, .frees = -1 } };
}

static double native_clocks(u32 warps)
{
    TraceWarp w[32];
    const Op *kept = of_trace;
    of_trace = native_code;
    for (u32 n = 0; n < warps; n++) w[n] = WARP({ FIRST, 0 }, { SECOND, 0 }, { THIRD, 0 });
    double clocks = run(1, 1, warps, w).clocks;
    of_trace = kept;
    return clocks;
}

Test(replay, issues_native_code_as_it_says)
{
    set_up_native(5);
    cr_expect_float_eq(native_clocks(1), 15, 0.01); // after the third, too
    set_up_native(2);
    cr_expect_float_eq(native_clocks(1), 6, 0.01);
    cr_expect_float_eq(native_clocks(8), 12,
                       0.01); // two warps a scheduler: the unit takes 2 clocks each
    set_up_native(1);
    cr_expect_float_eq(native_clocks(1), 5, 0.01); // it waits for the unit
}

Test(replay, waits_for_scoreboards)
{
    set_up_native(1);
    native_code[FIRST].unit = UNIT_XU, native_code[FIRST].latency = 20,
    native_code[FIRST].native.sets = 3;
    cr_expect_float_eq(native_clocks(1), 4, 0.01); // no instruction waits for it
    native_code[THIRD].native.waits = 1 << 3;
    cr_expect_float_eq(native_clocks(1), 21, 0.01);
}

Test(replay, reads_a_register_a_clock_from_each_bank)
{
    set_up_native(1);
    for (u32 n = FIRST; n <= THIRD; n++)
        native_code[n].busy = 1, native_code[n].native.reads[1] = 3;
    cr_expect_float_eq(native_clocks(1), 7, 0.01); // at 0, 3 and 6
    for (u32 n = SECOND; n <= THIRD; n++)
        native_code[n].native.reads[1] = 1, native_code[n].native.kept[1] = 2;
    cr_expect_float_eq(native_clocks(1), 3, 0.01); // what the one before has read is at hand
}

Test(replay, lets_few_lines_that_are_stored_wait_in_l1)
{
    set_up_stores();
    code[LOAD].space = SPACE_SHARED;
    profile.l2_write_bytes_per_clock = 16;
    profile.l1_waiting_lines = 3;
    accesses[2] = (TraceAccess){ .space = SPACE_SHARED, .passes = 1 };
    TraceWarp w = WARP({ STORE, 1 }, { STORE, 1 }, { STORE, 1 }, { LOAD, 2 }, { USE, 0 });
    expect_clocks(3 + 27, run(1, 1, 1, &w));
    profile.l1_waiting_lines = 1;
    w = WARP({ STORE, 1 }, { STORE, 1 }, { STORE, 1 }, { LOAD, 2 }, { USE, 0 });
    expect_clocks(2 * 8 + 27, run(1, 1, 1, &w)); // the third waits until the second has left
}

// ---- How blocks come

Test(replay, gives_the_place_of_a_block_to_the_next_after_a_turn)
{
    profile.block_turn_clocks = 100;
    TraceWarp one = WARP({ LOAD, 1 }, { USE, 0 });
    expect_clocks(27 + 100 + 27, run(2, 1, 1, &one));
    one = WARP({ LOAD, 1 }, { USE, 0 });
    expect_clocks(1 + 27, run(2, 2, 1, &one)); // the first ones find their places free
    profile.block_turn_clocks = 0;
}

Test(replay, begins_the_warps_of_a_block_one_after_another)
{
    profile.warp_launch_clocks = 3;
    TraceWarp w[] = { WARP({ ALU, 0 }), WARP({ ALU, 0 }), WARP({ ALU, 0 }) };
    expect_clocks(2 * 3 + 1, run(1, 1, 3, w));
    profile.warp_launch_clocks = 0;
}

// The steps of an mbarrier: one that ends its phase, and one that waits for that.
enum { ENDS = 5, WAITS };
static void set_up_phase(void)
{
    accesses[ENDS] = (TraceAccess){ .space = SPACE_SHARED, .phase = 1 };
    accesses[WAITS] = (TraceAccess){ .space = SPACE_SHARED, .phase = 1, .waits = true };
    code[ALU] = code[STORE] = (Op){ .kind = OP_BRANCH, .unit = UNIT_ADU, .slots = 1, .own = 1 };
    code[STORE].read[0] = 1, code[STORE].read_count = 1;
}

Test(replay, makes_who_waits_at_an_mbarrier_wait_for_the_last_arrival)
{
    set_up_phase();
    TraceWarp w[] = { WARP({ LOAD, 1 }, { STORE, ENDS }), WARP({ ALU, WAITS }, { BARRIER, 0 }) };
    code[BARRIER] = (Op){ .kind = OP_PLAIN, .unit = UNIT_ALU, .slots = 1, .own = 1 };
    expect_clocks(
        26 + 1 + 1 + 30 + 1,
        run(1, 1, 2,
            w)); // the load is there at 26; a clock of the ADU; the arrival; its sight; one more
}

Test(replay, lets_who_copies_in_bulk_go_on_until_it_waits)
{
    set_up_phase();
    profile.l2_latency_clocks = 200;
    accesses[ENDS].count = 1, accesses[ENDS].space = SPACE_GLOBAL;
    code[STORE] =
        (Op){ .kind = OP_BULK, .unit = UNIT_TMA, .slots = 1, .own = 1, .space = SPACE_SHARED };
    TraceWarp w = WARP({ STORE, ENDS }, { LOAD, 1 }, { USE, 0 });
    expect_clocks(2 + 27, run(1, 1, 1, &w)); // the ADU's clock, its own, the load and its use
    TraceWarp waits =
        WARP({ STORE, ENDS }, { LOAD, 1 }, { USE, 0 }, { ALU, WAITS }, { BARRIER, 0 });
    code[BARRIER] = (Op){ .kind = OP_PLAIN, .unit = UNIT_ALU, .slots = 1, .own = 1 };
    expect_clocks(1 + 200 - 4 + 30 + 1,
                  run(1, 1, 1, &waits)); // the ADU's clock, L2, the sight of it, one more
}
