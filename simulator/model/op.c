// From PTX to what the hardware executes, as far as time depends on it. The rules were inferred
// from ptxas's output for compute capability 9.0; rates and latencies are the device profile's.
//
// - Address arithmetic folds: a widening product or a shift that is only added becomes part of the
// addition; conversions between integers and between address spaces vanish.
// - Within a run of instructions without a branch, a barrier or a store, loads move up as far as
// their operands allow, so that they are in flight together.
#include "op.h"

#include <stdlib.h>
#include <string.h>

#include "isa/tensor.h"
#include "machine/profile.h"
#include "native.h"
#include "op_cost.h"
#include "slots.h"

static void find_rows(Op *op, const Insn *i)
{
    const Operands o = operands_of(i);
    memcpy(op->read, o.read, sizeof op->read);
    memcpy(op->write, o.written, sizeof op->write);
    op->read_count = o.read_count;
    op->write_count = o.written_count;
}

static enum op_kind matrix_kind(const IsaRow *row)
{
    switch (row->op) {
    case ISA_copy: return OP_COPY;
    case ISA_copy_commit: return OP_COMMIT;
    case ISA_copy_wait: return OP_WAIT;
    case ISA_copy_arrive: return OP_ARRIVE;
    case ISA_bulk: return OP_BULK;
    case ISA_bulk_wait: return OP_BULK_WAIT;
    case ISA_bulk_commit: return OP_BRANCH;
    case ISA_multiply:
    case ISA_rows_transpose: return OP_PLAIN;
    default: return row->store ? OP_STORE : OP_LOAD;
    }
}

static enum op_kind flow_kind(const IsaRow *row)
{
    switch (row->op) {
    case ISA_cluster_arrive: return OP_PLAIN;
    case ISA_bar_sync:
    case ISA_bar_arrive:
    case ISA_bar_red:
    case ISA_cluster_wait: return OP_BARRIER;
    default: return OP_BRANCH;
    }
}

static enum op_kind kind_of(const Insn *i, const IsaRow *row)
{
    switch (row->shape) {
    case MATRIX: return matrix_kind(row);
    case MEMORY:
        return i->space == SPACE_PARAM || i->space == SPACE_CALL ? OP_PLAIN
             : row->store                                        ? OP_STORE
                                                                 : OP_LOAD;
    case ATOMIC: return OP_ATOMIC;
    case FENCE: return OP_BRANCH;
    case FLOW: return flow_kind(row);
    case EXCHANGE: return row->op == ISA_bar_warp ? OP_BRANCH : OP_PLAIN;
    default: return OP_PLAIN;
    }
}

// ---- Address arithmetic ----

// Folds a widening product or a shift into the additions that alone use its result.
static void fold_address_arithmetic(const Kernel *k, Op *ops)
{
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const Insn *i = &k->code[pc];
        bool product = i->op == ISA_mul_wide, shift = i->row == ROW_shl_b64;
        if (!product && !shift) continue;
        u32 uses = 0, sums = 0;
        for (u32 n = 0; n < k->code_count; n++) {
            bool uses_it = false;
            for (u32 r = 0; r < ops[n].read_count; r++)
                uses_it |= ops[n].read[r] == ops[pc].write[0];
            u32 other = k->code[n].row;
            uses += uses_it;
            sums += uses_it && (other == ROW_add_s64 || other == ROW_add_u64);
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

// A select of a value that is computed for it alone: that instruction is predicated instead.
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

// Is it one for which instructions before `end` wait long?
static bool is_waited_for(const Op *ops, u32 pc, u32 end)
{
    if (ops[pc].kind != OP_LOAD || ops[pc].space == SPACE_SHARED) return false;
    for (u32 n = pc + 1; n < end; n++)
        for (u32 r = 0; r < ops[n].read_count; r++)
            if (touches(ops[pc].write, ops[pc].write_count, ops[n].read[r])) return true;
    return false;
}

// A few instructions that neither wait for memory nor use an atomic's result.
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

// The instructions between the branch at `from` and its target are issued as often as the branch.
static void skip(Op *ops, u32 chooses, u32 from, u32 target)
{
    ops[from].skips = target - from - 1;
    ops[from].slots = ops[from].own = 0;
    for (u32 n = from + 1; n < target; n++) ops[n].over = 1 + chooses;
}

// A branch over a few instructions is replaced by predicates: they are issued for warps that skip
// them too. So is a branch between a few instructions and a few others, which nvcc often writes as
// a branch over a jump. A branch to the kernel's end becomes a predicated exit.
static void predicate(const Kernel *k, Op *ops)
{
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const Insn *i = &k->code[pc];
        if (i->op != ISA_bra || !i->guard) continue;
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

// The accesses to words of one aligned 16-byte group of shared memory, by word; ~0: none.
typedef struct Window {
    u32 word[4];
} Window;

static bool is_word(const Insn *i, const IsaRow *row)
{
    return &isa_rows[i->row] == row && i->elements == 1 && i->width == 4;
}

// Accesses from `first` on with the same base, up to an instruction over which ptxas does not move
// them.
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

// ptxas merges what it knows to be aligned: four words, or three of the four for loads; or the
// first two or the last two words. This was inferred from some fifteen small kernels; only the
// native code shows what it can prove to be aligned.
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
    u32 loads = widen_all(k, ops, &isa_rows[ROW_ld_shared], false, 0);
    widen_all(k, ops, &isa_rows[ROW_st_shared], true, loads);
}

// ---- Order ----

// Two accesses of which one writes keep their order, unless their spaces differ.
static bool may_meet(const Op *a, const Op *b)
{
    if (a->kind == OP_PLAIN || b->kind == OP_PLAIN || (a->kind == OP_LOAD && b->kind == OP_LOAD))
        return false;
    return a->space == b->space || a->space == SPACE_GENERIC || b->space == SPACE_GENERIC;
}

// Must `later` stay after `earlier`?
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

// The instructions of a run that are not scheduled yet, and what each waits for.
typedef struct Plan {
    u64 *needs;      // of each: bit n stands for the instruction n + 1 places before it
    float *earliest; // when its operands are ready, if loads hit
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

static bool is_load(const Op *op) { return op->kind == OP_LOAD && !op_is_part(op); }

// A list scheduler, as in compilers: of the instructions whose predecessors are scheduled, the one
// that is ready first; loads before others, unless too many are in flight.
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
            if (op_is_part(&ops[pc])) start = -2;
            if (is_load(&ops[pc]))
                start += under_way < UNDER_WAY ? -1 : 1000; // their registers would be occupied
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
        if (k->code[pc].op == ISA_bra) leader[k->code[pc].target] = true;
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
        if (i->row == ROW_ld_const) ops[pc].space = SPACE_PARAM;
        find_rows(&ops[pc], i);
        op_find_cost(&ops[pc], i);
        // A constant at a known address is an operand of what uses it.
        if (i->row == ROW_ld_const && !i->a)
            ops[pc].kind = OP_PLAIN, ops[pc].slots = ops[pc].own = ops[pc].latency = 0;
    }
    fold_address_arithmetic(k, ops);
    choose(k, ops);
    predicate(k, ops);
    widen(k, ops);
    order(k, ops);
    return k->native_known ? native_follow(k, ops) : ops;
}

const Op *ops_of(Kernel *k)
{
    if (!k->kept[KERNEL_OPS]) k->kept[KERNEL_OPS] = make(k);
    return k->kept[KERNEL_OPS];
}
