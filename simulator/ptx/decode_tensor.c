// Reads the instructions of Tensor Cores and what feeds them (isa/tensor.def): matrices in
// lists of registers, and asynchronous copies.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "body.h"
#include "isa/tensor.h"

// An opcode without what the table leaves out: of that, where the matrix lies, and how.
static void plain_opcode(const char *opcode, Insn *i, Matrix *x, char *plain, size_t size)
{
    static const char *const dropped[] = {
        "sync",     "aligned", "row", "col", "L2::cache_hint", "L2::64B", "L2::128B",
        "L2::256B", "b64",     "rn",  NULL
    };
    char parts[128];
    snprintf(parts, sizeof parts, "%s", opcode);
    char *rest = parts;
    snprintf(plain, size, "%s", strsep(&rest, "."));
    i->space = SPACE_GENERIC;
    for (char *part; (part = strsep(&rest, "."));) {
        if (!strcmp(part, "col")) x->by_columns = true;
        if (!strcmp(part, "satfinite")) x->saturate = true;
        else if (!strcmp(part, "global")) i->space = SPACE_GLOBAL;
        else if (!strcmp(part, "shared") || !strcmp(part, "shared::cta")) i->space = SPACE_SHARED;
        else if (!body_is_one_of(part, dropped))
            snprintf(plain + strlen(plain), size - strlen(plain), ".%s", part);
    }
}

static u32 number(Body *b, enum type type, bool write)
{
    return write ? body_destination(b, type, NULL) : body_source(b, type, NULL);
}

// Bits of a register's type do not matter: they are 32, or a double's 64.
static u32 word(Body *b, bool write) { return number(b, TYPE_u32, write); }

static void list(Body *b, u32 *rows, u32 count, enum type type, bool write)
{
    Ptx *p = b->p;
    if (count == 1 && !ptx_is(p, "{")) {
        *rows = number(b, type, write);
        return;
    }
    ptx_expect(p, "{");
    for (u32 n = 0; n < count; n++) {
        if (n) ptx_expect(p, ",");
        rows[n] = number(b, type, write);
    }
    ptx_expect(p, "}");
}

static enum type register_type(const Fragment *f)
{
    return f->type == TYPE_f64 ? TYPE_f64 : TYPE_u32;
}

// {registers}, [address], stride, or the address first.
static void matrix_in_memory(Body *b, Insn *i, u32 *rows, u32 count, enum type type, bool store)
{
    if (!store) list(b, rows, count, type, true), ptx_expect(b->p, ",");
    body_address_operand(b, i);
    if (store) ptx_expect(b->p, ","), list(b, rows, count, type, false);
    if (i->op != ISA_rows_load && i->op != ISA_rows_store && ptx_accept(b->p, ","))
        i->b = body_source(b, TYPE_u32, NULL);
}

static void all_registers(Body *b, u32 *rows, const Matrix *x)
{
    const Fragment *parts[] = { &x->d, &x->a, &x->b, &x->c };
    for (u32 n = 0; n < 4; rows += parts[n++]->registers) {
        if (n) ptx_expect(b->p, ",");
        list(b, rows, parts[n]->registers, register_type(parts[n]), n == 0);
    }
}

static void matrix_operands(Body *b, Insn *i, const IsaRow *row, Matrix *x)
{
    u32 *rows = decoder_keep(b->d, 4 * MOST_FRAGMENT * sizeof *rows);
    i->list = rows;
    i->members = body_constant(b, 4, ~0u, SPECIAL_NONE);
    u32 count = x->d.registers + x->a.registers + x->b.registers + x->c.registers;
    if (i->op == ISA_multiply) all_registers(b, rows, x);
    else if (i->op == ISA_rows_transpose)
        rows[0] = word(b, true), ptx_expect(b->p, ","), rows[1] = word(b, false);
    else
        matrix_in_memory(b, i, rows, count,
                         register_type(x->a.registers   ? &x->a
                                       : x->b.registers ? &x->b
                                       : x->c.registers ? &x->c
                                                        : &x->d),
                         row->store);
}

// [to], [from], bytes [, bytes given | predicate: none] [, policy]
static void copy_operands(Body *b, Insn *i, const IsaRow *row, Matrix *x, const char *opcode)
{
    Insn from = { .space = SPACE_GLOBAL };
    i->space = SPACE_SHARED;
    body_address_operand(b, i);
    ptx_expect(b->p, ",");
    body_address_operand(b, &from);
    if (from.source_width != 8)
        ptx_fail(b->p, "the address in global memory is a register of 64 bits");
    i->b = from.a;
    x->offset_from = (u32)from.offset;
    ptx_expect(b->p, ",");
    x->bytes = (u32)ptx_integer(b->p);
    if (x->bytes != 4 && x->bytes != 8 && x->bytes != 16)
        ptx_fail(b->p, "cp.async copies 4, 8 or 16 bytes, not %u", x->bytes);
    x->past_l1 = row->past_l1;
    bool policy = strstr(opcode, "L2::cache_hint");
    i->c = body_constant(b, 4, x->bytes, SPECIAL_NONE);
    if (!ptx_accept(b->p, ",")) return;
    u32 width = 4;
    bool not = ptx_is(b->p, "!");
    if (b->p->token == TOKEN_WORD) {
        u32 register_row;
        body_register(b, obstack_copy0(b->p->memory, b->p->start, b->p->length), &register_row,
                      &width);
    }
    if (policy && width == 8) {
        body_source(b, TYPE_u64, NULL);
        return;
    }
    if (not || !width) {
        ptx_accept(b->p, "!");
        x->ignores = true;
        i->flip = not ? ~0u : 0;
        i->c = body_source(b, TYPE_pred, NULL);
    } else {
        i->c = body_source(b, TYPE_u32, NULL);
    }
    if (policy && ptx_accept(b->p, ",")) body_source(b, TYPE_u64, NULL);
}

static void arrival_operands(Body *b, Insn *i, const IsaRow *row, Matrix *x)
{
    x->noinc = row->noinc;
    i->strong = true;
    i->order = ORDER_RELEASE;
    i->scope = SCOPE_CTA;
    body_address_operand(b, i);
}

bool body_tensor(Body *b, const char *opcode, Insn *i)
{
    static const char *const heads[] = { "wmma",      "mma", "ldmatrix", "stmatrix",
                                         "movmatrix", "cp",  NULL };
    char head[16] = "", plain[128];
    if (strcspn(opcode, ".") < sizeof head) memcpy(head, opcode, strcspn(opcode, "."));
    if (!body_is_one_of(head, heads)) return false;
    Matrix *x = decoder_keep(b->d, sizeof *x);
    plain_opcode(opcode, i, x, plain, sizeof plain);
    const IsaRow *row = isa_find(plain, UNARY);
    if (!row || row->shape != MATRIX) return false;
    body_set_row(i, row);
    i->matrix = x;
    matrix_of(row, x);
    if (i->op == ISA_copy) copy_operands(b, i, row, x, opcode);
    else if (i->op == ISA_copy_wait) i->offset = row->all ? -1 : (s64)ptx_integer(b->p);
    else if (i->op == ISA_copy_arrive) arrival_operands(b, i, row, x);
    else if (i->op != ISA_copy_commit) matrix_operands(b, i, row, x);
    return true;
}
