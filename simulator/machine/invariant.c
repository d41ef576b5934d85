#include "invariant.h"
#include <stdlib.h>

#include "isa/isa.h"
#include "program/constant.h"
#include "special.h"
#include "base/need.h"

enum { ROW = 64 }; // bytes of a register row

typedef struct Registers {
    u8 *writers;        // instructions that may write the register: 0, 1, or 2 for more
    bool *is_invariant; // its value is the same in every block
} Registers;

static void add_writer(Registers *r, u32 row)
{
    if (row && r->writers[row / ROW] < 2) r->writers[row / ROW]++;
}

// Some of these registers are only read. Counting them as written makes an instruction count as
// variant, which is harmless.
static void add_writers(Registers *r, const Insn *i)
{
    add_writer(r, i->d);
    add_writer(r, i->predicate);
    if (isa_rows[i->row].shape == UNPACK) add_writer(r, i->b);
    for (u32 n = 0; n < 4; n++) add_writer(r, i->vector[n]);
}

static bool is_invariant(const Registers *r, u32 row) { return r->is_invariant[row / ROW]; }
static bool is_only(const Registers *r, u32 row) { return row && r->writers[row / ROW] == 1; }

static bool is_parameter(const Registers *r, const Insn *i)
{
    if (i->op != ISA_load_param || i->space == SPACE_CALL || i->a) return false;
    for (u32 e = 0; e < i->elements; e++)
        if (!is_only(r, i->vector[e])) return false;
    return true;
}

static bool is_computed(const Registers *r, const Insn *i)
{
    const IsaRow *row = &isa_rows[i->row];
    bool plain = row->shape == UNARY || row->shape == BINARY || row->shape == TERNARY
              || row->shape == CONVERT;
    return plain && i->op == row->op && is_only(r, i->d) && is_invariant(r, i->a)
        && (row->inputs < 2 || is_invariant(r, i->b)) && (row->inputs < 3 || is_invariant(r, i->c));
}

// Calls save and restore registers, and lists name registers that are not looked at here.
static bool is_simple(const Kernel *k)
{
    for (u32 pc = 0; pc < k->code_count; pc++)
        if (k->code[pc].list || k->code[pc].matrix) return false;
    return !k->function_count && !k->call_count;
}

static void find(Kernel *k, Registers *r)
{
    for (u32 n = 0; n < k->constant_count; n++)
        r->is_invariant[k->constants[n].row / ROW] = !special_changes(k->constants[n].special);
    for (u32 pc = 0; pc < k->code_count; pc++) add_writers(r, &k->code[pc]);
    for (u32 pc = 0; pc < k->code_count; pc++) {
        Insn *i = &k->code[pc];
        bool parameter = !i->guard && is_parameter(r, i), computed = !i->guard && is_computed(r, i);
        if (parameter)
            for (u32 e = 0; e < i->elements; e++) r->is_invariant[i->vector[e] / ROW] = true;
        if (computed) r->is_invariant[i->d / ROW] = true;
        if (parameter || computed) i->invariant = ++k->invariant_count;
    }
}

// A warp that has run the last instruction of such a run has run all of it.
static void find_runs(Kernel *k, bool *target)
{
    for (u32 pc = 0; pc < k->code_count; pc++)
        if (k->code[pc].op == ISA_bra) target[k->code[pc].target] = true;
    for (u32 pc = k->code_count; pc-- > 0;) {
        bool goes_on = k->code[pc].invariant && pc + 1 < k->code_count && !target[pc + 1];
        k->code[pc].invariant_run =
            k->code[pc].invariant ? 1 + (goes_on ? k->code[pc + 1].invariant_run : 0) : 0;
    }
}

void invariant_find(Kernel *k)
{
    if (k->invariant_known) return;
    k->invariant_known = true;
    if (!is_simple(k)) return;
    u32 rows = k->register_bytes / ROW + 1;
    Registers r = { need(calloc(rows, sizeof *r.writers)),
                    need(calloc(rows, sizeof *r.is_invariant)) };
    find(k, &r);
    bool *target = need(calloc(k->code_count + 1, sizeof *target));
    find_runs(k, target);
    free(target);
    free(r.writers);
    free(r.is_invariant);
}
