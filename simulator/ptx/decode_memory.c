// Reads the instructions of memory: loads, stores and atomics, with their spaces, their order
// and their hints.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "body.h"

bool body_is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(word, *list)) return true;
    return false;
}

// A part of an opcode that names an order or a scope. False: it does neither.
bool body_order_part(const char *part, Insn *i)
{
    static const struct {
        const char *name;
        enum order order;
    } orders[] = {
        { "weak", ORDER_WEAK },       { "volatile", ORDER_VOLATILE }, { "relaxed", ORDER_RELAXED },
        { "acquire", ORDER_ACQUIRE }, { "release", ORDER_RELEASE },   { "acq_rel", ORDER_ACQ_REL },
        { "sc", ORDER_SC },
    };
    static const struct {
        const char *name;
        enum scope scope;
    } scopes[] = {
        { "cta", SCOPE_CTA }, { "cluster", SCOPE_CLUSTER }, { "gpu", SCOPE_GPU },
        { "gl", SCOPE_GPU },  { "sys", SCOPE_SYS },
    };
    for (u32 n = 0; n < sizeof orders / sizeof *orders; n++) {
        if (strcmp(part, orders[n].name)) continue;
        i->order = orders[n].order;
        i->strong = i->order != ORDER_WEAK;
        if (i->order == ORDER_VOLATILE) i->scope = SCOPE_SYS;
        return true;
    }
    for (u32 n = 0; n < sizeof scopes / sizeof *scopes; n++) {
        if (strcmp(part, scopes[n].name)) continue;
        i->scope = scopes[n].scope;
        return true;
    }
    return false;
}

void body_order(const char *opcode, Insn *i)
{
    char parts[128];
    snprintf(parts, sizeof parts, "%s", opcode);
    i->order = *opcode == 'm' ? ORDER_SC : ORDER_ACQ_REL;
    for (char *rest = parts, *part; (part = strsep(&rest, "."));) body_order_part(part, i);
}

bool body_is_shared(const char *part, Insn *i)
{
    bool cluster = !strcmp(part, "shared::cluster");
    i->cluster |= cluster;
    return cluster || !strcmp(part, "shared") || !strcmp(part, "shared::cta");
}

// .L2::cache_hint has an operand at the end, a policy from createpolicy: which lines the cache
// should keep.
static void cache_policy(Body *b, const char *opcode)
{
    if (!strstr(opcode, ".L2::cache_hint")) return;
    ptx_expect(b->p, ",");
    body_source(b, TYPE_u64, NULL);
}

// The parts of a memory instruction's opcode behind `ld` or `st`. False: one of them is not
// supported.
static bool memory_modifiers(Body *b, Insn *i, char *modifiers, char *space)
{
    static const char *const hints[] = { "ca",
                                         "cs",
                                         "lu",
                                         "wb",
                                         "wt",
                                         "nc",
                                         "mmio",
                                         "L1::evict_normal",
                                         "L1::evict_unchanged",
                                         "L1::evict_first",
                                         "L1::evict_last",
                                         "L1::no_allocate",
                                         "L2::evict_normal",
                                         "L2::evict_first",
                                         "L2::evict_last",
                                         "L2::64B",
                                         "L2::128B",
                                         "L2::256B",
                                         NULL };
    static const char *const spaces[] = { "global", "shared", "local", "param", "const", NULL };
    static const char *const types[] = { "b8",  "u8",  "s8",  "b16", "u16", "s16", "b32",  "u32",
                                         "s32", "f32", "b64", "u64", "s64", "f64", "b128", NULL };
    i->elements = 1;
    for (char *rest = modifiers, *part; (part = strsep(&rest, "."));) {
        if (body_is_shared(part, i)) part = "shared";
        if (!strcmp(part, "param::entry") || !strcmp(part, "param::func")) part = "param";
        if (body_is_one_of(part, spaces)) strcpy(space, part);
        else if (!strcmp(part, "v2")) i->elements = 2;
        else if (!strcmp(part, "v4")) i->elements = 4;
        else if (body_is_one_of(part, types))
            i->width = decoder_type(b->d, part), i->is_signed = *part == 's';
        else if (!strcmp(part, "cg") || !strcmp(part, "cv")) i->past_l1 = true;
        else if (!body_order_part(part, i) && strcmp(part, "L2::cache_hint")
                 && !body_is_one_of(part, hints))
            return false;
    }
    return i->width != 0;
}

// [register], [register+number], [name+number], [number]: a row and an offset.
static void memory_address(Body *b, Insn *i)
{
    Ptx *p = b->p;
    u32 width, address_width = i->space == SPACE_SHARED || i->space == SPACE_LOCAL ? 4 : 8;
    ptx_expect(p, "[");
    i->source_width = address_width;
    if (p->token == TOKEN_WORD) {
        char *name = ptx_word(p);
        const Symbol *s = body_symbol(b, name);
        if (body_register(b, name, &i->a, &width)) {
            i->source_width = width;
        } else if (s && s->kind == SYMBOL_CALL_PARAM) {
            i->space = SPACE_CALL;
            i->a = s->value;
            i->target = s->size;
        } else if (s && s->kind == SYMBOL_PARAM) {
            i->offset = s->value;
        } else {
            if (s && s->addressed && i->space == SPACE_PARAM)
                body_unsupported(b, "beside its address, ld.param of", name);
            i->a = body_address(b, name, address_width);
        }
        if (ptx_accept(p, "+") || ptx_is(p, "-")) i->offset += ptx_integer(p);
    } else {
        i->a = body_constant(b, address_width, ptx_integer(p), SPECIAL_NONE);
    }
    ptx_expect(p, "]");
}

static void memory_registers(Body *b, Insn *i, bool store)
{
    Ptx *p = b->p;
    bool list = ptx_accept(p, "{");
    u64 value[4] = { 0 };
    u32 immediates = 0;
    i->register_width = i->width;
    for (u32 e = 0; e < i->elements; e++) {
        if (e) ptx_expect(p, ",");
        u32 width;
        if (p->token == TOKEN_WORD
            && body_register(b, obstack_copy0(p->memory, p->start, p->length), &i->vector[e],
                             &width)) {
            if (width < i->width)
                ptx_fail(p, "register %.*s is narrower than what it moves", (int)p->length,
                         p->start);
            i->register_width = width;
            ptx_next(p);
        } else {
            immediates |= 1u << e;
            if (store || !ptx_accept(p, "_")) value[e] = body_immediate(b, i->width, false);
        }
    }
    if (list) ptx_expect(p, "}");
    for (u32 e = 0; e < i->elements; e++) { // these are as wide as the registers beside them
        if (!(immediates >> e & 1)) continue;
        i->vector[e] = store ? body_constant(b, i->register_width, value[e], SPECIAL_NONE)
                             : body_rows(b, i->register_width, 1);
    }
}

void body_address_operand(Body *b, Insn *i) { memory_address(b, i); }

bool body_memory(Body *b, const char *opcode, Insn *i)
{
    char modifiers[128], name[32] = "", space[16] = "";
    size_t head = strcspn(opcode, ".");
    if (strlen(opcode) >= sizeof modifiers || !opcode[head]
        || (head != 2 && strncmp(opcode, "ldu", 3)))
        return false;
    strcpy(modifiers, opcode + head + 1);
    if (!memory_modifiers(b, i, modifiers, space)) return false;
    snprintf(name, sizeof name, "%.2s%s%s", opcode, *space ? "." : "", space);
    const IsaRow *row = isa_find(name, UNARY);
    if (!row) return false;
    body_set_row(i, row);
    i->space = row->space;
    if (row->store) {
        memory_address(b, i);
        ptx_expect(b->p, ",");
        memory_registers(b, i, true);
    } else {
        memory_registers(b, i, false);
        ptx_expect(b->p, ",");
        memory_address(b, i);
        ptx_accept(b->p, ".unified");
    }
    cache_policy(b, opcode);
    if ((row->space == SPACE_SHARED || row->space == SPACE_GENERIC) && i->width < b->granule)
        b->granule = i->width;
    return true;
}

// The opcode of an atomic without what the table leaves out: its space, its scope, its order; and
// its type last, though the manual's examples have it before the operation. red is atom with nobody
// to read the result.
static void atomic_opcode(const char *opcode, Insn *i, char *plain, size_t size)
{
    i->strong = true;
    i->order = ORDER_RELAXED;
    i->scope = SCOPE_GPU;
    i->space = SPACE_GENERIC;
    i->elements = 1;
    char parts[128];
    snprintf(parts, sizeof parts, "%s", opcode);
    char *rest = parts, *type = "";
    strsep(&rest, ".");
    snprintf(plain, size, "atom");
    for (char *part; (part = strsep(&rest, "."));) {
        if (!strcmp(part, "global")) i->space = SPACE_GLOBAL;
        else if (body_is_shared(part, i)) i->space = SPACE_SHARED;
        else if (part[0] == 'v' && part[1] >= '2' && part[1] <= '8' && !part[2])
            i->elements = part[1] - '0';
        else if (!strcmp(part, "L2::cache_hint")) continue;
        else if (strpbrk(part, "0123456789")) type = part;
        else if (!body_order_part(part, i))
            snprintf(plain + strlen(plain), size - strlen(plain), ".%s", part);
    }
    snprintf(plain + strlen(plain), size - strlen(plain), ".%s", type);
}

// {register, ...}: of an atomic, as many rows as it has elements.
static void list_of_rows(Body *b, u32 *rows, u32 count, enum type type, bool write)
{
    ptx_expect(b->p, "{");
    for (u32 e = 0; e < count; e++) {
        if (e) ptx_expect(b->p, ",");
        rows[e] = write ? body_destination(b, type, NULL) : body_source(b, type, NULL);
    }
    ptx_expect(b->p, "}");
}

// atom d, [a], b; red [a], b: d and b lists
static void atomic_vector(Body *b, Insn *i, enum type type)
{
    u32 *rows = decoder_keep(b->d, 2 * i->elements * sizeof *rows);
    if (!i->reduces) {
        if (ptx_accept(b->p, "_"))
            for (u32 e = 0; e < i->elements; e++) rows[e] = body_rows(b, i->width, 1);
        else list_of_rows(b, rows, i->elements, type, true);
        ptx_expect(b->p, ",");
    }
    memory_address(b, i);
    ptx_expect(b->p, ",");
    list_of_rows(b, rows + i->elements, i->elements, type, false);
    i->d = rows[0];
    i->c = i->vector[0] = rows[i->elements];
    i->list = rows;
}

static void atomic_scalar(Body *b, Insn *i, const IsaRow *row)
{
    if (!i->reduces) i->d = body_destination(b, row->type[0], NULL), ptx_expect(b->p, ",");
    memory_address(b, i);
    ptx_expect(b->p, ",");
    i->vector[0] = body_source(b, row->type[2], NULL);
    i->c = i->vector[0];
    if (row->op == ISA_atom_cas) ptx_expect(b->p, ","), i->c = body_source(b, row->type[3], NULL);
}

bool body_atomic(Body *b, const char *opcode, Insn *i)
{
    char plain[128];
    bool red = !strncmp(opcode, "red.", 4);
    if (!red && strncmp(opcode, "atom.", 5)) return false;
    atomic_opcode(opcode, i, plain, sizeof plain);
    const IsaRow *row = isa_find(plain, UNARY);
    if (!row) return false;
    body_set_row(i, row);
    i->width = i->register_width = isa_type_width(row->type[0]);
    i->reduces = red;
    if (i->elements > 1) atomic_vector(b, i, row->type[0]);
    else atomic_scalar(b, i, row);
    cache_policy(b, opcode);
    if (i->space != SPACE_GLOBAL && i->width < b->granule) b->granule = i->width;
    return true;
}
