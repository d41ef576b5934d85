// Reads the instructions of mbarriers (isa/async.def).
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "body.h"

// An opcode without what the table leaves out: its order, its scope, where the mbarrier lies, and .b64.
static void plain_opcode(const char *opcode, Insn *i, char *plain, size_t size)
{
    char parts[128];
    snprintf(parts, sizeof parts, "%s", opcode);
    char *rest = parts;
    snprintf(plain, size, "%s", strsep(&rest, "."));
    i->space = SPACE_GENERIC;
    for (char *part; (part = strsep(&rest, "."));) {
        if (body_is_shared(part, i)) i->space = SPACE_SHARED;
        else if (!body_order_part(part, i) && strcmp(part, "b64")) snprintf(plain + strlen(plain), size - strlen(plain), ".%s", part);
    }
}

// state or _, [address], arrivals or bytes: one arrival where nothing is said.
static void arrival(Body *b, Insn *i)
{
    i->d = body_destination(b, TYPE_u64, NULL);
    ptx_expect(b->p, ",");
    body_address_operand(b, i);
    i->b = ptx_accept(b->p, ",") ? body_source(b, TYPE_u32, NULL) : body_constant(b, 4, 1, SPECIAL_NONE);
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

// What makes an mbarrier and unmakes it is weak; all else is strong, and releases or acquires unless it says otherwise.
bool body_mbarrier(Body *b, const char *opcode, Insn *i)
{
    char plain[128];
    if (strncmp(opcode, "mbarrier.", 9)) return false;
    plain_opcode(opcode, i, plain, sizeof plain);
    const IsaRow *row = isa_find(plain, UNARY);
    if (!row) return false;
    bool waits = strstr(row->name, "_wait"), arrives = strstr(row->name, "_arrive");
    i->row = row - isa_rows;
    i->run = row->run;
    if (i->run == run_mbarrier_pending_count) {
        i->d = body_destination(b, TYPE_u32, NULL);
        ptx_expect(b->p, ",");
        i->b = body_source(b, TYPE_u64, NULL);
        return true;
    }
    i->strong = i->run != run_mbarrier_init && i->run != run_mbarrier_inval;
    if (i->order == ORDER_WEAK) i->order = waits ? ORDER_ACQUIRE : arrives ? ORDER_RELEASE : ORDER_RELAXED;
    if (!i->scope) i->scope = SCOPE_CTA;
    if (waits) waiting(b, i, strstr(row->name, "parity"));
    else if (arrives) arrival(b, i);
    else body_address_operand(b, i);
    if (!waits && !arrives && i->run != run_mbarrier_inval) ptx_expect(b->p, ","), i->b = body_source(b, TYPE_u32, NULL);
    return true;
}
