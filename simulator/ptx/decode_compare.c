// Reads comparisons: setp, and set, which has the same rows and gives a number instead of a
// predicate.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "body.h"

// An opcode of setp or set, with what the table leaves out.
typedef struct Comparison {
    char plain[64]; // setp, the comparison, and the type that is compared
    enum combine combine;
    bool as_number;
    const char *number; // set: the type of what it gives
} Comparison;

static bool read_comparison(const char *opcode, char *parts, size_t size, Comparison *c)
{
    static const char *const combines[] = {
        [COMBINE_AND] = "and", [COMBINE_OR] = "or", [COMBINE_XOR] = "xor"
    };
    *c = (Comparison){ .plain = "setp", .as_number = !strncmp(opcode, "set.", 4) };
    if (!c->as_number && strncmp(opcode, "setp.", 5)) return false;
    snprintf(parts, size, "%s", opcode);
    char *rest = parts;
    strsep(&rest, ".");
    for (char *part; (part = strsep(&rest, "."));) {
        u32 n = COMBINE_XOR;
        while (n && strcmp(part, combines[n])) n--;
        if (n) c->combine = n;
        else if (c->as_number && !c->number && rest && !strchr(rest, '.')) c->number = part;
        else snprintf(c->plain + strlen(c->plain), sizeof c->plain - strlen(c->plain), ".%s", part);
    }
    return !c->as_number || c->number;
}

// What `set` gives where the comparison holds; of two halves, in each.
static u64 number_for_true(const char *type, bool halves)
{
    if (!strcmp(type, "f32")) return 0x3f800000;
    if (!strcmp(type, halves ? "f16x2" : "f16")) return 0x3c00;
    if (!strcmp(type, halves ? "bf16x2" : "bf16")) return 0x3f80;
    if (halves) return !strcmp(type, "u32") || !strcmp(type, "s32") ? 0xffff : 0;
    return !strcmp(type, "u32") || !strcmp(type, "s32") ? 0xffffffff
         : !strcmp(type, "u16") || !strcmp(type, "s16") ? 0xffff
                                                        : 0;
}

// setp p|q, a, b, c; set d, a, b, c: those that a COMPARE row's handler alone cannot do. False: it
// can.
bool body_compare(Body *b, const char *opcode, Insn *i)
{
    char parts[128];
    Comparison c;
    Ptx *p = b->p;
    if (!read_comparison(opcode, parts, sizeof parts, &c)) return false;
    const IsaRow *row = isa_find(c.plain, UNARY), *whole = isa_find(opcode, UNARY);
    bool halves = row && row->shape == COMPARE_2;
    if (!row || (row->shape != COMPARE && !halves) || (whole && whole->shape == BINARY))
        return false;
    if (c.as_number && !number_for_true(c.number, halves)) return false;
    body_set_row(i, row);
    i->combine = c.combine;
    i->as_number = c.as_number;
    if (c.as_number) {
        i->offset = number_for_true(c.number, halves);
        i->register_width = decoder_type(b->d, c.number);
        i->vector[0] = body_destination(b, i->register_width == 2 ? TYPE_u16 : TYPE_u32, NULL);
        i->d = body_rows(b, 0, 1);
        if (halves) i->predicate = body_rows(b, 0, 1);
    } else {
        i->d = body_destination(b, TYPE_pred, NULL);
        if (ptx_accept(p, "|")) i->predicate = body_destination(b, TYPE_pred, NULL);
    }
    ptx_expect(p, ",");
    i->a = body_source(b, row->type[1], NULL);
    ptx_expect(p, ",");
    i->b = body_source(b, row->type[2], NULL);
    if (i->combine) {
        ptx_expect(p, ",");
        i->flip = ptx_accept(p, "!") ? ~0u : 0;
        i->c = body_source(b, TYPE_pred, NULL);
    }
    if (i->combine || i->as_number || (i->predicate && !halves)) i->op = ISA_compare;
    return true;
}
