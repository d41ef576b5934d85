// The ops of native code. Each of its instructions says when the next one of its warp may be
// issued, which scoreboards it waits for and sets, so that its operands need not be followed; what
// it accesses in memory is what the PTX accesses that it stands for. What is aligned with no native
// code (native_runs.c) is timed as op.c estimates it.
#include "native.h"

#include <stdlib.h>

#include "machine/profile.h"
#include "native_runs.h"
#include "ptx/native.h"

// ---- Ops ----

static u8 unit_of_pipe(u8 pipe)
{
    static const u8 units[] = {
        [PIPE_ALU] = UNIT_ALU,       [PIPE_FMA] = UNIT_FMA,         [PIPE_PRODUCT] = UNIT_HEAVY,
        [PIPE_FP64] = UNIT_FP64,     [PIPE_ARITHMETIC] = UNIT_BOTH, [PIPE_XU] = UNIT_XU,
        [PIPE_LSU] = UNIT_LSU,       [PIPE_ADU] = UNIT_ADU,         [PIPE_TMA] = UNIT_TMA,
        [PIPE_TENSOR] = UNIT_TENSOR, [PIPE_CBU] = UNIT_NONE,
    };
    return units[pipe];
}

static float latency_of(const NativeInsn *i)
{
    if (i->pipe == PIPE_XU) return (float)profile.xu_latency_clocks;
    if (i->kind == NATIVE_SHUFFLE) return (float)profile.shuffle_latency_clocks;
    if (i->pipe != PIPE_ADU) return 0;
    return (float)(profile.constant_latency_clocks - profile.alu_latency_clocks);
}

// Wide products of integers, and constants that are asked for by the uniform datapath, keep their
// scheduler from issuing anything else.
static float slots_of(const NativeInsn *i)
{
    enum { PRODUCT_CLOCKS = 2 };
    bool blocks = (i->pipe == PIPE_PRODUCT || i->pipe == PIPE_ADU) && i->clocks > PRODUCT_CLOCKS;
    return blocks ? i->clocks : 1;
}

// Sets the instruction of the PTX that is the one with that number and feature in the run, and in
// which of its copies. False: one of the PTX stands for several, and another of them has it.
static bool find_source(const Kernel *k, const Op *ops, const Run *ptx, enum feature feature,
                        u32 number, NativeOp *to)
{
    u32 each = (u32)ptx->count[feature];
    to->copy = (u8)(number / each);
    number %= each;
    for (u32 pc = ptx->first; pc < ptx->end; pc++)
        if (native_feature_of(k, &ops[pc]) == feature && number-- == 0) {
            to->pc = pc;
            return true;
        }
    return false;
}

// The op of the PTX that accesses memory, or makes warps wait, or multiplies matrices as the native
// one does; none: a plain one.
static Op source_op(const Op *ops, const Run *ptx, const NativeInsn *i, const NativeOp *native,
                    bool accesses)
{
    Op op = { .kind = i->kind == NATIVE_BRANCH ? OP_BRANCH : OP_PLAIN };
    if (accesses || (native_end(i) != OP_PLAIN && native_end(i) != OP_BRANCH)) op = ops[native->pc];
    else if (native_feature(i) == TENSOR)
        for (u32 pc = ptx->first; pc < ptx->end; pc++)
            if (ops[pc].unit == UNIT_TENSOR) op.busy = ops[pc].busy / ops[pc].own;
    return op;
}

// The two runs of a pair, and how many instructions with each feature have had their ops.
typedef struct Making {
    const Run *ptx, *native;
    u32 copies, seen[FEATURES];
} Making;

static Op make_op(const Kernel *k, const Op *ops, Making *m, const NativeInsn *i)
{
    enum feature f = native_feature(i);
    bool accesses = (i->kind == NATIVE_LOAD || i->kind == NATIVE_STORE)
                 && m->ptx->count[f] * m->copies == m->native->count[f];
    NativeOp native = { .known = true,
                        .stall = i->stall,
                        .waits = i->waits,
                        .sets = i->sets,
                        .frees = i->frees,
                        .reads = { i->reads[0], i->reads[1] },
                        .kept = { i->kept[0], i->kept[1] },
                        .words = i->bytes / WORD_BYTES,
                        .pc = m->ptx->end - 1,
                        .run = m->ptx->first };
    accesses = accesses && find_source(k, ops, m->ptx, f, m->seen[f]++, &native);
    Op op = source_op(ops, m->ptx, i, &native, accesses);
    if (i->clocks) op.busy = i->clocks;
    op.unit = unit_of_pipe(i->pipe);
    op.slots = op.own = slots_of(i);
    if (op.kind == OP_PLAIN) op.latency = latency_of(i);
    op.read_count = 0;
    op.skips = op.jumps = 0;
    op.wide = (Wide){ 0 };
    op.run = (NativeRun){ 0 };
    op.native = native;
    return op;
}

// ---- Runs ----

// Divisions and roots branch over calls of what is only needed for uncommon numbers.
static void leave_out_calls(NativeInsn *code, u32 count)
{
    enum { LONGEST = 8 };
    for (u32 n = 0; n < count; n++) {
        bool branches = code[n].kind == NATIVE_BRANCH && code[n].guarded && code[n].target > (s32)n
                     && code[n].target <= (s32)(n + LONGEST);
        u32 target = branches && code[n].target <= (s32)count ? (u32)code[n].target : n + 1;
        bool calls = false;
        for (u32 c = n + 1; c < target; c++) calls |= code[c].kind == NATIVE_CALL;
        if (!calls) continue;
        code[n].kind = NATIVE_PLAIN;
        for (u32 c = n + 1; c < target; c++) code[c].kind = NATIVE_NOTHING;
    }
}

// Adds the ops of a pair's native run.
static void add_run(const Kernel *k, Op *ops, u32 *count, const NativeInsn *code, const Runs *ptx,
                    const Run *native, const Pair *pair)
{
    Run joined;
    native_join(k, ptx, pair->ptx, pair->ptx + pair->joined - 1, &joined);
    for (u32 pc = joined.first; pc + 1 < joined.end; pc++)
        if (k->code[pc].op == ISA_bra) ops[pc].jumps = k->code[pc].target - pc - 1;
    Making making = { .ptx = &joined, .native = native, .copies = pair->copies };
    NativeRun *run = &ops[joined.first].run;
    *run = (NativeRun){ .end = joined.end, .op = *count, .copies = pair->copies };
    for (u32 n = native->first; n < native->end; n++)
        if (code[n].kind != NATIVE_NOTHING) ops[(*count)++] = make_op(k, ops, &making, &code[n]);
    run->count = *count - run->op;
}

Op *native_follow(const Kernel *k, Op *ops)
{
    enum { BRANCH_CLOCKS = 8 };
    u32 native_count = k->native.count, pair_count, count = k->code_count;
    NativeInsn *code = calloc(native_count + 1, sizeof *code);
    Op *longer = code ? realloc(ops, (count + native_count) * sizeof *ops) : NULL;
    if (!longer) return free(code), ops;
    for (u32 n = 0; n < native_count; n++) code[n] = native_insn(&k->native, n);
    leave_out_calls(code, native_count);
    Runs ptx = native_runs_of_ptx(k, longer), native = native_runs_of_code(code, native_count);
    Pair *pairs = native_align(k, &ptx, &native, &pair_count);
    for (u32 n = 0; pairs && n < pair_count; n++)
        add_run(k, longer, &count, code, &ptx, &native.run[pairs[n].native], &pairs[n]);
    // Loops that are aligned say themselves what their branches take.
    for (u32 p = 0; p < ptx.count; p++) {
        Op *end = &longer[ptx.run[p].end - 1];
        if (!ptx.run[p].taken && ptx.run[p].last == OP_BRANCH && end->slots > 0)
            end->stall = BRANCH_CLOCKS;
    }
    free(pairs), free(ptx.run), free(native.run), free(code);
    return longer;
}
