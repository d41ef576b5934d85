// Native instructions as ptxas encodes them, beside what nvdisasm says of them; and which runs of
// native code are told to stand for which of the PTX.
#include "ptx/native.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "model/native_runs.h"

static NativeInsn decode(const u64 (*words)[2], u32 count, u32 number)
{
    NativeCode code = { .insn = (const u8 *)words, .count = count };
    return native_insn(&code, number);
}
#define DECODE(...) decode((const u64[][2]){ { __VA_ARGS__ } }, 1, 0)

Test(native, says_what_an_instruction_waits_for)
{
    // LDS.128 R12, [R11+UR4+-0x40]: until it is there, scoreboard 0; it waits for 0
    NativeInsn i = DECODE(0xffffc0040b0c7984, 0x001e280008000c00);
    cr_expect(i.kind == NATIVE_LOAD && i.space == SPACE_SHARED && i.bytes == 16);
    cr_expect(i.sets == 0 && i.frees < 0 && i.waits & 1 && !(i.waits & 2) && i.stall == 4);
    // MUFU.RSQ R14, R29: scoreboard 1, and 0 until R29 is read
    i = DECODE(0x0000001d000e7308, 0x00006c0000001400);
    cr_expect(i.pipe == PIPE_XU && i.sets == 1 && i.frees == 0 && i.waits == 0 && i.stall == 6);
    // @!P1 FMUL R29, R29, 16777216
    i = DECODE(0x4b8000001d1d9820, 0x000fc80000400000);
    cr_expect(i.guarded && i.pipe == PIPE_FMA && i.sets < 0 && i.stall == 4);
}

Test(native, knows_where_a_branch_leads)
{
    // @P1 BRA at 0xac0, to 0x1a0
    u64 words[0xad][2] = { 0 };
    words[0xac][0] = 0xfffffff400b41947, words[0xac][1] = 0x000fec000383ffff;
    NativeInsn i = decode((const u64(*)[2])words, 0xad, 0xac);
    cr_expect(i.kind == NATIVE_BRANCH && i.target == 0x1a && i.stall == 6);
}

Test(native, tells_constants_that_lanes_choose)
{
    cr_expect(DECODE(0x00c0000005057b82, 0x000e240000000800).kind == NATIVE_LOAD);  // c[0x3][R5]
    cr_expect(DECODE(0x00008a00ff097b82, 0x000e220000000800).kind == NATIVE_PLAIN); // c[0x0][0x228]
}

Test(native, counts_the_registers_that_come_from_each_bank)
{
    // FFMA R5, R7.reuse, R0, R4.reuse and FFMA R15, R7.reuse, R15, R4.reuse
    const u64 words[][2] = { { 0x0000000007057223, 0x160fe20000000004 },
                             { 0x0000000f070f7223, 0x140fe20000000004 } };
    NativeInsn first = decode(words, 2, 0), second = decode(words, 2, 1);
    cr_expect(first.reads[0] == 2 && first.reads[1] == 1 && !first.kept[0] && !first.kept[1]);
    cr_expect(second.reads[0] == 0 && second.reads[1] == 1); // R15
    cr_expect(second.kept[0] == 1 && second.kept[1] == 1);   // R4 and R7
    // DFMA R16, R16, R16, R16: a pair of registers, once
    NativeInsn pair = DECODE(0x000000101010722b, 0x000fe20000000010);
    cr_expect(pair.reads[0] == 1 && pair.reads[1] == 1);
}

// ---- Alignment ----

// Runs of four instructions each, with so many loads of shared memory.
static Run run_of(u32 number, u32 loads, bool loops)
{
    Run r = { .first = 4 * number, .end = 4 * number + 4, .loops = loops, .slots = 4 };
    r.branched_first = ~0u;
    r.last = loops ? OP_BRANCH : OP_PLAIN;
    r.count[SHARED_LOADS] = (float)loads;
    return r;
}

static u32 align(Run *ptx, u32 ptx_count, Run *native, u32 native_count, Pair to[4])
{
    Insn code[64] = { 0 };
    Kernel k = { .code = code, .code_count = 64 };
    u32 count;
    Runs p = { ptx, ptx_count }, n = { native, native_count };
    for (u32 r = 0; r < ptx_count; r++)
        if (ptx[r].loops) code[ptx[r].end - 1] = (Insn){ .op = ISA_bra, .target = ptx[r].first };
    Pair *pairs = native_align(&k, &p, &n, &count);
    memcpy(to, pairs, (count < 4 ? count : 4) * sizeof *to);
    free(pairs);
    return count;
}

Test(native, aligns_runs_that_load_as_often_in_their_order)
{
    Run ptx[] = { run_of(0, 1, true), run_of(1, 2, true), run_of(2, 3, true) },
        native[] = { run_of(0, 1, true), run_of(1, 7, true), run_of(2, 3, true) };
    Pair pairs[4];
    cr_assert_eq(align(ptx, 3, native, 3, pairs), 2);
    cr_expect(pairs[0].ptx == 0 && pairs[0].native == 0 && pairs[0].copies == 1);
    cr_expect(pairs[1].ptx == 2 && pairs[1].native == 2);
}

Test(native, knows_an_unrolled_loop)
{
    Run ptx[] = { run_of(0, 2, true) }, native[] = { run_of(0, 8, true) };
    Pair pairs[4];
    native[0].slots = 14;
    cr_assert_eq(align(ptx, 1, native, 1, pairs), 1);
    cr_expect_eq(pairs[0].copies, 4);
}

Test(native, aligns_loops_that_changed_places)
{
    Run ptx[] = { run_of(0, 1, true), run_of(1, 3, true) },
        native[] = { run_of(0, 3, true), run_of(1, 1, true) };
    Pair pairs[4];
    cr_assert_eq(align(ptx, 2, native, 2, pairs), 2);
    for (u32 n = 0; n < 2; n++) cr_expect_eq(pairs[n].ptx, 1 - pairs[n].native);
}

Test(native, joins_what_ptxas_predicates)
{
    // The first run branches over the second, and the third goes back to the first.
    Run ptx[] = { run_of(0, 1, false), run_of(1, 1, false), run_of(2, 1, false) },
        native[] = { run_of(0, 3, true) };
    Insn code[64] = { 0 };
    code[3] = (Insn){ .op = ISA_bra, .target = 8 }, code[11] = (Insn){ .op = ISA_bra, .target = 0 };
    ptx[0].last = ptx[2].last = OP_BRANCH;
    ptx[2].branched_first = ptx[2].branched_last = 3;
    native[0].slots = 12;
    Kernel k = { .code = code, .code_count = 64 };
    Runs p = { ptx, 3 }, n = { native, 1 };
    u32 count;
    Pair *pairs = native_align(&k, &p, &n, &count);
    cr_assert_eq(count, 1);
    cr_expect(pairs[0].ptx == 0 && pairs[0].joined == 3 && pairs[0].copies == 1);
    free(pairs);
    // Not if another branch leads into the middle.
    ptx[2].branched_last = 40;
    for (u32 r = 0; r < 3; r++) ptx[r].taken = false;
    native[0].taken = false;
    free(native_align(&k, &p, &n, &count));
    cr_expect_eq(count, 0);
}
