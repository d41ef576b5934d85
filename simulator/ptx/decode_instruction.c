// Reads an instruction: finds its row in the table, and its operands as the row's shape has
// them. One that is not in the table makes its kernel unsupported, by name, and the rest is read
// all the same.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "body.h"

Insn *body_insn(Body *b)
{
    Kernel *k = b->k;
    if (k->code_count == b->code_room) {
        b->code_room = b->code_room ? 2 * b->code_room : 128;
        Insn *larger = decoder_keep(b->d, b->code_room * sizeof *larger);
        if (k->code) memcpy(larger, k->code, k->code_count * sizeof *larger);
        k->code = larger;
    }
    Insn *i = &k->code[k->code_count++];
    *i = (Insn){ .location = b->location };
    return i;
}

void body_skip(Body *b)
{
    while (!ptx_is(b->p, ";")) {
        if (b->p->token == TOKEN_END) ptx_fail(b->p, "a ';' is missing");
        ptx_next(b->p);
    }
}

// mov of a clock, which has its own time to be read.
static bool clock_operand(Body *b, Insn *i, const IsaRow *row)
{
    char name[32];
    if (b->p->token != TOKEN_WORD || row->shape != UNARY || row->op != ISA_mov) return false;
    snprintf(name, sizeof name, "%.*s", (int)b->p->length, b->p->start);
    i->target = body_special(name);
    if (!body_is_clock(i->target)) return false;
    i->op = ISA_clock;
    ptx_next(b->p);
    return true;
}

static void list_of_four(Body *b, Insn *i, enum type type, bool write)
{
    ptx_expect(b->p, "{");
    for (u32 n = 0; n < 4; n++) {
        if (n) ptx_expect(b->p, ",");
        i->vector[n] = write ? body_destination(b, type, NULL) : body_source(b, type, NULL);
    }
    ptx_expect(b->p, "}");
}

static void four_operands(Body *b, Insn *i, const IsaRow *row)
{
    if (row->shape == UNPACK_4) list_of_four(b, i, row->type[0], true);
    else i->d = body_destination(b, row->type[0], NULL);
    ptx_expect(b->p, ",");
    if (row->shape == PACK_4) list_of_four(b, i, row->type[1], false);
    else i->a = body_source(b, row->type[1], NULL);
}

// d|p, a, b, c, table, q
static void table_operands(Body *b, Insn *i, const IsaRow *row)
{
    Ptx *p = b->p;
    i->d = body_destination(b, TYPE_u32, NULL);
    bool predicate = row->combine != COMBINE_NONE;
    if (predicate) ptx_expect(p, "|"), i->predicate = body_destination(b, TYPE_pred, NULL);
    u32 *operands[] = { &i->a, &i->b, &i->c };
    for (u32 n = 0; n < 3; n++) ptx_expect(p, ","), *operands[n] = body_source(b, TYPE_u32, NULL);
    ptx_expect(p, ",");
    i->offset = ptx_integer(p);
    if (!predicate) return;
    i->combine = row->combine;
    ptx_expect(p, ",");
    i->flip = ptx_accept(p, "!") ? ~0u : 0;
    i->members = body_source(b, TYPE_pred, NULL);
}

static void alu_operands(Body *b, Insn *i, const IsaRow *row)
{
    Ptx *p = b->p;
    bool convert = row->shape == CONVERT;
    u8 width;
    if (row->shape == UNPACK) {
        ptx_expect(p, "{");
        i->d = body_destination(b, row->type[0], NULL);
        ptx_expect(p, ",");
        i->b = body_destination(b, row->type[2], NULL);
        ptx_expect(p, "}");
    } else {
        i->d = body_destination(b, row->type[0], convert ? &i->register_width : NULL);
    }
    if (convert && i->register_width < isa_type_width(row->type[0]))
        ptx_fail(p, "the register is narrower than .%s", isa_type_name(row->type[0]));
    ptx_expect(p, ",");
    if (clock_operand(b, i, row)) return;
    if (row->shape == PACK) ptx_expect(p, "{");
    i->a = body_source(b, row->type[1], convert ? &width : NULL);
    if (i->row == ROW_isspacep_shared) i->op = ISA_isspacep_own;
    if (convert) i->source_width = width;
    if (convert && width < isa_type_width(row->type[1]))
        ptx_fail(p, "the register is narrower than .%s", isa_type_name(row->type[1]));
    if (row->inputs > 1) ptx_expect(p, ","), i->b = body_source(b, row->type[2], NULL);
    if (row->shape == PACK) ptx_expect(p, "}");
    if (row->inputs > 2) ptx_expect(p, ","), i->c = body_source(b, row->type[3], NULL);
    if (row->shape == INSERT) ptx_expect(p, ","), i->vector[0] = body_source(b, TYPE_u32, NULL);
    if (row->shape == CARRY && !b->carry) b->carry = body_rows(b, 0, 1);
    if (row->shape == CARRY) i->predicate = b->carry;
}

// d|q, a, b, c, members: what of these the row has, in this order.
static void exchange_operands(Body *b, Insn *i, const IsaRow *row)
{
    Ptx *p = b->p;
    bool first = true;
    for (const char *o = row->operands; *o; o++) {
        if (*o == ',' || *o == ' ' || *o == '|') continue;
        if (*o != 'q' && !first) ptx_expect(p, ",");
        first = false;
        if (*o == 'd') i->d = body_destination(b, row->type[0], NULL);
        else if (*o == 'q')
            i->predicate = ptx_accept(p, "|") ? body_destination(b, TYPE_pred, NULL) : 0;
        else if (*o == 'a')
            i->flip = ptx_accept(p, "!") ? ~0u : 0, i->a = body_source(b, row->type[1], NULL);
        else if (*o == 'b') i->b = body_source(b, TYPE_u32, NULL);
        else if (*o == 'c') i->c = body_source(b, TYPE_u32, NULL);
        else {
            i->members = body_source(b, TYPE_u32, NULL);
            break;
        }
    }
}

// Is the next operand a predicate?
static bool at_predicate(Body *b)
{
    Ptx *p = b->p;
    u32 row, width = 1;
    if (ptx_is(p, "!")) return true;
    return p->token == TOKEN_WORD
        && body_register(b, obstack_copy0(p->memory, p->start, p->length), &row, &width) && !width;
}

// [d,] number [, threads] [, predicate]
static void barrier_operands(Body *b, Insn *i, const IsaRow *row)
{
    Ptx *p = b->p;
    bool reduces = row->vote != VOTE_NONE;
    if (reduces)
        i->d = body_destination(b, row->vote == VOTE_COUNT ? TYPE_u32 : TYPE_pred, NULL),
        ptx_expect(p, ",");
    i->a = body_source(b, TYPE_u32, NULL);
    if (ptx_accept(p, ",")) {
        bool last = at_predicate(b);
        if (!last) i->b = body_source(b, TYPE_u32, NULL);
        if (reduces && !last) ptx_expect(p, ",");
    }
    if (reduces) i->flip = ptx_accept(p, "!") ? ~0u : 0, i->c = body_source(b, TYPE_pred, NULL);
}

// alloca d, bytes [, alignment]; stacksave d; stackrestore a
static void stack_operands(Body *b, Insn *i, const IsaRow *row)
{
    Ptx *p = b->p;
    bool writes = row->op != ISA_stackrestore;
    if (writes) i->d = body_destination(b, TYPE_u64, NULL);
    if (writes && !ptx_accept(p, ",")) return;
    i->a = body_source(b, TYPE_u64, NULL);
    i->offset = ptx_accept(p, ",") ? ptx_integer(p) : 8;
}

// index, name of a list of labels
static void target_operands(Body *b, Insn *i)
{
    Ptx *p = b->p;
    i->a = body_source(b, TYPE_u32, NULL);
    ptx_expect(p, ",");
    char *name = ptx_word(p);
    const Symbol *s = symbol_find(b->names, name);
    if (!s || s->kind != SYMBOL_TARGETS) ptx_fail(p, "%s is no list of branch targets", name);
    i->list = (const u32 *)s->value;
    i->target = s->count;
}

// Of a cluster: all threads of the block.
static void cluster_operands(Body *b, Insn *i, const IsaRow *row)
{
    b->k->has_cluster_barrier = true;
    i->scope = SCOPE_CLUSTER;
    i->order = row->order;
    i->members = body_constant(b, 4, ~0u, SPECIAL_NONE);
}

static void branch_operands(Body *b, Insn *i)
{
    Fixup *f = decoder_keep(b->d, sizeof *f);
    *f = (Fixup){
        .insn = i - b->k->code, .label = ptx_word(b->p), .depth = b->depth, .next = b->branches
    };
    b->branches = f;
}

static void flow_operands(Body *b, Insn *i, const IsaRow *row)
{
    switch (row->op) {
    case ISA_bra: branch_operands(b, i); return;
    case ISA_brx: target_operands(b, i); return;
    case ISA_call: body_call(b, i); return;
    case ISA_bar_sync:
    case ISA_bar_arrive:
    case ISA_bar_red: barrier_operands(b, i, row); return;
    case ISA_cluster_arrive:
    case ISA_cluster_wait: cluster_operands(b, i, row); return;
    case ISA_alloca:
    case ISA_stacksave:
    case ISA_stackrestore: stack_operands(b, i, row); return;
    case ISA_nanosleep: i->a = body_source(b, TYPE_u32, NULL); return;
    case ISA_createpolicy: i->d = body_destination(b, TYPE_u64, NULL); // fall through
    case ISA_prefetch:
    case ISA_prefetchu:
    case ISA_applypriority:
    case ISA_discard:
    case ISA_bulk_prefetch:
    case ISA_pmevent: body_skip(b); return;
    default: return;
    }
}

// Which spelling of mov, by its list and the commas in that.
static enum shape list_shape(const Ptx *p)
{
    u32 commas = 0;
    const char *open = p->start;
    while (open < p->end && *open != '{' && *open != ';') open++;
    if (open == p->end || *open == ';') return UNARY;
    for (const char *at = open; at < p->end && *at != '}'; at++) commas += *at == ',';
    if (open == p->start) return commas == 3 ? UNPACK_4 : UNPACK;
    return commas == 3 ? PACK_4 : PACK;
}

static void guard(Body *b, u32 *row, u32 *flip)
{
    *row = *flip = 0;
    if (!ptx_accept(b->p, "@")) return;
    if (ptx_accept(b->p, "!")) *flip = ~0u;
    *row = body_source(b, TYPE_pred, NULL);
}

void body_instruction(Body *b)
{
    Ptx *p = b->p;
    u32 guard_row, guard_flip;
    guard(b, &guard_row, &guard_flip);
    char *opcode = ptx_word(p);
    Insn *i = body_insn(b);
    i->guard = guard_row;
    i->guard_flip = guard_flip;
    if (body_memory(b, opcode, i) || body_atomic(b, opcode, i) || body_compare(b, opcode, i)
        || body_video(b, opcode, i) || body_bulk(b, opcode, i) || body_tensor(b, opcode, i)
        || body_mbarrier(b, opcode, i)) {
        ptx_expect(p, ";");
        return;
    }
    const IsaRow *row = isa_find_spelled(opcode, list_shape(p));
    if (!row || row->shape == MEMORY || row->shape == ATOMIC || row->shape == COMPARE_2
        || row->shape == VIDEO || row->shape == MATRIX) {
        body_unsupported(b, "the instruction", opcode);
        body_skip(b);
    } else {
        body_set_row(i, row);
        if (row->shape == FENCE) body_order(opcode, i);
        else if (row->shape == FLOW) flow_operands(b, i, row);
        else if (row->shape == TABLE) table_operands(b, i, row);
        else if (row->shape == EXCHANGE) exchange_operands(b, i, row);
        else if (row->shape == PACK_4 || row->shape == UNPACK_4) four_operands(b, i, row);
        else alu_operands(b, i, row);
    }
    ptx_expect(p, ";");
}
