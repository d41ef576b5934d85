#include "operands.h"

#include "isa/tensor.h"

static void reads(Operands *o, u32 row)
{
    if (row && o->read_count < OPERANDS_READ) o->read[o->read_count++] = row / REGISTER_ROW;
}
static void writes(Operands *o, u32 row)
{
    if (row && o->written_count < OPERANDS_WRITTEN)
        o->written[o->written_count++] = row / REGISTER_ROW;
}

// d is the first in the list; if it is the only register, it is stored or loaded.
static void matrix_rows(Operands *o, const Insn *i)
{
    const Matrix *x = i->matrix;
    bool multiplies = i->op == ISA_multiply, moves = i->op == ISA_rows_transpose,
         stores = isa_rows[i->row].store;
    u32 all = moves   ? 2
            : i->list ? x->d.registers + x->a.registers + x->b.registers + x->c.registers
                      : 0;
    u32 written = multiplies ? x->d.registers : moves ? 1 : stores ? 0 : all;
    reads(o, i->a), reads(o, i->b), reads(o, i->c);
    for (u32 n = 0; n < all; n++) {
        if (n < written) writes(o, i->list[n]);
        else reads(o, i->list[n]);
    }
}

static void find(Operands *o, const Insn *i, const IsaRow *row)
{
    reads(o, i->guard);
    switch (row->shape) {
    case MEMORY:
        reads(o, i->a);
        for (u32 e = 0; e < i->elements; e++) {
            if (row->store) reads(o, i->vector[e]);
            else writes(o, i->vector[e]);
        }
        return;
    case MATRIX: matrix_rows(o, i); return;
    case FLOW:
    case FENCE:
        reads(o, i->a);
        reads(o, i->strong ? i->b : 0);
        writes(o, i->d);
        return;
    case UNPACK:
        reads(o, i->a);
        writes(o, i->d);
        writes(o, i->b);
        return;
    case PACK_4:
        for (u32 n = 0; n < 4; n++) reads(o, i->vector[n]);
        writes(o, i->d);
        return;
    case UNPACK_4:
        reads(o, i->a);
        for (u32 n = 0; n < 4; n++) writes(o, i->vector[n]);
        return;
    case COMPARE:
        reads(o, i->a), reads(o, i->b);
        if (i->combine) reads(o, i->c);
        writes(o, i->d), writes(o, i->predicate);
        if (i->as_number) writes(o, i->vector[0]);
        return;
    default:
        reads(o, i->a);
        if (row->inputs > 1 || row->shape == EXCHANGE || row->shape == ATOMIC
            || row->shape == SELECT)
            reads(o, i->b);
        if (row->inputs > 2 || row->shape == EXCHANGE || row->shape == ATOMIC
            || row->shape == SELECT)
            reads(o, i->c);
        if (row->shape == INSERT) reads(o, i->vector[0]);
        writes(o, i->d);
    }
}

Operands operands_of(const Insn *i)
{
    Operands o = { .read_count = 0 };
    find(&o, i, insn_row(i));
    return o;
}
