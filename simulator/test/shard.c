// Blocks beside each other: what is tried, what is put back, and that nobody can tell.
#define _GNU_SOURCE
#include "machine/shard.h"
#include "isa/isa.h"
#include "memory/memory.h"
#include "machine/profile.h"
#include "machine/worker.h"
#include "ptx/module.h"
#include "report/report.h"
#include "observers.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCKS = 400, THREADS = 64, COUNT = BLOCKS * THREADS };

static u32 *numbers, *others; // in device memory

// Criterion's processes share memory at an address that it picks at random: not here.
__attribute__((constructor)) static void keep_free(void)
{
    mmap((void *)MEMORY_BASE, MEMORY_SPAN, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

static void set_up(void)
{
    munmap((void *)MEMORY_BASE, MEMORY_SPAN);
    cr_assert(profile_load("profiles/devices/h200.cfg", &profile));
    cr_assert(memory_init(1ull << 30));
    worker_threads(3);
    shard_set_threshold(1);
    report_open(open("/dev/null", O_WRONLY), false);
    observers_hand_in(false);
}

TestSuite(shard, .init = set_up);

// A kernel of (numbers, others), in whose body %i is the thread's number, %a the address of its
// number and %o of its other.
static Kernel *kernel_of(const char *body)
{
    static const char frame[] =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry kernel(.param .u64 numbers, .param .u64 others) {\n"
        ".shared .align 4 .b8 buffer[4];\n.reg .b32 %%i, %%b, %%n, %%t, %%x, %%y;\n.reg .b64 %%a, "
        "%%o, %%w, %%z;\n.reg .pred %%p;\n"
        "mov.u32 %%b, %%ctaid.x;\nmov.u32 %%n, %%ntid.x;\nmov.u32 %%t, %%tid.x;\nmad.lo.s32 %%i, "
        "%%b, %%n, %%t;\n"
        "mul.wide.u32 %%w, %%i, 4;\n"
        "ld.param.u64 %%a, [numbers];\nadd.s64 %%a, %%a, %%w;\nld.param.u64 %%o, "
        "[others];\nadd.s64 %%o, %%o, %%w;\n"
        "%s\nret;\n}\n";
    char *text = NULL, *error = NULL;
    cr_assert_geq(asprintf(&text, frame, body), 0);
    Module *module = module_load((char *const[]){ text, NULL }, 0, NULL, &error);
    cr_assert_not_null(module, "%s", error);
    return module_kernel(module, "kernel");
}

static u64 limit;        // of the launch's warp instructions
static ShardTally tally; // of the launch

// Runs it on 0, 1, 2, ... and fresh others. Returns how it ended.
static int run(const char *body)
{
    const u64 bytes = COUNT * sizeof *numbers;
    Allocation *a = memory_alloc(bytes, 256, MEMORY_DEVICE, 0, NULL),
               *o = memory_alloc(bytes, 256, MEMORY_DEVICE, 0, NULL);
    numbers = (u32 *)a->base;
    others = (u32 *)o->base;
    for (u32 n = 0; n < COUNT; n++) numbers[n] = n;
    memory_define(a->base, a->size);
    u64 params[] = { a->base, o->base };
    Launch launch = { .kernel = kernel_of(body),
                      .grid = { BLOCKS, 1, 1 },
                      .block = { THREADS, 1, 1 },
                      .params = params,
                      .limit = limit };
    ShardTally before = shard_tally();
    Grid *g = grid_start(&launch);
    cr_assert_eq(grid_run(g, true, true), GRID_ENDED);
    int status = grid_finish(g);
    grid_free(g);
    tally = (ShardTally){ shard_tally().committed - before.committed,
                          shard_tally().rolled_back - before.rolled_back };
    return status;
}

#define ADD_ONE "ld.global.u32 %x, [%a];\nadd.u32 %x, %x, 1;\n"

static void all_go_well(void)
{
    cr_expect(tally.committed > 1 && !tally.rolled_back, "%llu good, %llu put back",
              (unsigned long long)tally.committed, (unsigned long long)tally.rolled_back);
}
static void some_are_put_back(void)
{
    cr_expect(tally.rolled_back, "all %llu good", (unsigned long long)tally.committed);
}
static void none_is_tried(void)
{
    cr_expect(!tally.committed && !tally.rolled_back, "%llu good, %llu put back",
              (unsigned long long)tally.committed, (unsigned long long)tally.rolled_back);
}

Test(shard, blocks_that_share_nothing)
{
    cr_expect_eq(run(ADD_ONE "st.global.u32 [%o], %x;"), 0);
    for (u32 n = 0; n < COUNT; n++) cr_expect_eq(others[n], n + 1);
    all_go_well();
}

Test(shard, in_place)
{
    cr_expect_eq(run(ADD_ONE "st.global.u32 [%a], %x;"), 0);
    for (u32 n = 0; n < COUNT; n++) cr_expect_eq(numbers[n], n + 1);
    all_go_well();
}

// Each adds what the block before it has left.
Test(shard, one_reads_what_another_wrote)
{
    cr_expect_eq(
        run(ADD_ONE
            "setp.lt.u32 %p, %i, 64;\n@%p bra $done;\n"
            "ld.global.u32 %y, [%a+-256];\nadd.u32 %x, %x, %y;\n$done:\nst.global.u32 [%a], %x;"),
        0);
    for (u32 n = 0; n < COUNT; n++)
        cr_expect_eq(numbers[n], n < 64 ? n + 1 : numbers[n - 64] + n + 1);
    some_are_put_back();
}

// And here what the block behind it will write: it has to find the old.
Test(shard, one_writes_what_another_has_read)
{
    cr_expect_eq(
        run(ADD_ONE
            "setp.ge.u32 %p, %i, 25536;\n@%p bra $done;\n"
            "ld.global.u32 %y, [%a+256];\nadd.u32 %x, %x, %y;\n$done:\nst.global.u32 [%a], %x;"),
        0);
    for (u32 n = 0; n < COUNT; n++) cr_expect_eq(numbers[n], n < COUNT - 64 ? 2 * n + 65 : n + 1);
    some_are_put_back();
}

// Stores that nobody looks at are nothing but moves, and noted none the less.
Test(shard, bare)
{
    observers_hand_in(true);
    cr_expect_eq(
        run(ADD_ONE
            "setp.lt.u32 %p, %i, 64;\n@%p bra $done;\n"
            "ld.global.u32 %y, [%a+-256];\nadd.u32 %x, %x, %y;\n$done:\nst.global.u32 [%a], %x;"),
        0);
    for (u32 n = 0; n < COUNT; n++)
        cr_expect_eq(numbers[n], n < 64 ? n + 1 : numbers[n - 64] + n + 1);
    some_are_put_back();
    cr_expect_eq(run(ADD_ONE "st.global.u32 [%a], %x;"), 0);
    for (u32 n = 0; n < COUNT; n++) cr_expect_eq(numbers[n], n + 1);
    all_go_well();
}

// Block 100 stores to what all others only read, which is all that was noted of them.
Test(shard, a_store_that_nobody_expected)
{
    cr_expect_eq(run("setp.lt.u32 %p, %b, 1;\n@%p bra $done;\nld.global.u32 %x, "
                     "[%a+-256];\nst.global.u32 [%o], %x;\n"
                     "setp.ne.u32 %p, %b, 100;\n@%p bra $done;\nst.global.u32 [%a], %b;\n$done:"),
                 0);
    for (u32 n = 64; n < COUNT; n++) cr_expect_eq(others[n], n / 64 == 101 ? 100 : n - 64);
    cr_expect_eq(tally.rolled_back, 1);
}

// Byte t * BLOCKS + b for thread t of block b: neighbours in memory are of different blocks.
#define MINGLED "mad.lo.u32 %y, %t, 400, %b;\n"
#define STORE_BYTE                                                                                 \
    "cvt.u64.u32 %w, %y;\nld.param.u64 %o, [others];\nadd.s64 %o, %o, %w;\nst.global.u8 [%o], %b;"

Test(shard, bytes_side_by_side)
{
    cr_expect_eq(run(MINGLED STORE_BYTE), 0);
    for (u32 n = 0; n < COUNT; n++) cr_expect_eq(((u8 *)others)[n], (u8)(n % BLOCKS));
    all_go_well();
}

Test(shard, two_that_write_the_same_byte)
{
    cr_expect_eq(run(MINGLED "and.b32 %y, %y, -2;\n" STORE_BYTE), 0);
    for (u32 n = 0; n < COUNT; n += 2) cr_expect_eq(((u8 *)others)[n], (u8)(n % BLOCKS + 1));
    some_are_put_back();
}

// Shared memory has rubbish until the first block of its slot has run: of that the part's first
// block makes a store, which does not count, since its report has to be told in order. There the
// grid's own slot has had block 0, and no other stores.
Test(shard, what_was_stored_in_vain_is_not_written)
{
    cr_expect_eq(run("ld.shared.u32 %x, [buffer];\nst.shared.u32 [buffer], 1;\nsetp.eq.u32 %p, %x, "
                     "1;\n@%p bra $done;\n"
                     "st.global.u32 [%o], %b;\n$done:"),
                 0);
    cr_expect_eq(memory_undefined((u64)others, LANES * sizeof *others), LANES * sizeof *others);
    for (u32 n = LANES; n < COUNT; n++)
        cr_expect_eq(memory_undefined((u64)&others[n], sizeof *others), 0, "%u is written", n);
    some_are_put_back();
}

// Block 200 goes wrong: those before it have stored, those behind it have not, nor does their
// memory count as written.
Test(shard, an_error_in_the_middle)
{
    cr_expect_eq(run("setp.eq.u32 %p, %b, 200;\n@%p mov.b64 %o, 0;\nst.global.u32 [%o], %b;"), 700);
    for (u32 n = 0; n < COUNT; n++) cr_expect_eq(others[n], n < 200 * THREADS ? n / THREADS : 0);
    cr_expect_eq(memory_undefined((u64)others, COUNT * sizeof *others),
                 200 * THREADS * sizeof *others);
    some_are_put_back();
}

// A report that ends nothing: it is told once, as with one thread.
Test(shard, a_report_in_the_middle)
{
    cr_expect_eq(
        run("setp.ne.u32 %p, %b, 200;\n@%p bra $done;\nsetp.ne.u32 %p, %t, 7;\n@%p bra $done;\n"
            "mov.u32 %x, buffer;\ncp.async.ca.shared.global [%x], [%a], 4;\nld.shared.u32 %y, "
            "[%x];\n"
            "st.global.u32 [%o], %y;\n$done:"),
        0);
    cr_expect_eq(report_count(REPORT_UNFINISHED), 1);
    some_are_put_back();
}

// Blocks 1 and 2, 3 and 4, ... race, each pair in one chunk: nothing is put back, and what was
// noted tells the race.
Test(shard, a_race_within_a_chunk)
{
    shard_set_threshold(2000);
    cr_expect_eq(run("add.u32 %y, %b, 1;\nshr.u32 %y, %y, 1;\nmad.lo.u32 %y, %y, %n, "
                     "%t;\nmul.wide.u32 %w, %y, 4;\n"
                     "ld.param.u64 %o, [others];\nadd.s64 %o, %o, %w;\nand.b32 %x, %b, "
                     "1;\nsetp.eq.u32 %p, %x, 0;\n"
                     "@%p ld.global.u32 %x, [%o];\n@!%p st.global.u32 [%o], %b;"),
                 0);
    cr_expect_gt(report_count(REPORT_RACE), 0);
    all_go_well();
}

Test(shard, too_many_instructions)
{
    limit = BLOCKS * THREADS / LANES * 13
          / 2; // half of what it takes: 13 a warp, of which the one that goes beyond ends
    cr_expect_eq(run(ADD_ONE "st.global.u32 [%o], %x;"), 702);
    cr_expect_eq(memory_undefined((u64)others, COUNT * sizeof *others),
                 (BLOCKS / 2 * THREADS + LANES) * sizeof *others);
    some_are_put_back();
}

Test(shard, those_that_see_each_other_run_in_order)
{
    static const char *const bodies[] = {
        "atom.global.add.u32 %x, [%o], 1;",
        "red.global.add.u32 [%o], 1;",
        "ld.volatile.global.u32 %x, [%a];",
        "st.volatile.global.u32 [%o], %i;",
        "ld.acquire.gpu.global.u32 %x, [%a];",
        "st.release.gpu.global.u32 [%o], %i;",
        "ld.relaxed.sys.global.u32 %x, [%a];",
        "membar.gl;",
        "fence.acq_rel.gpu;",
        "mov.u32 %x, %clock;",
        "mov.u64 %z, %globaltimer;",
    };
    for (size_t n = 0; n < sizeof bodies / sizeof *bodies; n++) {
        cr_expect_eq(run(bodies[n]), 0, "%s", bodies[n]);
        none_is_tried();
    }
}
