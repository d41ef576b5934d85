// Reads operands: every register, number, special register and variable's address becomes a
// row of the register file.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"

// ---- rows ----

u32 body_rows(Body *b, u32 width, u32 count)
{
    u32 row = b->rows;
    if (count > (1u << 28) / body_row_bytes(width))
        ptx_fail(b->p, "%s names too many registers", b->k->name);
    b->rows += body_row_bytes(width) * count;
    b->k->registers += count;
    if (b->function) {
        RowRange *range = decoder_keep(b->d, sizeof *range);
        *range =
            (RowRange){ .row = row, .width = width, .count = count, .next = b->function->rows };
        b->function->rows = range;
    }
    return row;
}

u32 body_constant(Body *b, u32 width, u64 value, u32 special)
{
    Kernel *k = b->k;
    if (!width) width = 4, value = value ? ~0u : 0; // a predicate: a bit for each lane
    if (width < 8) value &= (1ull << 8 * width) - 1;
    for (u32 n = 0; n < k->constant_count; n++) {
        const Constant *c = &k->constants[n];
        if (c->width == width && c->value == value && c->special == special) return c->row;
    }
    if (k->constant_count == b->constant_room) {
        b->constant_room = b->constant_room ? 2 * b->constant_room : 32;
        Constant *larger = decoder_keep(b->d, b->constant_room * sizeof *larger);
        if (k->constants) memcpy(larger, k->constants, k->constant_count * sizeof *larger);
        k->constants = larger;
    }
    Function *function = b->function;
    b->function = NULL; // a constant belongs to all
    u32 row = body_rows(b, width, 1);
    b->function = function;
    k->registers--;
    k->constants[k->constant_count++] =
        (Constant){ .row = row, .width = width, .special = special, .value = value };
    return row;
}

// ---- instructions that cannot run ----

void body_unsupported(Body *b, const char *what, const char *name)
{
    if (b->k->unsupported) return;
    struct obstack *memory = &b->d->module->memory;
    char other[64];
    const IsaRow *nearest = !strcmp(what, "the instruction") ? isa_nearest(name) : NULL;
    if (nearest) isa_spell(nearest, other, sizeof other);
    if (nearest) obstack_printf(memory, "%s %s (it has %s)", what, name, other);
    else obstack_printf(memory, "%s %s", what, name);
    obstack_1grow(memory, 0);
    b->k->unsupported = obstack_finish(memory);
    b->k->unsupported_at = b->location;
}

void body_unread(Body *b)
{
    const char *end = b->statement;
    while (end < b->p->end && *end != ';' && *end != '\n') end++;
    char *text;
    if (asprintf(&text, "'%.*s' (%s)", (int)(end - b->statement), b->statement, b->p->error) < 0)
        abort();
    body_unsupported(b, "the statement", text);
    free(text);
}

// ---- operands ----

static const struct {
    const char *name;
    u32 special;
} specials[] = {
    { "%tid.x", SPECIAL_TID_X },
    { "%tid.y", SPECIAL_TID_Y },
    { "%tid.z", SPECIAL_TID_Z },
    { "%ntid.x", SPECIAL_NTID_X },
    { "%ntid.y", SPECIAL_NTID_Y },
    { "%ntid.z", SPECIAL_NTID_Z },
    { "%ctaid.x", SPECIAL_CTAID_X },
    { "%ctaid.y", SPECIAL_CTAID_Y },
    { "%ctaid.z", SPECIAL_CTAID_Z },
    { "%nctaid.x", SPECIAL_NCTAID_X },
    { "%nctaid.y", SPECIAL_NCTAID_Y },
    { "%nctaid.z", SPECIAL_NCTAID_Z },
    { "%laneid", SPECIAL_LANEID },
    { "%warpid", SPECIAL_WARPID },
    { "%nwarpid", SPECIAL_NWARPID },
    { "%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM },
    { "%total_smem_size", SPECIAL_TOTAL_SMEM },
    { "%reserved_smem_offset_1", SPECIAL_RESERVED_SMEM },
    { "%lanemask_eq", SPECIAL_LANEMASK_EQ },
    { "%lanemask_lt", SPECIAL_LANEMASK_LT },
    { "%lanemask_le", SPECIAL_LANEMASK_LE },
    { "%lanemask_gt", SPECIAL_LANEMASK_GT },
    { "%lanemask_ge", SPECIAL_LANEMASK_GE },
    { "%smid", SPECIAL_SMID },
    { "%nsmid", SPECIAL_NSMID },
    { "%gridid", SPECIAL_GRIDID },
    { "%envreg1", SPECIAL_ENVREG_1 },
    { "%envreg2", SPECIAL_ENVREG_2 },
    { "%clusterid.x", SPECIAL_CLUSTERID_X },
    { "%clusterid.y", SPECIAL_CLUSTERID_Y },
    { "%clusterid.z", SPECIAL_CLUSTERID_Z },
    { "%nclusterid.x", SPECIAL_NCLUSTERID_X },
    { "%nclusterid.y", SPECIAL_NCLUSTERID_Y },
    { "%nclusterid.z", SPECIAL_NCLUSTERID_Z },
    { "%cluster_ctaid.x", SPECIAL_CLUSTER_CTAID_X },
    { "%cluster_ctaid.y", SPECIAL_CLUSTER_CTAID_Y },
    { "%cluster_ctaid.z", SPECIAL_CLUSTER_CTAID_Z },
    { "%cluster_nctaid.x", SPECIAL_CLUSTER_NCTAID_X },
    { "%cluster_nctaid.y", SPECIAL_CLUSTER_NCTAID_Y },
    { "%cluster_nctaid.z", SPECIAL_CLUSTER_NCTAID_Z },
    { "%cluster_ctarank", SPECIAL_CLUSTER_CTARANK },
    { "%cluster_nctarank", SPECIAL_CLUSTER_NCTARANK },
    { "%is_explicit_cluster", SPECIAL_EXPLICIT_CLUSTER },
    { "%aggr_smem_size", SPECIAL_AGGREGATE_SMEM },
    { "%clock", SPECIAL_CLOCK },
    { "%clock_hi", SPECIAL_CLOCK_HI },
    { "%clock64", SPECIAL_CLOCK },
    { "%globaltimer", SPECIAL_GLOBALTIMER },
    { "%globaltimer_lo", SPECIAL_GLOBALTIMER },
    { "%globaltimer_hi", SPECIAL_GLOBALTIMER_HI },
};

u32 body_special(const char *name)
{
    for (u32 n = 0; n < sizeof specials / sizeof *specials; n++)
        if (!strcmp(name, specials[n].name)) return specials[n].special;
    return SPECIAL_NONE;
}

// Fourth parts of numbers of threads and blocks, %pm0 and %envreg0: 0 on an H200, but for %envreg1
// and 2 (above) and the few that the driver fills for itself.
static bool is_empty_register(const char *name)
{
    static const char *const whole[] = { "%tid.w",
                                         "%ntid.w",
                                         "%ctaid.w",
                                         "%nctaid.w",
                                         "%clusterid.w",
                                         "%nclusterid.w",
                                         "%cluster_ctaid.w",
                                         "%cluster_nctaid.w",
                                         "%current_graph_exec",
                                         NULL };
    return body_is_one_of(name, whole) || !strncmp(name, "%envreg", 7) || !strncmp(name, "%pm", 3);
}

bool body_is_clock(u32 special)
{
    return special >= SPECIAL_CLOCK && special <= SPECIAL_GLOBALTIMER_HI;
}

// A register by name: one of its own, or number N of the family before its digits. *row is 0 if
// there is none.
bool body_register(Body *b, const char *name, u32 *row, u32 *width)
{
    const Symbol *s = symbol_find(b->names, name);
    if (s && s->kind == SYMBOL_REGISTER) {
        *row = s->value, *width = s->width;
        return true;
    }
    size_t stem = strlen(name);
    while (stem && name[stem - 1] >= '0' && name[stem - 1] <= '9') stem--;
    char family[128];
    if (!name[stem] || stem >= sizeof family) return false;
    memcpy(family, name, stem);
    family[stem] = 0;
    u64 number = strtoull(name + stem, NULL, 10);
    s = symbol_find(b->names, family);
    if (!s || s->kind != SYMBOL_REGISTERS || number >= s->count) return false;
    *row = s->value + number * body_row_bytes(s->width), *width = s->width;
    return true;
}

Symbol *body_declare(Body *b, const char *name, enum symbol_kind kind, u64 value)
{
    Declared *entry = decoder_keep(b->d, sizeof *entry);
    *entry = (Declared){ decoder_symbol(b->d, b->names, name, kind, value), b->depth, b->declared };
    b->declared = entry;
    return entry->symbol;
}

const Symbol *body_symbol(Body *b, const char *name)
{
    const Symbol *s = symbol_find(b->names, name);
    return s ? s : symbol_find(&b->d->unit->symbols, name);
}

// Gives a shared variable of the module its place in this kernel, when the kernel or a function of
// it first names it.
static u64 place_shared(Body *b, const Symbol *s)
{
    if (s->of) s = s->of;
    if (s->value != UNPLACED) return s->value;
    for (const Placed *p = b->placed; p; p = p->next)
        if (p->variable == s) return p->offset;
    b->k->shared_bytes = align_up(b->k->shared_bytes, s->align);
    Placed *p = decoder_keep(b->d, sizeof *p);
    *p = (Placed){ .variable = s, .offset = b->k->shared_bytes, .next = b->placed };
    b->placed = p;
    b->k->shared_bytes += s->size;
    return p->offset;
}

// The row into which a call puts the address of a variable in its frame.
static u32 frame_variable(Body *b, const Symbol *s, u32 width, u64 offset)
{
    FrameVariable *v = decoder_keep(b->d, sizeof *v);
    *v = (FrameVariable){ .row = body_rows(b, width, 1),
                          .width = width,
                          .offset = s->value + offset,
                          .next = b->function->variables };
    b->function->variables = v;
    return v->row;
}

// The row that holds a variable's address, or the one constant that PTX has a name for.
u32 body_address(Body *b, const char *name, u32 width)
{
    if (!strcmp(name, "WARP_SZ")) return body_constant(b, width, LANES, SPECIAL_NONE);
    const Symbol *s = body_symbol(b, name);
    if (!s) ptx_fail(b->p, "nothing is called %s", name);
    switch (s->kind) {
    case SYMBOL_FUNCTION:
        return body_constant(b, width, FUNCTION_BASE + FUNCTION_BYTES * s->value, SPECIAL_NONE);
    case SYMBOL_LOCAL:
        if (b->function) return frame_variable(b, s, width, 0);
        return body_constant(b, width, s->value, SPECIAL_NONE);
    case SYMBOL_GLOBAL:
    case SYMBOL_PARAM: return body_constant(b, width, s->value, SPECIAL_NONE);
    case SYMBOL_SHARED: return body_constant(b, width, place_shared(b, s), SPECIAL_SHARED);
    case SYMBOL_DYNAMIC:
        if (s->align > b->dynamic_align) b->dynamic_align = s->align;
        return body_constant(b, width, 0, SPECIAL_DYNAMIC_BASE);
    case SYMBOL_KERNEL:
        return body_constant(b, width, decoder_kernel_address(b->d, s->name), SPECIAL_NONE);
    default:
        body_unsupported(b, "the address of", name);
        return body_constant(b, width, 0, SPECIAL_NONE);
    }
}

u64 body_immediate(Body *b, u32 width, bool is_float)
{
    Ptx *p = b->p;
    bool minus = ptx_accept(p, "-");
    if (p->token != TOKEN_NUMBER)
        ptx_fail(p, "an operand should stand where '%.*s' does", (int)p->length, p->start);
    u64 bits = p->number;
    if (p->number_width == 8 && width == 4) {
        union {
            u64 bits;
            f64 value;
        } wide = { bits };
        union {
            f32 value;
            u32 bits;
        } narrow = { (f32)wide.value };
        bits = narrow.bits;
    } else if (p->number_width == 0 && is_float) {
        union {
            f64 value;
            u64 bits;
        } wide = { (f64)bits };
        union {
            f32 value;
            u32 bits;
        } narrow = { (f32)bits };
        bits = width == 4 ? narrow.bits : wide.bits;
    }
    bool negate_float = p->number_width || is_float;
    ptx_next(p);
    if (!minus) return bits;
    return negate_float ? bits ^ 1ull << (8 * width - 1) : 0 - bits;
}

// A source operand of that type, as a row. *width: the register's own, which CONVERT allows to be
// another.
u32 body_source(Body *b, enum type type, u8 *width)
{
    Ptx *p = b->p;
    u32 wanted = type == TYPE_pred ? 0 : isa_type_width(type), row, found;
    if (width) *width = wanted;
    if (p->token != TOKEN_WORD)
        return body_constant(b, wanted,
                             body_immediate(b, wanted, type == TYPE_f32 || type == TYPE_f64), 0);
    char *name = ptx_word(p);
    if (body_register(b, name, &row, &found)) {
        if (width) *width = found;
        else if (found != wanted)
            ptx_fail(p, "register %s is not of type .%s", name, isa_type_name(type));
        return row;
    }
    u32 special = body_special(name);
    if (body_is_clock(special)) {
        body_unsupported(b, "an operand that is the register", name);
        return body_constant(b, wanted, 0, SPECIAL_NONE);
    }
    if (special == SPECIAL_RESERVED_SMEM) b->k->asks_reserved = true;
    if (special) return body_constant(b, wanted, 0, special);
    if (is_empty_register(name)) return body_constant(b, wanted, 0, SPECIAL_NONE);
    if (*name == '%') {
        body_unsupported(b, "the register", name);
        return body_constant(b, wanted, 0, SPECIAL_NONE);
    }
    row = body_address(b, name, wanted);
    if (ptx_accept(p, "+")) {
        const Symbol *s = body_symbol(b, name);
        if (s->kind == SYMBOL_DYNAMIC) body_unsupported(b, "an offset to", name);
        if (s->kind == SYMBOL_LOCAL && b->function)
            return frame_variable(b, s, wanted, ptx_integer(p));
        u64 base = s->kind == SYMBOL_SHARED ? place_shared(b, s) : s->value;
        return body_constant(b, wanted, base + ptx_integer(p),
                             s->kind == SYMBOL_SHARED ? SPECIAL_SHARED : SPECIAL_NONE);
    }
    return row;
}

// A destination; '_' is one that nobody reads.
u32 body_destination(Body *b, enum type type, u8 *width)
{
    u32 wanted = type == TYPE_pred ? 0 : isa_type_width(type), row, found;
    if (width) *width = wanted;
    char *name = ptx_word(b->p);
    if (!strcmp(name, "_")) return body_rows(b, wanted, 1);
    if (!body_register(b, name, &row, &found)) ptx_fail(b->p, "%s is not a register", name);
    if (width) *width = found;
    else if (found != wanted)
        ptx_fail(b->p, "register %s is not of type .%s", name, isa_type_name(type));
    return row;
}
