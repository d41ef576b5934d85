// How marks of undefined values propagate through instructions of which not every operand marks
// every result.
#include "undefined_marks.h"

#include "isa/tensor.h"

// A select takes the mark of the operand that each lane selects.
u32 marks_of_select(const Warp *w, const Insn *i)
{
    u32 p = *(u32 *)row_of(w, i->c);
    return *mark(w, i->c) | (p & *mark(w, i->a)) | (~p & *mark(w, i->b));
}

// false && x is false and true || x is true, whatever x is.
u32 marks_of_logic(const Warp *w, const Insn *i, const IsaRow *row)
{
    u32 ma = *mark(w, i->a), mb = row->inputs > 1 ? *mark(w, i->b) : 0;
    u32 a = *(u32 *)row_of(w, i->a), b = *(u32 *)row_of(w, i->b);
    if (row->op == ISA_and) return (ma | mb) & (ma | a) & (mb | b);
    if (row->op == ISA_or) return (ma | mb) & (ma | ~a) & (mb | ~b);
    return ma | mb;
}

// A comparison and the boolean operation on its result.
void marks_compare(const Warp *w, const Insn *i, u32 mask, u32 guard)
{
    u32 marks = *mark(w, i->a) | *mark(w, i->b);
    if (i->combine) marks |= *mark(w, i->c);
    if (i->combine == COMBINE_AND || i->combine == COMBINE_OR) {
        // A third operand that decides by itself hides the comparison's mark.
        u32 c = *(u32 *)row_of(w, i->c) ^ i->flip;
        marks &= *mark(w, i->c) | (i->combine == COMBINE_AND ? c : ~c);
    }
    u32 *to[] = { mark(w, i->d), mark(w, i->predicate), mark(w, i->vector[0]) };
    for (u32 n = 0; n < 3; n++)
        if (n == 0 || (n == 1 && i->predicate) || (n == 2 && i->as_number))
            *to[n] = (*to[n] & ~mask) | (marks & mask) | guard;
}

// Vectors of four: a mark on one element marks the packed value, and a mark on that marks each
// element.
void marks_four(const Warp *w, const Insn *i, u32 mask, u32 guard, bool pack)
{
    u32 marks = pack ? 0 : *mark(w, i->a);
    for (u32 n = 0; n < 4 && pack; n++) marks |= *mark(w, i->vector[n]);
    for (u32 n = 0; n < (pack ? 1 : 4); n++) {
        u32 *d = mark(w, pack ? i->d : i->vector[n]);
        *d = (*d & ~mask) | (marks & mask) | guard;
    }
}

// Parameters and results of calls have a mark for each two bytes. As in memory, a partly written
// value counts as written.
void marks_param(const Warp *w, const Insn *i, u32 mask, bool store)
{
    for (u32 e = 0; e < i->elements; e++) {
        u32 at = i->offset + e * i->width, marks = mask, *part = mark(w, i->a) + at / 2,
            *to = mark(w, i->vector[e]);
        for (u32 n = 0; n < (i->width + 1u) / 2; n++) {
            if (!store) marks &= part[n];
            else part[n] = (part[n] & ~mask) | (*to & mask & (at % 2 ? part[n] : ~0u));
        }
        if (!store) *to = (*to & ~mask) | marks;
    }
}

// The rows (of b: the columns) of an operand that hold an undefined element.
static u32 marked_rows(const Warp *w, const Fragment *f, const u32 *rows)
{
    u32 marked = 0;
    for (u32 r = 0; r < f->distinct; r++)
        for (u32 lanes = *mark(w, rows[r]); lanes; lanes &= lanes - 1)
            marked |= 1u << (f->row[r] + __builtin_ctz(lanes) / 4);
    return marked;
}

// An element of the product depends on its row of a, its column of b and its element of c.
void marks_multiply(const Warp *w, const Insn *i)
{
    const Matrix *x = i->matrix;
    const u32 *d = i->list, *a = d + x->d.registers, *b = a + x->a.registers,
              *c = b + x->b.registers;
    u32 down = marked_rows(w, &x->a, a), across = marked_rows(w, &x->b, b),
        marked[MOST_SIDE] = { 0 };
    const Fragment *f = &x->c;
    for (u32 r = 0; r < f->registers; r++)
        for (u32 lanes = *mark(w, c[r]); lanes; lanes &= lanes - 1) {
            u32 l = __builtin_ctz(lanes);
            for (u32 j = 0; j < f->per; j++)
                marked[f->row[r] + l / 4] |= 1u << (f->col[r] + l % 4 * 2 + j);
        }
    f = &x->d;
    u32 rows = f->turned ? across : down, cols = f->turned ? down : across;
    for (u32 r = 0; r < f->registers; r++) {
        u32 lanes = 0;
        for (u32 l = 0; l < LANES; l++)
            for (u32 j = 0; j < f->per; j++) {
                u32 row = f->row[r] + l / 4, col = f->col[r] + l % 4 * 2 + j;
                lanes |= ((rows >> row | cols >> col | marked[row] >> col) & 1) << l;
            }
        *mark(w, d[r]) = lanes;
    }
}
