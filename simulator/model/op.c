// From PTX to what the hardware executes, as far as time needs it. The rules were read off ptxas's
// output for compute capability 9.0; rates and latencies are the device profile's.
//
// - Address arithmetic melts: a widening product or a shift that is only added becomes part of that
// addition, conversions
//   between integers and between address spaces vanish.
// - Within a run of instructions without a branch, a barrier or a store in between, loads move up
// as far as what they need
//   allows, so that they are under way together.
#include "op.h"
#include <stdlib.h>
#include <string.h>

#include "isa/tensor.h"
#include "machine/handlers.h"
#include "machine/profile.h"
#include "slots.h"

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void reads(Op *op, u32 row)
{
    if (row && op->read_count < OP_READS) op->read[op->read_count++] = row / 64;
}
static void writes(Op *op, u32 row)
{
    if (row && op->write_count < OP_WRITES) op->write[op->write_count++] = row / 64;
}

// d comes first in the list; where there is nothing but it, it is stored or loaded.
static void matrix_rows(Op *op, const Insn *i)
{
    const Matrix *x = i->matrix;
    bool multiplies = i->run == run_multiply, moves = i->run == run_rows_transpose,
         stores = isa_rows[i->row].store;
    u32 all = moves   ? 2
            : i->list ? x->d.registers + x->a.registers + x->b.registers + x->c.registers
                      : 0;
    u32 written = multiplies ? x->d.registers : moves ? 1 : stores ? 0 : all;
    reads(op, i->a), reads(op, i->b), reads(op, i->c);
    for (u32 n = 0; n < all; n++) {
        if (n < written) writes(op, i->list[n]);
        else reads(op, i->list[n]);
    }
}

static void find_rows(Op *op, const Insn *i, const IsaRow *row)
{
    reads(op, i->guard);
    switch (row->shape) {
    case MEMORY:
        reads(op, i->a);
        for (u32 e = 0; e < i->elements; e++) {
            if (row->store) reads(op, i->vector[e]);
            else writes(op, i->vector[e]);
        }
        return;
    case MATRIX: matrix_rows(op, i); return;
    case FLOW:
    case FENCE:
        reads(op, i->a);
        reads(op, i->strong ? i->b : 0);
        writes(op, i->d);
        return;
    case UNPACK:
        reads(op, i->a);
        writes(op, i->d);
        writes(op, i->b);
        return;
    case PACK_4:
        for (u32 n = 0; n < 4; n++) reads(op, i->vector[n]);
        writes(op, i->d);
        return;
    case UNPACK_4:
        reads(op, i->a);
        for (u32 n = 0; n < 4; n++) writes(op, i->vector[n]);
        return;
    case COMPARE:
        reads(op, i->a), reads(op, i->b);
        if (i->combine) reads(op, i->c);
        writes(op, i->d), writes(op, i->predicate);
        if (i->as_number) writes(op, i->vector[0]);
        return;
    default:
        reads(op, i->a);
        if (row->inputs > 1 || row->shape == EXCHANGE || row->shape == ATOMIC
            || row->shape == SELECT)
            reads(op, i->b);
        if (row->inputs > 2 || row->shape == EXCHANGE || row->shape == ATOMIC
            || row->shape == SELECT)
            reads(op, i->c);
        if (row->shape == INSERT) reads(op, i->vector[0]);
        writes(op, i->d);
    }
}

// What becomes of opcodes of which one instruction is not the answer: slots, and the unit where it
// is not the pipe's.
typedef struct Cost {
    const char *prefix;
    float slots, own;
    enum unit unit;
    float latency;
} Cost;

// The approximations that flush no denormals scale before and after (FSETP, FMUL, MUFU, FMUL).
static const Cost costs[] = {
    { "cvta", 0, 0, UNIT_NONE, 0 },
    { "ld_param", 1, 1, UNIT_ADU, 30 },
    { "not_", 0, 0, UNIT_NONE, 0 },
    { "mov_pred", 0, 0, UNIT_NONE, 0 },
    { "and_pred", 0, 0, UNIT_NONE, 0 },
    { "or_pred", 0, 0, UNIT_NONE, 0 },
    { "ex2_approx_f32", 4, 1, UNIT_XU, 31 },
    { "lg2_approx_f32", 4, 1, UNIT_XU, 31 },
    { "rsqrt_approx_f32", 4, 1, UNIT_XU, 31 },
    { "rcp_approx_f32", 4, 1, UNIT_XU, 31 },
    { "sqrt_approx_f32", 4, 1, UNIT_XU, 31 },
    { "sin_approx", 2, 1, UNIT_XU, 22 },
    { "cos_approx", 2, 1, UNIT_XU, 22 },
    { "div_rn_f32", 9, 1, UNIT_XU, 50 },
    { "div_full", 5, 1, UNIT_XU, 40 },
    { "div_approx", 3, 1, UNIT_XU, 30 },
    { "div_rn_f64", 20, 20, UNIT_FP64, 150 },
    { "rcp_rn_f64", 12, 12, UNIT_FP64, 100 },
    { "sqrt_rn_f64", 20, 20, UNIT_FP64, 150 },
    { "rcp_rn_f32", 7, 1, UNIT_XU, 50 },
    { "sqrt_rn_f32", 9, 1, UNIT_XU, 60 },
    { "div_u32", 18, 3, UNIT_XU, 110 },
    { "div_s32", 22, 3, UNIT_XU, 120 },
    { "rem_u32", 18, 3, UNIT_XU, 110 },
    { "rem_s32", 22, 3, UNIT_XU, 120 },
    { "div_u64", 80, 6, UNIT_XU, 400 },
    { "div_s64", 90, 6, UNIT_XU, 400 },
    { "rem_u64", 80, 6, UNIT_XU, 400 },
    { "rem_s64", 90, 6, UNIT_XU, 400 },
    { "mul_hi_u64", 8, 8, UNIT_HEAVY, 20 },
    { "mul_hi_s64", 10, 10, UNIT_HEAVY, 20 },
    { "mul_lo_u64", 4, 4, UNIT_HEAVY, 14 },
    { "mul_lo_s64", 4, 4, UNIT_HEAVY, 14 },
    { "mad_lo_u64", 4, 4, UNIT_HEAVY, 14 },
    { "mad_lo_s64", 4, 4, UNIT_HEAVY, 14 },
    { "bfe", 2, 2, UNIT_ALU, 9 },
    { "bfi", 3, 3, UNIT_ALU, 9 },
};

static bool is_half(enum type t)
{
    return t == TYPE_f16 || t == TYPE_bf16 || t == TYPE_f16x2 || t == TYPE_bf16x2;
}

static enum unit unit_of(const IsaRow *row)
{
    bool product = begins(row->name, "mul_") || begins(row->name, "mad_");
    switch (row_pipe(row)) {
    case PIPE_FMA:
        return is_half(row->type[0]) || (product && row->type[0] != TYPE_f32) ? UNIT_HEAVY
                                                                              : UNIT_FMA;
    case PIPE_FP64: return UNIT_FP64;
    case PIPE_XU: return begins(row->name, "cvt_rn_f32_") ? UNIT_ALU : UNIT_XU;
    case PIPE_LSU: return UNIT_LSU;
    case PIPE_ADU: return UNIT_ADU;
    case PIPE_TENSOR: return UNIT_TENSOR;
    case PIPE_TMA: return UNIT_TMA;
    case PIPE_CBU: return UNIT_NONE;
    default:
        return begins(row->name, "add_") || begins(row->name, "sub_") || begins(row->name, "mov_")
                    || begins(row->name, "shl_b32")
                 ? UNIT_INTEGER
                 : UNIT_ALU;
    }
}

static float latency_of(enum unit unit)
{
    switch (unit) {
    case UNIT_FP64: return profile.fp64_latency_clocks;
    case UNIT_XU: return profile.xu_latency_clocks;
    case UNIT_LSU: return profile.shuffle_latency_clocks;
    default: return profile.alu_latency_clocks;
    }
}

static bool is_wide(const IsaRow *row)
{
    return isa_type_width(row->type[0]) == 8 && row->type[0] != TYPE_f64 && row->shape != MEMORY
        && row->shape != ATOMIC;
}

static void find_cost(Op *op, const IsaRow *row)
{
    bool integers = row->type[0] >= TYPE_u8 && row->type[0] <= TYPE_s64 && row->type[1] >= TYPE_u8
                 && row->type[1] <= TYPE_s64;
    bool packs = row->shape == PACK || row->shape == UNPACK || row->shape == PACK_4
              || row->shape == UNPACK_4;
    op->unit = unit_of(row);
    op->slots = 1;
    op->latency = is_half(row->type[0]) ? profile.half2_latency_clocks : latency_of(op->unit);
    for (const Cost *c = costs; c < costs + sizeof costs / sizeof *costs; c++)
        if (begins(row->name, c->prefix)) {
            op->unit = c->unit, op->slots = c->slots, op->own = c->own, op->latency = c->latency;
            return;
        }
    if (packs || (row->shape == CONVERT && integers)) op->slots = op->latency = 0;
    else if (is_wide(row) && !begins(row->name, "mul_wide") && !begins(row->name, "mov"))
        op->slots = begins(row->name, "sh") ? 3 : 2;
    op->own = op->slots;
}

// Clocks for which a product keeps the pipe, and until it is there. Measured on an H200: four
// clocks for each row of b where they are doubles; two products where factors have eight bits.
// Those of four it has no pipe for, and computes by other instructions.
static void product_cost(Op *op, const IsaRow *row)
{
    const enum type type = row->type[1];
    bool whole = isa_type_width(type) * row->k >= 32;
    op->busy = op->slots * (whole ? profile.tensor_clocks : profile.tensor_short_clocks);
    op->latency = whole ? profile.tensor_latency_clocks : profile.tensor_short_latency_clocks;
    if (type == TYPE_e4m3 || type == TYPE_e5m2) op->busy *= 2;
    if (type == TYPE_s4 || type == TYPE_u4) op->busy = 6 * row->k, op->latency = 7 * row->k;
    if (type == TYPE_f64) op->busy = 4 * row->k, op->latency = op->busy + 14;
}

// A product of 16 x 8 elements, or fewer, is one instruction; larger ones are several. Halves come
// from shared memory four tiles at a time, other parts of a fragment one by one.
static void matrix_cost(Op *op, const Insn *i, const IsaRow *row)
{
    const Matrix *x = i->matrix;
    u32 tiles = x->d.distinct + x->a.distinct + x->b.distinct + x->c.distinct;
    bool fragments = i->run == run_fragment_load || i->run == run_fragment_store;
    bool halves = fragments && x->a.per + x->b.per == 2 && i->space == SPACE_SHARED;
    float products = x->m * x->n < 128 ? 1 : x->m * x->n / 128.0f;
    op->groups = (s32)i->offset;
    op->slots = op->own = op->unit == UNIT_TENSOR ? products
                        : halves                  ? (tiles + 3) / 4
                        : fragments               ? tiles
                                                  : 1;
    if (op->unit == UNIT_TENSOR) product_cost(op, row);
}

// What a cluster's barrier takes on top of a block's.
static float beyond_barrier(void)
{
    return (float)(profile.cluster_barrier_clocks - profile.barrier_latency_clocks
                   - profile.barrier_clocks_per_warp);
}

static enum op_kind kind_of(const Insn *i, const IsaRow *row)
{
    switch (row->shape) {
    case MATRIX:
        if (i->run == run_copy) return OP_COPY;
        if (i->run == run_copy_commit) return OP_COMMIT;
        if (i->run == run_copy_wait) return OP_WAIT;
        if (i->run == run_copy_arrive) return OP_ARRIVE;
        if (i->run == run_bulk) return OP_BULK;
        if (i->run == run_bulk_wait) return OP_BULK_WAIT;
        if (i->run == run_bulk_commit) return OP_BRANCH;
        if (i->run == run_multiply || i->run == run_rows_transpose) return OP_PLAIN;
        return row->store ? OP_STORE : OP_LOAD;
    case MEMORY:
        return i->space == SPACE_PARAM || i->space == SPACE_CALL ? OP_PLAIN
             : row->store                                        ? OP_STORE
                                                                 : OP_LOAD;
    case ATOMIC: return OP_ATOMIC;
    case FENCE: return OP_BRANCH;
    case FLOW:
        return begins(row->name, "barrier_cluster_arrive") ? OP_PLAIN
             : begins(row->name, "bar")                    ? OP_BARRIER
                                                           : OP_BRANCH;
    case EXCHANGE: return begins(row->name, "bar") ? OP_BRANCH : OP_PLAIN;
    default: return OP_PLAIN;
    }
}

// ---- Address arithmetic ----

// A widening product or a shift whose result is only added: the additions take it up.
static void melt(const Kernel *k, Op *ops)
{
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const char *name = isa_rows[k->code[pc].row].name;
        bool product = begins(name, "mul_wide"), shift = begins(name, "shl_b64");
        if (!product && !shift) continue;
        u32 uses = 0, sums = 0;
        for (u32 n = 0; n < k->code_count; n++) {
            bool uses_it = false;
            for (u32 r = 0; r < ops[n].read_count; r++)
                uses_it |= ops[n].read[r] == ops[pc].write[0];
            const char *other = isa_rows[k->code[n].row].name;
            uses += uses_it;
            if (!uses_it || (!begins(other, "add_s64") && !begins(other, "add_u64"))) continue;
            sums++;
        }
        if (!uses || sums < uses) continue;
        ops[pc].slots = ops[pc].own = ops[pc].latency = 0;
        for (u32 n = 0; n < k->code_count; n++)
            for (u32 r = 0; r < ops[n].read_count; r++)
                if (ops[n].read[r] == ops[pc].write[0]) {
                    ops[n].slots = ops[n].own = product ? 1 : 2;
                    ops[n].unit = product ? UNIT_HEAVY : UNIT_ALU;
                }
    }
}

// A choice between two values of which one is computed for it alone: that instruction is predicated
// instead.
static void choose(const Kernel *k, Op *ops)
{
    for (u32 pc = 1; pc < k->code_count; pc++)
        if (isa_rows[k->code[pc].row].shape == SELECT && ops[pc - 1].kind == OP_PLAIN
            && ops[pc - 1].write_count == 1
            && (ops[pc - 1].write[0] == ops[pc].read[0] || ops[pc - 1].write[0] == ops[pc].read[1]))
            ops[pc].slots = ops[pc].own = ops[pc].latency = 0;
}

// ---- Short branches ----

static bool touches(const u32 *list, u32 count, u32 row)
{
    for (u32 n = 0; n < count; n++)
        if (list[n] == row) return true;
    return false;
}

// Is it one that others before `end` wait long for?
static bool is_waited_for(const Op *ops, u32 pc, u32 end)
{
    if (ops[pc].kind != OP_LOAD || ops[pc].space == SPACE_SHARED) return false;
    for (u32 n = pc + 1; n < end; n++)
        for (u32 r = 0; r < ops[n].read_count; r++)
            if (touches(ops[pc].write, ops[pc].write_count, ops[n].read[r])) return true;
    return false;
}

// A few instructions, which do not wait for memory, nor want an atomic's result.
static bool can_be_predicated(const Kernel *k, const Op *ops, u32 first, u32 end)
{
    enum { FEW = 7 };
    float slots = 0;
    for (u32 n = first; n < end; n++) {
        slots += ops[n].slots;
        if (ops[n].kind == OP_BRANCH || ops[n].kind == OP_BARRIER || ops[n].kind >= OP_ARRIVE)
            return false;
        if ((ops[n].kind == OP_ATOMIC && !k->code[n].reduces) || is_waited_for(ops, n, end))
            return false;
    }
    return first < end && slots <= FEW;
}

// What lies between the branch at `from` and its target is issued as often as the one that chooses.
static void skip(Op *ops, u32 chooses, u32 from, u32 target)
{
    ops[from].skips = target - from - 1;
    ops[from].slots = ops[from].own = 0;
    for (u32 n = from + 1; n < target; n++) ops[n].over = 1 + chooses;
}

// A branch over a few instructions makes them predicated: they are issued for warps that skip them,
// too. So does one between a few and a few others, which nvcc often writes as a branch over a jump.
// A branch to the kernel's end becomes a predicated end.
static void predicate(const Kernel *k, Op *ops)
{
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const Insn *i = &k->code[pc];
        if (i->run != run_bra || !i->guard) continue;
        if ((ops[pc].ends = insn_ends(&k->code[i->target]))) continue;
        bool over_jump = i->target == pc + 2 && insn_jumps(i + 1) && i[1].target > pc + 2;
        u32 from = pc + over_jump, end = k->code[from].target;
        if (end <= from + 1) continue;
        const Insn *last = &k->code[end - 1];
        bool has_other = insn_jumps(last) && last->target > end;
        if (!can_be_predicated(k, ops, from + 1, end - has_other)
            || (has_other && !can_be_predicated(k, ops, end, last->target)))
            continue;
        if (over_jump) skip(ops, pc, pc, from + 1);
        skip(ops, pc, from, end);
        if (has_other) skip(ops, pc, end - 1, last->target);
    }
}

// ---- Wide accesses ----

// The pc's of accesses to words of one aligned 16 bytes of shared memory, by word; ~0: there is
// none.
typedef struct Window {
    u32 word[4];
} Window;

static bool is_word(const Insn *i, const IsaRow *row)
{
    return &isa_rows[i->row] == row && i->elements == 1 && i->width == 4;
}

// Those from `first` on that use the same base, up to whatever ptxas does not move them over.
static Window find_window(const Kernel *k, const Op *ops, u32 first)
{
    const Insn *i = &k->code[first];
    Window w = { { ~0u, ~0u, ~0u, ~0u } };
    bool stores = ops[first].kind == OP_STORE;
    for (u32 pc = first; pc < k->code_count && pc < first + 64; pc++) {
        const Insn *other = &k->code[pc];
        u32 word = other->offset / 4 & 3;
        if (ops[pc].kind >= OP_ATOMIC || (!stores && ops[pc].kind == OP_STORE)) break;
        if (stores && pc > first && ops[pc].kind != OP_PLAIN
            && &isa_rows[other->row] != &isa_rows[i->row])
            break;
        if (!is_word(other, &isa_rows[i->row]) || other->a != i->a
            || (other->offset ^ i->offset) & ~15 || ops[pc].wide.bytes)
            continue;
        if (other->guard == i->guard && w.word[word] == ~0u) w.word[word] = pc;
        if (touches(ops[pc].write, ops[pc].write_count, i->a / 64)) break;
    }
    return w;
}

// ptxas joins what it finds to be aligned: four words, or three of the four for loads; two, if they
// are the first or the last two. That is what it did with some fifteen small kernels; that it can
// tell what is aligned the native code must show.
static u32 choose_width(const Kernel *k, const Window *w, u32 word, bool stores)
{
    const u32 *native = stores ? k->native.shared.stores : k->native.shared.loads;
    u32 count = 0, pair = word & ~1u;
    for (u32 n = 0; n < 4; n++) count += w->word[n] != ~0u;
    if (count >= (stores ? 4 : 3) && native[2]) return 16;
    return w->word[pair] != ~0u && w->word[pair + 1] != ~0u && native[1] ? 8 : 4;
}

static u32 widen_all(const Kernel *k, Op *ops, const IsaRow *row, bool stores, u32 number)
{
    for (u32 pc = 0; pc < k->code_count; pc++) {
        if (!is_word(&k->code[pc], row) || ops[pc].wide.bytes) continue;
        Window w = find_window(k, ops, pc);
        u32 word = k->code[pc].offset / 4 & 3, bytes = choose_width(k, &w, word, stores),
            from = bytes == 16 ? 0 : word & ~1u;
        if (bytes == 4) continue;
        for (u32 n = from; n < from + bytes / 4; n++) {
            if (w.word[n] == ~0u) continue;
            Op *op = &ops[w.word[n]];
            op->wide = (Wide){ .bytes = (u8)bytes,
                               .offset = (u8)(4 * (n - from)),
                               .leads = w.word[n] == pc };
            op->wide_number = number;
            if (w.word[n] != pc) op->slots = op->own = 0;
        }
        number++;
    }
    return number;
}

static void widen(const Kernel *k, Op *ops)
{
    if (!k->native_known) return;
    u32 loads = widen_all(k, ops, isa_find("ld.shared", UNARY), false, 0);
    widen_all(k, ops, isa_find("st.shared", UNARY), true, loads);
}

// ---- Order ----

// Accesses of which one writes keep their order, unless they are to different spaces.
static bool may_meet(const Op *a, const Op *b)
{
    if (a->kind == OP_PLAIN || b->kind == OP_PLAIN || (a->kind == OP_LOAD && b->kind == OP_LOAD))
        return false;
    return a->space == b->space || a->space == SPACE_GENERIC || b->space == SPACE_GENERIC;
}

// Must `later` stay behind `earlier`?
static bool depends(const Op *later, const Op *earlier)
{
    for (u32 n = 0; n < earlier->write_count; n++)
        if (touches(later->read, later->read_count, earlier->write[n])
            || touches(later->write, later->write_count, earlier->write[n]))
            return true;
    for (u32 n = 0; n < later->write_count; n++)
        if (touches(earlier->read, earlier->read_count, later->write[n])) return true;
    return may_meet(later, earlier);
}

static bool ends_run(const Op *op)
{
    return op->kind == OP_BRANCH || op->kind == OP_BARRIER || op->kind == OP_ATOMIC
        || op->kind >= OP_COPY;
}

enum { WINDOW = 48 };

// Instructions of a run that have no place yet, and what each waits for.
typedef struct Plan {
    u64 *needs;      // of each: bit n, the instruction n + 1 places before it
    float *earliest; // when its operands are there, if loads hit
    bool *placed;
} Plan;

static void find_needs(const Op *ops, Plan *plan, u32 first, u32 end)
{
    for (u32 pc = first; pc < end; pc++) {
        plan->needs[pc] = 0;
        plan->earliest[pc] = 0;
        for (u32 n = 0; n < WINDOW && n < pc - first; n++)
            if (depends(&ops[pc], &ops[pc - 1 - n])) plan->needs[pc] |= 1ull << n;
    }
}

static bool can_go(const Plan *plan, u32 pc)
{
    for (u64 rest = plan->needs[pc]; rest; rest &= rest - 1)
        if (!plan->placed[pc - 1 - __builtin_ctzll(rest)]) return false;
    return true;
}

// The parts of a wide access after the first come with it.
static bool is_part(const Op *op) { return op->wide.bytes && !op->wide.leads; }
static bool is_load(const Op *op) { return op->kind == OP_LOAD && !is_part(op); }

// A list scheduler, as compilers have: of the instructions that could go next, the one that is
// ready first; loads before others, as long as not too many are under way.
static void order_run(Op *ops, Plan *plan, u32 first, u32 end)
{
    enum { UNDER_WAY = 16 };
    u32 stop = end - ends_run(&ops[end - 1]), lowest = first, under_way = 0;
    float now = 0;
    find_needs(ops, plan, first, stop);
    for (u32 next = first; next < stop; next++) {
        u32 best = ~0u;
        float best_start = 0;
        while (plan->placed[lowest]) lowest++;
        for (u32 pc = lowest; pc < stop && pc < lowest + WINDOW; pc++) {
            if (plan->placed[pc] || !can_go(plan, pc)) continue;
            float start = plan->earliest[pc] > now ? plan->earliest[pc] : now;
            if (is_part(&ops[pc])) start = -2;
            if (is_load(&ops[pc]))
                start += under_way < UNDER_WAY ? -1 : 1000; // registers wait for them
            if (best == ~0u || start < best_start) best = pc, best_start = start;
        }
        Op *op = &ops[best];
        now = (plan->earliest[best] > now ? plan->earliest[best] : now) + op->slots;
        op->rank = next;
        plan->placed[best] = true;
        if (is_load(op)) under_way += op->write_count;
        float done =
            now + (op->kind == OP_LOAD ? (float)profile.shared_latency_clocks : op->latency);
        for (u32 pc = best + 1; pc < stop && pc <= best + WINDOW; pc++)
            if (plan->needs[pc] >> (pc - 1 - best) & 1 && plan->earliest[pc] < done)
                plan->earliest[pc] = done;
        for (u64 rest = plan->needs[best]; rest; rest &= rest - 1) {
            u32 pc = best - 1 - __builtin_ctzll(rest);
            if (is_load(&ops[pc]))
                under_way -= under_way < ops[pc].write_count ? under_way : ops[pc].write_count;
        }
    }
    if (stop < end) ops[stop].rank = stop;
    for (u32 pc = first; pc < end; pc++) ops[pc].run_end = end;
}

static void order(const Kernel *k, Op *ops)
{
    Plan plan = { calloc(k->code_count, sizeof *plan.needs),
                  calloc(k->code_count, sizeof *plan.earliest),
                  calloc(k->code_count, sizeof *plan.placed) };
    bool *leader = calloc(k->code_count + 1, sizeof *leader);
    for (u32 pc = 0; pc < k->code_count; pc++) {
        if (ends_run(&ops[pc])) leader[pc + 1] = true;
        if (k->code[pc].run == run_bra) leader[k->code[pc].target] = true;
    }
    for (u32 first = 0, end; first < k->code_count; first = end) {
        for (end = first + 1; end < k->code_count && !leader[end]; end++) {}
        order_run(ops, &plan, first, end);
    }
    free(leader);
    free(plan.needs);
    free(plan.earliest);
    free(plan.placed);
}

static Op *make(const Kernel *k)
{
    Op *ops = calloc(k->code_count, sizeof *ops);
    if (!ops) return NULL;
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const Insn *i = &k->code[pc];
        const IsaRow *row = &isa_rows[i->row];
        ops[pc].kind = kind_of(i, row);
        ops[pc].space = i->space;
        ops[pc].past_l1 = coalesce_past_l1(i);
        find_rows(&ops[pc], i, row);
        find_cost(&ops[pc], row);
        if (ops[pc].kind == OP_BARRIER)
            ops[pc].latency = begins(row->name, "barrier_cluster") ? beyond_barrier() : 0;
        if (row->shape == MATRIX) matrix_cost(&ops[pc], i, row);
    }
    melt(k, ops);
    choose(k, ops);
    predicate(k, ops);
    widen(k, ops);
    order(k, ops);
    return ops;
}

const Op *ops_of(Kernel *k)
{
    if (!k->kept[KERNEL_OPS]) k->kept[KERNEL_OPS] = make(k);
    return k->kept[KERNEL_OPS];
}
