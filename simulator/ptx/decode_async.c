// Reads the instructions of mbarriers and of copies in bulk (isa/async.def).
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "body.h"
#include "isa/tensor.h"

// An opcode without what the table leaves out: its order, its scope, where the mbarrier lies, and
// .b64.
static void plain_opcode(const char *opcode, Insn *i, char *plain, size_t size)
{
    char parts[128];
    snprintf(parts, sizeof parts, "%s", opcode);
    char *rest = parts;
    snprintf(plain, size, "%s", strsep(&rest, "."));
    i->space = SPACE_GENERIC;
    for (char *part; (part = strsep(&rest, "."));) {
        if (body_is_shared(part, i)) i->space = SPACE_SHARED;
        else if (!body_order_part(part, i) && strcmp(part, "b64"))
            snprintf(plain + strlen(plain), size - strlen(plain), ".%s", part);
    }
}

// state or _, [address], arrivals or bytes: one arrival where nothing is said.
static void arrival(Body *b, Insn *i)
{
    i->d = body_destination(b, TYPE_u64, NULL);
    ptx_expect(b->p, ",");
    body_address_operand(b, i);
    i->b = ptx_accept(b->p, ",") ? body_source(b, TYPE_u32, NULL)
                                 : body_constant(b, 4, 1, SPECIAL_NONE);
}

// predicate, [address], state or parity [, for how long]
static void waiting(Body *b, Insn *i, bool parity)
{
    i->d = body_destination(b, TYPE_pred, NULL);
    ptx_expect(b->p, ",");
    body_address_operand(b, i);
    ptx_expect(b->p, ",");
    i->b = body_source(b, parity ? TYPE_u32 : TYPE_u64, NULL);
    if (ptx_accept(b->p, ",")) body_source(b, TYPE_u32, NULL);
}

// What makes an mbarrier and unmakes it is weak; all else is strong, and releases or acquires
// unless it says otherwise.
bool body_mbarrier(Body *b, const char *opcode, Insn *i)
{
    char plain[128];
    if (strncmp(opcode, "mbarrier.", 9)) return false;
    plain_opcode(opcode, i, plain, sizeof plain);
    const IsaRow *row = isa_find(plain, UNARY);
    if (!row) return false;
    bool waits = row->op == ISA_mbarrier_test_wait || row->op == ISA_mbarrier_try_wait,
         arrives = row->arrival & ARRIVES;
    body_set_row(i, row);
    if (row->op == ISA_mbarrier_pending_count) {
        i->d = body_destination(b, TYPE_u32, NULL);
        ptx_expect(b->p, ",");
        i->b = body_source(b, TYPE_u64, NULL);
        return true;
    }
    i->strong = row->op != ISA_mbarrier_init && row->op != ISA_mbarrier_inval;
    if (i->order == ORDER_WEAK)
        i->order = waits ? ORDER_ACQUIRE : arrives ? ORDER_RELEASE : ORDER_RELAXED;
    if (!i->scope) i->scope = SCOPE_CTA;
    if (waits) waiting(b, i, row->parity);
    else if (arrives) arrival(b, i);
    else body_address_operand(b, i);
    if (!waits && !arrives && row->op != ISA_mbarrier_inval)
        ptx_expect(b->p, ","), i->b = body_source(b, TYPE_u32, NULL);
    return true;
}

// ---- Copies in bulk ----

// An opcode without what the table leaves out: the end, and of cp.reduce, into `atomic`, the
// operation and its type.
static void bulk_opcode(const char *opcode, char *plain, char *atomic, size_t size)
{
    static const char *const dropped[] = { "mbarrier::complete_tx::bytes", "bulk_group",
                                           "L2::cache_hint", NULL };
    static const char *const kept[] = {
        "async",           "bulk",         "reduce",     "global", "shared::cta",
        "shared::cluster", "commit_group", "wait_group", "read",   NULL
    };
    char parts[128];
    bool reduces = !strncmp(opcode, "cp.reduce.", 10);
    snprintf(parts, sizeof parts, "%s", opcode);
    char *rest = parts;
    snprintf(plain, size, "%s", strsep(&rest, "."));
    snprintf(atomic, size, "atom");
    for (char *part; (part = strsep(&rest, "."));) {
        char *to = !reduces || body_is_one_of(part, kept) ? plain : atomic;
        if (!body_is_one_of(part, dropped))
            snprintf(to + strlen(to), size - strlen(to), ".%s", part);
    }
}

// The table's atomics of halves all say .noftz.
static const IsaRow *reduction(const char *atomic)
{
    char noftz[128];
    const char *type = strrchr(atomic, '.');
    const IsaRow *row = isa_find(atomic, UNARY);
    snprintf(noftz, sizeof noftz, "%.*s.noftz%s", (int)(type - atomic), atomic, type);
    return row ? row : isa_find(noftz, UNARY);
}

// [to], [from], bytes [, [mbarrier]] [, policy]
static void bulk_operands(Body *b, Insn *i, Matrix *x)
{
    Insn from = { .space = SPACE_GENERIC }, mbarrier = { .space = SPACE_SHARED };
    from.space = x->stores || x->within ? SPACE_SHARED : SPACE_GLOBAL;
    i->space = x->stores ? SPACE_GLOBAL : SPACE_SHARED;
    body_address_operand(b, i);
    ptx_expect(b->p, ",");
    body_address_operand(b, &from);
    i->b = from.a, x->offset_from = (u32)from.offset, x->wide_from = from.source_width == 8;
    ptx_expect(b->p, ",");
    i->c = body_source(b, TYPE_u32, NULL);
    if (!x->stores) {
        ptx_expect(b->p, ",");
        body_address_operand(b, &mbarrier);
        x->mbarrier = mbarrier.a, x->offset_to = (u32)mbarrier.offset,
        x->wide_mbarrier = mbarrier.source_width == 8;
    }
    if (ptx_accept(b->p, ",")) body_source(b, TYPE_u64, NULL);
}

bool body_bulk(Body *b, const char *opcode, Insn *i)
{
    char plain[128], atomic[128];
    if (strncmp(opcode, "cp.async.bulk.", 14) && strncmp(opcode, "cp.reduce.async.bulk.", 21))
        return false;
    bulk_opcode(opcode, plain, atomic, sizeof plain);
    const IsaRow *row = isa_find(plain, UNARY);
    if (!row || row->shape != MATRIX) return false;
    Matrix *x = decoder_keep(b->d, sizeof *x);
    x->past_l1 = true;
    x->stores = row->way == FROM_SHARED;
    x->within = row->way == WITHIN_SHARED;
    body_set_row(i, row);
    i->matrix = x;
    if (!strncmp(opcode, "cp.reduce.", 10)
        && (!(x->reduces = reduction(atomic)) || x->reduces->shape != ATOMIC))
        return false;
    if (x->reduces) i->strong = true, i->scope = SCOPE_GPU;
    i->order = !x->stores ? ORDER_RELEASE
             : x->reduces ? ORDER_RELAXED
                          : ORDER_WEAK; // the former when it tells its mbarrier
    if (row->op == ISA_bulk) bulk_operands(b, i, x);
    else if (row->op == ISA_bulk_wait)
        x->reads = row->read_only, i->offset = (s64)ptx_integer(b->p);
    return true;
}
