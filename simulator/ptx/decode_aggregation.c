// Which atomics ptxas does once for a warp. Where it knows that all lanes mean one word, since the
// address comes of parameters, numbers of blocks and the like, it counts them by a vote and lets
// one add the operand that many times; each works out its share of the result. Operands that may
// differ it adds up lane by lane, if all 32 are there, or combines where nobody wants the result
// (REDUX); for 64 bits there is neither. (Seen in what nvcc 13.0 makes for sm_90.)
//
// The same tells which branches may part a warp's lanes.
#include "body.h"
#include <stdlib.h>
#include <string.h>


enum { ROW = 64 }; // bytes: rows of the register file begin at multiples

static bool is_of_lane(u32 special)
{
    return (special >= SPECIAL_TID_X && special <= SPECIAL_TID_Z) || special == SPECIAL_LANEID
        || (special >= SPECIAL_LANEMASK_EQ && special <= SPECIAL_LANEMASK_GE);
}

// May its lanes have different results? What is loaded from one place is one value.
static bool may_differ(const Insn *i, const bool *differs)
{
    const IsaRow *row = &isa_rows[i->row];
    if (row->shape == ATOMIC || row->shape == EXCHANGE || row->shape == FLOW
        || row->shape == MATRIX)
        return true;
    if (row->shape == MEMORY)
        return i->space == SPACE_CALL || i->space == SPACE_LOCAL || differs[i->guard / ROW]
            || differs[i->a / ROW];
    bool any = differs[i->guard / ROW] || differs[i->a / ROW] || differs[i->b / ROW]
            || differs[i->c / ROW];
    for (u32 e = 0; e < 4; e++) any |= differs[i->vector[e] / ROW];
    return any;
}

static bool mark(bool *differs, u32 row)
{
    bool fresh = row && !differs[row / ROW];
    if (fresh) differs[row / ROW] = true;
    return fresh;
}

static bool mark_results(bool *differs, const Insn *i)
{
    const IsaRow *row = &isa_rows[i->row];
    bool fresh = mark(differs, i->d) | mark(differs, i->predicate);
    if (row->shape == UNPACK) fresh |= mark(differs, i->b);
    if ((row->shape == MEMORY && !row->store) || row->shape == UNPACK_4 || i->as_number)
        for (u32 e = 0; e < 4; e++) fresh |= mark(differs, i->vector[e]);
    return fresh;
}

static bool is_number(const Kernel *k, u32 row, u64 value)
{
    for (u32 n = 0; n < k->constant_count; n++)
        if (k->constants[n].row == row)
            return !k->constants[n].special && k->constants[n].value == value;
    return false;
}

static enum aggregation how(const Kernel *k, const Insn *i, bool operand_differs)
{
    enum type type = isa_rows[i->row].type[0];
    bool word = type == TYPE_u32 || type == TYPE_s32;
    bool adds =
        i->op == ISA_atom_add || (i->op == ISA_atom_inc && is_number(k, i->vector[0], 0xffffffff));
    bool combines = i->reduces
                 && (i->op == ISA_atom_min || i->op == ISA_atom_max || i->op == ISA_atom_and
                     || i->op == ISA_atom_or || i->op == ISA_atom_xor);
    if (i->elements > 1 || (!word && type != TYPE_u64)) return AGGREGATE_NONE;
    if (adds && !operand_differs) return AGGREGATE_ALWAYS;
    if (!word) return AGGREGATE_NONE;
    return combines || (adds && i->reduces) ? AGGREGATE_ALWAYS
         : adds                             ? AGGREGATE_FULL_WARP
                                            : AGGREGATE_NONE;
}

void body_find_aggregation(Body *b)
{
    Kernel *k = b->k;
    bool *differs = calloc(b->rows / ROW + 1, sizeof *differs), fresh = true;
    if (!differs) abort();
    for (u32 n = 0; n < k->constant_count; n++)
        differs[k->constants[n].row / ROW] = is_of_lane(k->constants[n].special);
    while (fresh) {
        fresh = false;
        for (u32 pc = 0; pc < k->code_count; pc++)
            if (may_differ(&k->code[pc], differs)) fresh |= mark_results(differs, &k->code[pc]);
    }
    for (Insn *i = k->code; i < k->code + k->code_count; i++) {
        if (isa_rows[i->row].shape == ATOMIC && !differs[i->a / ROW])
            i->aggregation = how(k, i, differs[i->vector[0] / ROW]);
        i->may_diverge = i->op == ISA_bra && differs[i->guard / ROW];
    }
    free(differs);
}
