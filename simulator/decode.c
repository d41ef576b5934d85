// Decodes a kernel's body into the executor's form: every operand becomes a row of the register file, every branch an
// instruction's number. An instruction that is not in the table makes its kernel unsupported, by name, and the rest is
// read all the same.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder.h"
#include "print.h"

// A branch to a label that has not been seen, in the scope of that depth or one around it.
typedef struct Fixup { u32 insn; const char *label; int depth; struct Fixup *next; } Fixup;

// A name that goes out of scope at the '}' of its depth.
typedef struct Declared { Symbol *symbol; int depth; struct Declared *next; } Declared;

typedef struct Body {
    Decoder *d;
    Ptx *p;
    Kernel *k;
    Symbols *names;             // of this function
    Function *function;         // that is being read; NULL: the kernel
    u32 call_room;
    bool indirect;              // it calls through pointers
    u32 rows;                   // bytes of the register file given away
    u32 code_room, constant_room;
    u32 location;               // of the next instruction
    u32 granule;
    Fixup *branches;            // whose labels have not been seen
    Declared *declared;         // the latest first
    int depth;                  // of braces
    u32 dynamic_align;          // of dynamic shared memory, which lies behind the static
    u32 carry;                  // row of the carry; 0: nobody has used it yet
} Body;

static u32 align_up(u32 n, u32 unit) { return unit ? (n + unit - 1) / unit * unit : n; }

// ---- rows ----

// Bytes of a row of values of that width; a predicate (0) has one word.
static u32 row_bytes(u32 width) { return width ? align_up(width * LANES, 64) : 64; }

static u32 new_rows(Body *b, u32 width, u32 count)
{
    u32 row = b->rows;
    if (count > (1u << 28) / row_bytes(width)) ptx_fail(b->p, "%s names too many registers", b->k->name);
    b->rows += row_bytes(width) * count;
    b->k->registers += count;
    if (b->function) {
        RowRange *range = decoder_keep(b->d, sizeof *range);
        *range = (RowRange){ .row = row, .width = width, .count = count, .next = b->function->rows };
        b->function->rows = range;
    }
    return row;
}

static u32 constant(Body *b, u32 width, u64 value, u32 special)
{
    Kernel *k = b->k;
    if (!width) width = 4, value = value ? ~0u : 0;         // a predicate: a bit for each lane
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
    b->function = NULL;         // a constant belongs to all
    u32 row = new_rows(b, width, 1);
    b->function = function;
    k->registers--;
    k->constants[k->constant_count++] = (Constant){ .row = row, .width = width, .special = special, .value = value };
    return row;
}

// ---- instructions that cannot run ----

static void unsupported(Body *b, const char *what, const char *name)
{
    if (b->k->unsupported) return;
    struct obstack *memory = &b->d->module->memory;
    char text[256];
    snprintf(text, sizeof text, "%s %s", what, name);
    b->k->unsupported = obstack_copy0(memory, text, strlen(text));
    b->k->unsupported_at = b->location;
}

// ---- operands ----

static const struct { const char *name; u32 special; } specials[] = {
    { "%tid.x", SPECIAL_TID_X }, { "%tid.y", SPECIAL_TID_Y }, { "%tid.z", SPECIAL_TID_Z },
    { "%ntid.x", SPECIAL_NTID_X }, { "%ntid.y", SPECIAL_NTID_Y }, { "%ntid.z", SPECIAL_NTID_Z },
    { "%ctaid.x", SPECIAL_CTAID_X }, { "%ctaid.y", SPECIAL_CTAID_Y }, { "%ctaid.z", SPECIAL_CTAID_Z },
    { "%nctaid.x", SPECIAL_NCTAID_X }, { "%nctaid.y", SPECIAL_NCTAID_Y }, { "%nctaid.z", SPECIAL_NCTAID_Z },
    { "%laneid", SPECIAL_LANEID }, { "%warpid", SPECIAL_WARPID }, { "%nwarpid", SPECIAL_NWARPID },
    { "%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM }, { "%total_smem_size", SPECIAL_TOTAL_SMEM },
    { "%lanemask_eq", SPECIAL_LANEMASK_EQ }, { "%lanemask_lt", SPECIAL_LANEMASK_LT },
    { "%lanemask_le", SPECIAL_LANEMASK_LE }, { "%lanemask_gt", SPECIAL_LANEMASK_GT },
    { "%lanemask_ge", SPECIAL_LANEMASK_GE },
    { "%smid", SPECIAL_SMID }, { "%nsmid", SPECIAL_NSMID }, { "%gridid", SPECIAL_GRIDID },
    { "%clock", SPECIAL_CLOCK }, { "%clock_hi", SPECIAL_CLOCK_HI }, { "%clock64", SPECIAL_CLOCK },
    { "%globaltimer", SPECIAL_GLOBALTIMER }, { "%globaltimer_lo", SPECIAL_GLOBALTIMER },
    { "%globaltimer_hi", SPECIAL_GLOBALTIMER_HI },
};

static u32 find_special(const char *name)
{
    for (u32 n = 0; n < sizeof specials / sizeof *specials; n++)
        if (!strcmp(name, specials[n].name)) return specials[n].special;
    return SPECIAL_NONE;
}

static bool is_clock(u32 special) { return special >= SPECIAL_CLOCK && special <= SPECIAL_GLOBALTIMER_HI; }

// A register by name: one of its own, or number N of the family before its digits. *row is 0 if there is none.
static bool find_register(Body *b, const char *name, u32 *row, u32 *width)
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
    *row = s->value + number * row_bytes(s->width), *width = s->width;
    return true;
}

static Symbol *declare(Body *b, const char *name, enum symbol_kind kind, u64 value)
{
    Declared *entry = decoder_keep(b->d, sizeof *entry);
    *entry = (Declared){ decoder_symbol(b->d, b->names, name, kind, value), b->depth, b->declared };
    b->declared = entry;
    return entry->symbol;
}

// At the end of a scope: its branches whose label is known get their target; the others go to the scope around it.
static void resolve_branches(Body *b)
{
    for (Fixup **at = &b->branches; *at;) {
        const Symbol *s = symbol_find(b->names, (*at)->label);
        bool inside = (*at)->depth == b->depth;
        if (inside && s && s->kind == SYMBOL_LABEL) {
            b->k->code[(*at)->insn].target = s->value;
            *at = (*at)->next;
        } else {
            (*at)->depth -= inside;
            at = &(*at)->next;
        }
    }
}

// At a '}': what was declared behind its '{' is known no longer, and outer things of the same names are again.
static void end_scope(Body *b)
{
    resolve_branches(b);
    for (; b->declared && b->declared->depth == b->depth; b->declared = b->declared->next) symbol_remove(b->names, b->declared->symbol);
    b->depth--;
}

static const Symbol *find_symbol(Body *b, const char *name)
{
    const Symbol *s = symbol_find(b->names, name);
    return s ? s : symbol_find(&b->d->module->symbols, name);
}

// Gives a shared variable of the module its place in this kernel, when the kernel first names it.
static u64 place_shared(Body *b, const Symbol *s)
{
    if (s->value != UNPLACED) return s->value;
    b->k->shared_bytes = align_up(b->k->shared_bytes, s->align);
    Symbol *mine = decoder_symbol(b->d, b->names, s->name, SYMBOL_SHARED, b->k->shared_bytes);
    b->k->shared_bytes += s->size;
    return mine->value;
}

// The row into which a call puts the address of a variable in its frame.
static u32 frame_variable(Body *b, const Symbol *s, u32 width, u64 offset)
{
    FrameVariable *v = decoder_keep(b->d, sizeof *v);
    *v = (FrameVariable){ .row = new_rows(b, width, 1), .width = width, .offset = s->value + offset,
                          .next = b->function->variables };
    b->function->variables = v;
    return v->row;
}

// The row that holds a variable's address.
static u32 address_row(Body *b, const char *name, u32 width)
{
    const Symbol *s = find_symbol(b, name);
    if (!s) ptx_fail(b->p, "nothing is called %s", name);
    switch (s->kind) {
    case SYMBOL_FUNCTION:
        return constant(b, width, FUNCTION_BASE + FUNCTION_BYTES * s->value, SPECIAL_NONE);
    case SYMBOL_LOCAL:
        if (b->function) return frame_variable(b, s, width, 0);
        return constant(b, width, s->value, SPECIAL_NONE);
    case SYMBOL_GLOBAL: case SYMBOL_PARAM:
        return constant(b, width, s->value, SPECIAL_NONE);
    case SYMBOL_SHARED:
        return constant(b, width, place_shared(b, s), SPECIAL_NONE);
    case SYMBOL_DYNAMIC:
        if (s->align > b->dynamic_align) b->dynamic_align = s->align;
        return constant(b, width, 0, SPECIAL_DYNAMIC_BASE);
    default:
        unsupported(b, "the address of", name);
        return constant(b, width, 0, SPECIAL_NONE);
    }
}

static u64 immediate(Body *b, u32 width, bool is_float)
{
    Ptx *p = b->p;
    bool minus = ptx_accept(p, "-");
    if (p->token != TOKEN_NUMBER) ptx_fail(p, "an operand should stand where '%.*s' does", (int)p->length, p->start);
    u64 bits = p->number;
    if (p->number_width == 8 && width == 4) {
        union { u64 bits; f64 value; } wide = { bits };
        union { f32 value; u32 bits; } narrow = { (f32)wide.value };
        bits = narrow.bits;
    } else if (p->number_width == 0 && is_float) {
        union { f64 value; u64 bits; } wide = { (f64)bits };
        union { f32 value; u32 bits; } narrow = { (f32)bits };
        bits = width == 4 ? narrow.bits : wide.bits;
    }
    bool negate_float = p->number_width || is_float;
    ptx_next(p);
    if (!minus) return bits;
    return negate_float ? bits ^ 1ull << (8 * width - 1) : 0 - bits;
}

// A source operand of that type, as a row. *width: the register's own, which CONVERT allows to be another.
static u32 source(Body *b, enum type type, u8 *width)
{
    Ptx *p = b->p;
    u32 wanted = type == TYPE_pred ? 0 : isa_type_width(type), row, found;
    if (width) *width = wanted;
    if (p->token != TOKEN_WORD) return constant(b, wanted, immediate(b, wanted, type == TYPE_f32 || type == TYPE_f64), 0);
    char *name = ptx_word(p);
    if (find_register(b, name, &row, &found)) {
        if (width) *width = found;
        else if (found != wanted) ptx_fail(p, "register %s is not of type .%s", name, isa_type_name(type));
        return row;
    }
    u32 special = find_special(name);
    if (is_clock(special)) {
        unsupported(b, "an operand that is the register", name);
        return constant(b, wanted, 0, SPECIAL_NONE);
    }
    if (special) return constant(b, wanted, 0, special);
    if (*name == '%') {
        unsupported(b, "the register", name);
        return constant(b, wanted, 0, SPECIAL_NONE);
    }
    row = address_row(b, name, wanted);
    if (ptx_accept(p, "+")) {
        const Symbol *s = find_symbol(b, name);
        if (s->kind == SYMBOL_DYNAMIC) unsupported(b, "an offset to", name);
        if (s->kind == SYMBOL_LOCAL && b->function) return frame_variable(b, s, wanted, ptx_integer(p));
        u64 base = s->kind == SYMBOL_SHARED ? place_shared(b, s) : s->value;
        return constant(b, wanted, base + ptx_integer(p), SPECIAL_NONE);
    }
    return row;
}

// A destination; '_' is one that nobody reads.
static u32 destination(Body *b, enum type type, u8 *width)
{
    u32 wanted = type == TYPE_pred ? 0 : isa_type_width(type), row, found;
    if (width) *width = wanted;
    char *name = ptx_word(b->p);
    if (!strcmp(name, "_")) return new_rows(b, wanted, 1);
    if (!find_register(b, name, &row, &found)) ptx_fail(b->p, "%s is not a register", name);
    if (width) *width = found;
    else if (found != wanted) ptx_fail(b->p, "register %s is not of type .%s", name, isa_type_name(type));
    return row;
}

// ---- instructions ----

static Insn *new_insn(Body *b)
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

static void skip_statement(Body *b)
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
    if (b->p->token != TOKEN_WORD || row->shape != UNARY || strncmp(row->name, "mov_", 4)) return false;
    snprintf(name, sizeof name, "%.*s", (int)b->p->length, b->p->start);
    i->target = find_special(name);
    if (!is_clock(i->target)) return false;
    i->run = run_clock;
    ptx_next(b->p);
    return true;
}

static void list_of_four(Body *b, Insn *i, enum type type, bool write)
{
    ptx_expect(b->p, "{");
    for (u32 n = 0; n < 4; n++) {
        if (n) ptx_expect(b->p, ",");
        i->vector[n] = write ? destination(b, type, NULL) : source(b, type, NULL);
    }
    ptx_expect(b->p, "}");
}

static void four_operands(Body *b, Insn *i, const IsaRow *row)
{
    if (row->shape == UNPACK_4) list_of_four(b, i, row->type[0], true);
    else i->d = destination(b, row->type[0], NULL);
    ptx_expect(b->p, ",");
    if (row->shape == PACK_4) list_of_four(b, i, row->type[1], false);
    else i->a = source(b, row->type[1], NULL);
}

static void alu_operands(Body *b, Insn *i, const IsaRow *row)
{
    Ptx *p = b->p;
    bool convert = row->shape == CONVERT;
    u8 width;
    if (row->shape == UNPACK) {
        ptx_expect(p, "{");
        i->d = destination(b, row->type[0], NULL);
        ptx_expect(p, ",");
        i->b = destination(b, row->type[2], NULL);
        ptx_expect(p, "}");
    } else {
        i->d = destination(b, row->type[0], convert ? &i->register_width : NULL);
    }
    if (convert && i->register_width < isa_type_width(row->type[0]))
        ptx_fail(p, "the register is narrower than .%s", isa_type_name(row->type[0]));
    ptx_expect(p, ",");
    if (clock_operand(b, i, row)) return;
    if (row->shape == PACK) ptx_expect(p, "{");
    i->a = source(b, row->type[1], convert ? &width : NULL);
    if (convert) i->source_width = width;
    if (convert && width < isa_type_width(row->type[1]))
        ptx_fail(p, "the register is narrower than .%s", isa_type_name(row->type[1]));
    if (row->inputs > 1) ptx_expect(p, ","), i->b = source(b, row->type[2], NULL);
    if (row->shape == PACK) ptx_expect(p, "}");
    if (row->inputs > 2) ptx_expect(p, ","), i->c = source(b, row->type[3], NULL);
    if (row->shape == INSERT) ptx_expect(p, ","), i->vector[0] = source(b, TYPE_u32, NULL);
    if (row->shape == CARRY && !b->carry) b->carry = new_rows(b, 0, 1);
    if (row->shape == CARRY) i->predicate = b->carry;
}

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(word, *list)) return true;
    return false;
}

// The parts of a memory instruction's opcode behind `ld` or `st`. False: one of them is not supported.
static bool memory_modifiers(Body *b, Insn *i, char *modifiers, char *space)
{
    static const char *const hints[] = { "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "cta", "gpu", "sys",
        "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
        "L2::64B", "L2::128B", "L2::256B", NULL };
    static const char *const strong[] = { "volatile", "relaxed", "acquire", "release", NULL };
    static const char *const spaces[] = { "global", "shared", "local", "param", "const", NULL };
    static const char *const types[] = { "b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64",
        "u64", "s64", "f64", NULL };
    i->elements = 1;
    for (char *rest = modifiers, *part; (part = strsep(&rest, "."));) {
        if (!strcmp(part, "shared::cta")) part = "shared";
        if (!strcmp(part, "param::entry") || !strcmp(part, "param::func")) part = "param";
        if (is_one_of(part, spaces)) strcpy(space, part);
        else if (is_one_of(part, strong)) i->strong = true;
        else if (!strcmp(part, "v2")) i->elements = 2;
        else if (!strcmp(part, "v4")) i->elements = 4;
        else if (is_one_of(part, types)) i->width = decoder_type(b->d, part), i->is_signed = *part == 's';
        else if (!is_one_of(part, hints)) return false;
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
        const Symbol *s = find_symbol(b, name);
        if (find_register(b, name, &i->a, &width)) {
            i->source_width = width;
        } else if (s && s->kind == SYMBOL_CALL_PARAM) {
            i->space = SPACE_CALL;
            i->a = s->value;
            i->target = s->size;
        } else if (s && s->kind == SYMBOL_PARAM) {
            i->offset = s->value;
        } else {
            i->a = address_row(b, name, address_width);
        }
        if (ptx_accept(p, "+") || ptx_is(p, "-")) i->offset += ptx_integer(p);
    } else {
        i->a = constant(b, address_width, ptx_integer(p), SPECIAL_NONE);
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
        if (p->token == TOKEN_WORD && find_register(b, obstack_copy0(p->memory, p->start, p->length), &i->vector[e], &width)) {
            if (width < i->width) ptx_fail(p, "register %.*s is narrower than what it moves", (int)p->length, p->start);
            i->register_width = width;
            ptx_next(p);
        } else {
            immediates |= 1u << e;
            if (store || !ptx_accept(p, "_")) value[e] = immediate(b, i->width, false);
        }
    }
    if (list) ptx_expect(p, "}");
    for (u32 e = 0; e < i->elements; e++) {     // these are as wide as the registers beside them
        if (!(immediates >> e & 1)) continue;
        i->vector[e] = store ? constant(b, i->register_width, value[e], SPECIAL_NONE) : new_rows(b, i->register_width, 1);
    }
}

static bool memory_instruction(Body *b, const char *opcode, Insn *i)
{
    char modifiers[128], name[32] = "", space[16] = "";
    size_t head = strcspn(opcode, ".");
    if (strlen(opcode) >= sizeof modifiers || !opcode[head] || (head != 2 && strncmp(opcode, "ldu", 3))) return false;
    strcpy(modifiers, opcode + head + 1);
    if (!memory_modifiers(b, i, modifiers, space)) return false;
    snprintf(name, sizeof name, "%.2s%s%s", opcode, *space ? "." : "", space);
    const IsaRow *row = isa_find(name, UNARY);
    if (!row) return false;
    i->row = row - isa_rows;
    i->run = row->run;
    i->space = row->space;
    if (row->store) {
        memory_address(b, i);
        ptx_expect(b->p, ",");
        memory_registers(b, i, true);
    } else {
        memory_registers(b, i, false);
        ptx_expect(b->p, ",");
        memory_address(b, i);
    }
    if ((row->space == SPACE_SHARED || row->space == SPACE_GENERIC) && i->width < b->granule) b->granule = i->width;
    return true;
}

// The opcode of an atomic without what the table leaves out: its space, which it returns, its scope, its order. red is
// atom with nobody to read the result.
static enum space atomic_opcode(const char *opcode, char *plain, size_t size)
{
    static const char *const dropped[] = { "relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys", NULL };
    enum space space = SPACE_GENERIC;
    char parts[128];
    snprintf(parts, sizeof parts, "%s", opcode);
    char *rest = parts;
    strsep(&rest, ".");
    snprintf(plain, size, "atom");
    for (char *part; (part = strsep(&rest, "."));) {
        if (!strcmp(part, "global")) space = SPACE_GLOBAL;
        else if (!strcmp(part, "shared") || !strcmp(part, "shared::cta")) space = SPACE_SHARED;
        else if (!is_one_of(part, dropped)) snprintf(plain + strlen(plain), size - strlen(plain), ".%s", part);
    }
    return space;
}

// atom d, [a], b, c; red [a], b
static bool atomic_instruction(Body *b, const char *opcode, Insn *i)
{
    char plain[128];
    bool red = !strncmp(opcode, "red.", 4);
    if (!red && strncmp(opcode, "atom.", 5)) return false;
    i->space = atomic_opcode(opcode, plain, sizeof plain);
    const IsaRow *row = isa_find(plain, UNARY);
    if (!row) return false;
    i->row = row - isa_rows;
    i->run = row->run;
    i->width = i->register_width = isa_type_width(row->type[0]);
    i->elements = 1;
    i->strong = true;
    i->reduces = red;
    if (!red) i->d = destination(b, row->type[0], NULL), ptx_expect(b->p, ",");
    memory_address(b, i);
    ptx_expect(b->p, ",");
    i->vector[0] = source(b, row->type[2], NULL);
    i->c = i->vector[0];
    if (ptx_accept(b->p, ",")) i->c = source(b, row->type[3], NULL);
    if (i->space != SPACE_GLOBAL && i->width < b->granule) b->granule = i->width;
    return true;
}

// An opcode of setp or set, with what the table leaves out.
typedef struct Comparison {
    char plain[64];             // setp, the comparison, and the type that is compared
    enum combine combine;
    bool as_number;
    const char *number;         // set: the type of what it gives
} Comparison;

static bool read_comparison(const char *opcode, char *parts, size_t size, Comparison *c)
{
    static const char *const combines[] = { [COMBINE_AND] = "and", [COMBINE_OR] = "or", [COMBINE_XOR] = "xor" };
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

// What `set` gives where the comparison holds.
static u64 number_for_true(const char *type)
{
    if (!strcmp(type, "f32")) return 0x3f800000;
    if (!strcmp(type, "f16")) return 0x3c00;
    if (!strcmp(type, "bf16")) return 0x3f80;
    return !strcmp(type, "u32") || !strcmp(type, "s32") ? 0xffffffff : !strcmp(type, "u16") || !strcmp(type, "s16") ? 0xffff : 0;
}

// setp p|q, a, b, c; set d, a, b, c: those that a COMPARE row's handler alone cannot do. False: it can.
static bool compare_instruction(Body *b, const char *opcode, Insn *i)
{
    char parts[128];
    Comparison c;
    Ptx *p = b->p;
    if (!read_comparison(opcode, parts, sizeof parts, &c)) return false;
    const IsaRow *row = isa_find(c.plain, UNARY);
    if (!row || row->shape != COMPARE || (c.as_number && !number_for_true(c.number))) return false;
    i->row = row - isa_rows;
    i->run = row->run;
    i->combine = c.combine;
    i->as_number = c.as_number;
    if (c.as_number) {
        i->offset = number_for_true(c.number);
        i->register_width = decoder_type(b->d, c.number);
        i->vector[0] = destination(b, i->register_width == 2 ? TYPE_u16 : TYPE_u32, NULL);
        i->d = new_rows(b, 0, 1);
    } else {
        i->d = destination(b, TYPE_pred, NULL);
        if (ptx_accept(p, "|")) i->predicate = destination(b, TYPE_pred, NULL);
    }
    ptx_expect(p, ",");
    i->a = source(b, row->type[1], NULL);
    ptx_expect(p, ",");
    i->b = source(b, row->type[2], NULL);
    if (i->combine) {
        ptx_expect(p, ",");
        i->flip = ptx_accept(p, "!") ? ~0u : 0;
        i->c = source(b, TYPE_pred, NULL);
    }
    if (i->combine || i->as_number || i->predicate) i->run = run_compare;
    return true;
}

// d|q, a, b, c, members: what of these the row has, in this order.
static void exchange_operands(Body *b, Insn *i, const IsaRow *row)
{
    Ptx *p = b->p;
    bool first = true;
    for (const char *o = row->lane; *o; o++) {
        if (*o == ',' || *o == ' ' || *o == '|') continue;
        if (*o != 'q' && !first) ptx_expect(p, ",");
        first = false;
        if (*o == 'd') i->d = destination(b, row->type[0], NULL);
        else if (*o == 'q') i->predicate = ptx_accept(p, "|") ? destination(b, TYPE_pred, NULL) : 0;
        else if (*o == 'a') i->flip = ptx_accept(p, "!") ? ~0u : 0, i->a = source(b, row->type[1], NULL);
        else if (*o == 'b') i->b = source(b, TYPE_u32, NULL);
        else if (*o == 'c') i->c = source(b, TYPE_u32, NULL);
        else {
            i->members = source(b, TYPE_u32, NULL);
            break;
        }
    }
}

// The number in the kernel of a function that it calls, which is to be read if it was not called before.
static u32 function_of(Body *b, const Text *text)
{
    Kernel *k = b->k;
    for (u32 n = 0; n < k->function_count; n++)
        if (k->functions[n].number == text->number) return n;
    Function *f = &k->functions[k->function_count];
    *f = (Function){ .name = text->name, .number = text->number };
    return k->function_count++;
}

static const Text *text_of(const Body *b, u32 number)
{
    const Text *text = b->d->module->functions;
    while (text->number != number) text = text->next;
    return text;
}

static Passed passed(Body *b, const char *function)
{
    const Symbol *s = symbol_find(b->names, ptx_word(b->p));
    if (!s || s->kind != SYMBOL_CALL_PARAM) ptx_fail(b->p, "the parameters of %s are not as declared", function);
    return (Passed){ .row = s->value, .bytes = s->size };
}

// (parameter, ...)
static void passed_list(Body *b, CallSite *site, const char *function)
{
    Ptx *p = b->p;
    u32 room = 0;
    ptx_expect(p, "(");
    while (!ptx_accept(p, ")")) {
        if (site->param_count == room) {
            room = 2 * room + 8;
            Passed *larger = decoder_keep(b->d, room * sizeof *larger);
            if (site->params) memcpy(larger, site->params, site->param_count * sizeof *larger);
            site->params = larger;
        }
        site->params[site->param_count++] = passed(b, function);
        ptx_accept(p, ",");
    }
}

static CallSite *new_call(Body *b)
{
    Kernel *k = b->k;
    if (k->call_count == b->call_room) {
        b->call_room = 2 * b->call_room + 8;
        CallSite *larger = decoder_keep(b->d, b->call_room * sizeof *larger);
        if (k->calls) memcpy(larger, k->calls, k->call_count * sizeof *larger);
        k->calls = larger;
    }
    return &k->calls[k->call_count++];
}

// A function of the device's own, in print_functions: its operands are rows.
static void call_own(Insn *i, const CallSite *site, u32 number)
{
    u32 *operands[] = { &i->a, &i->b, &i->c, &i->vector[0], &i->vector[1] };
    i->target = number;
    i->d = site->result.row;
    for (u32 n = 0; n < site->param_count && n < sizeof operands / sizeof *operands; n++) *operands[n] = site->params[n].row;
}

// call (result), function or register, (parameters), prototype or list of functions
static void call_operands(Body *b, Insn *i)
{
    Ptx *p = b->p;
    CallSite site = { .function = ~0u };
    u32 width;
    if (ptx_accept(p, "(")) {
        site.result = passed(b, "this call");
        ptx_expect(p, ")");
        ptx_expect(p, ",");
    }
    char *name = ptx_word(p);
    const Symbol *s = find_symbol(b, name);
    bool pointer = find_register(b, name, &site.address, &width);
    bool own = s && s->kind == SYMBOL_EXTERN && s->value != UNPLACED;
    if (!pointer && !own && (!s || s->kind != SYMBOL_FUNCTION)) {
        unsupported(b, "a call of", name);
        skip_statement(b);
        return;
    }
    if (ptx_accept(p, ",")) {
        if (ptx_is(p, "(")) passed_list(b, &site, name);
        skip_statement(b);
    }
    if (own && !pointer) {
        call_own(i, &site, s->value);
        return;
    }
    if (pointer) b->indirect = true;
    else site.function = function_of(b, text_of(b, s->value));
    *new_call(b) = site;
    i->target = b->k->call_count - 1;
    i->run = run_function;
}

// Is the next operand a predicate?
static bool at_predicate(Body *b)
{
    Ptx *p = b->p;
    u32 row, width = 1;
    if (ptx_is(p, "!")) return true;
    return p->token == TOKEN_WORD && find_register(b, obstack_copy0(p->memory, p->start, p->length), &row, &width) && !width;
}

// [d,] number [, threads] [, predicate]
static void barrier_operands(Body *b, Insn *i, const IsaRow *row)
{
    Ptx *p = b->p;
    bool reduces = strstr(row->name, "_red_");
    if (reduces) i->d = destination(b, strstr(row->name, "_popc_") ? TYPE_u32 : TYPE_pred, NULL), ptx_expect(p, ",");
    i->a = source(b, TYPE_u32, NULL);
    if (ptx_accept(p, ",")) {
        bool last = at_predicate(b);
        if (!last) i->b = source(b, TYPE_u32, NULL);
        if (reduces && !last) ptx_expect(p, ",");
    }
    if (reduces) i->flip = ptx_accept(p, "!") ? ~0u : 0, i->c = source(b, TYPE_pred, NULL);
}

static void flow_operands(Body *b, Insn *i, const IsaRow *row)
{
    Ptx *p = b->p;
    if (!strcmp(row->lane, "target")) {
        Fixup *f = decoder_keep(b->d, sizeof *f);
        *f = (Fixup){ .insn = i - b->k->code, .label = ptx_word(p), .depth = b->depth, .next = b->branches };
        b->branches = f;
    } else if (!strcmp(row->lane, "barrier")) {
        barrier_operands(b, i, row);
    } else if (!strcmp(row->lane, "call")) {
        call_operands(b, i);
    } else if (!strcmp(row->lane, "[a]") || !strcmp(row->lane, "number")) {
        skip_statement(b);
    } else if (!strcmp(row->lane, "a")) {
        i->a = source(b, TYPE_u32, NULL);
    }
}

// The row of an opcode as it is written, or without what makes no difference to what it does.
static const IsaRow *find_row(const char *opcode, enum shape shape)
{
    static const struct { const char *suffix, *instead; } same[] = {
        { ".uni", "" }, { "vote.ballot.sync.b32", "vote.sync.ballot.b32" },
        { "vote.any.sync.pred", "vote.sync.any.pred" }, { "vote.all.sync.pred", "vote.sync.all.pred" },
        { "vote.uni.sync.pred", "vote.sync.uni.pred" }, { ".rn.f32", ".f32" }, { ".rn.ftz.f32", ".ftz.f32" }, { ".rn.f64", ".f64" },
        { ".rn.f16", ".f16" }, { ".rn.bf16", ".bf16" }, { ".rn.f16x2", ".f16x2" }, { ".rn.bf16x2", ".bf16x2" },
        { "cvt.rn.f32.f16", "cvt.f32.f16" }, { "cvt.rn.f32.bf16", "cvt.f32.bf16" },
        { "barrier.sync.aligned", "bar.sync" }, { "barrier.arrive.aligned", "bar.arrive" },
        { "barrier.red.and.aligned.pred", "bar.red.and.pred" }, { "barrier.red.or.aligned.pred", "bar.red.or.pred" },
        { "barrier.red.popc.aligned.u32", "bar.red.popc.u32" }, { "bar.cta.sync", "bar.sync" },
        { "barrier.cta.sync", "barrier.sync" }, { "barrier.cta.sync.aligned", "bar.sync" },
    };
    const IsaRow *row = isa_find(opcode, shape);
    for (u32 n = 0; !row && n < sizeof same / sizeof *same; n++) {
        size_t whole = strlen(opcode), tail = strlen(same[n].suffix);
        if (whole < tail || strcmp(opcode + whole - tail, same[n].suffix)) continue;
        char other[128];
        snprintf(other, sizeof other, "%.*s%s", (int)(whole - tail), opcode, same[n].instead);
        row = isa_find(other, shape);
    }
    return row;
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
    *row = source(b, TYPE_pred, NULL);
}

static void instruction(Body *b)
{
    Ptx *p = b->p;
    u32 guard_row, guard_flip;
    guard(b, &guard_row, &guard_flip);
    char *opcode = ptx_word(p);
    Insn *i = new_insn(b);
    i->guard = guard_row;
    i->guard_flip = guard_flip;
    if (memory_instruction(b, opcode, i) || atomic_instruction(b, opcode, i) || compare_instruction(b, opcode, i)) {
        ptx_expect(p, ";");
        return;
    }
    const IsaRow *row = find_row(opcode, list_shape(p));
    if (!row || row->shape == MEMORY || row->shape == ATOMIC) {
        unsupported(b, "the instruction", opcode);
        skip_statement(b);
    } else {
        i->row = row - isa_rows;
        i->run = row->run;
        if (row->shape == FLOW) flow_operands(b, i, row);
        else if (row->shape == EXCHANGE) exchange_operands(b, i, row);
        else if (row->shape == PACK_4 || row->shape == UNPACK_4) four_operands(b, i, row);
        else alu_operands(b, i, row);
    }
    ptx_expect(p, ";");
}

// ---- declarations ----

static void registers(Body *b)
{
    Ptx *p = b->p;
    char *type = ptx_word(p);
    u32 width = decoder_type(b->d, type + 1);
    do {
        char *name = ptx_word(p);
        u32 count = 1;
        bool family = ptx_accept(p, "<");
        if (family) count = ptx_integer(p), ptx_expect(p, ">");
        Symbol *s = declare(b, name, family ? SYMBOL_REGISTERS : SYMBOL_REGISTER, 0);
        s->value = new_rows(b, width, count);
        s->width = width;
        s->count = count;
    } while (ptx_accept(p, ","));
    ptx_expect(p, ";");
}

static void body_variable(Body *b, enum symbol_kind kind)
{
    Declaration v = decoder_declaration(b->d);
    u64 value = 0;
    if (kind == SYMBOL_CALL_PARAM) {
        value = new_rows(b, align_up(v.size ? v.size : 1, 2), 1);
    } else {
        u32 *bytes = kind == SYMBOL_SHARED ? &b->k->shared_bytes : b->function ? &b->function->frame_bytes : &b->k->local_bytes;
        value = *bytes = align_up(*bytes, v.align);
        *bytes += v.size;
    }
    declare(b, v.name, kind, value)->size = v.size;
    ptx_expect(b->p, ";");
}

static u32 new_location(Module *m, u32 file, Location l)
{
    if (m->location_count == m->location_room) {
        m->location_room = m->location_room ? 2 * m->location_room : 256;
        m->locations = realloc(m->locations, m->location_room * sizeof *m->locations);
        m->location_file = realloc(m->location_file, m->location_room * sizeof *m->location_file);
        if (!m->locations || !m->location_file) abort();
    }
    m->locations[m->location_count] = l;
    m->location_file[m->location_count] = file;
    return m->location_count++;
}

// The latest location of that place, which knows what it was inlined into; a new one if it was never named.
static u32 find_location(Module *m, u32 file, u32 line, u32 column)
{
    for (u32 n = m->location_count; n-- > 0;) {
        const Location *l = &m->locations[n];
        if (m->location_file[n] == file && l->line == line && l->column == column) return n;
    }
    return new_location(m, file, (Location){ .line = line, .column = column, .inlined_at = -1 });
}

// .loc file line column [, function_name label [+ n], inlined_at file line column]. A line of 0 says nothing.
static void location(Body *b)
{
    Ptx *p = b->p;
    u32 file = ptx_integer(p);
    Location l = { .line = ptx_integer(p), .inlined_at = -1 };
    l.column = ptx_integer(p);
    if (ptx_accept(p, ",")) {
        ptx_expect(p, "function_name");
        l.function = ptx_word(p);
        if (ptx_accept(p, "+")) ptx_integer(p);
        ptx_expect(p, ",");
        ptx_expect(p, "inlined_at");
        u32 outer_file = ptx_integer(p), outer_line = ptx_integer(p);
        l.inlined_at = find_location(b->d->module, outer_file, outer_line, ptx_integer(p));
    }
    if (l.line) b->location = new_location(b->d->module, file, l);
}

static void label(Body *b, char *name)
{
    declare(b, name, SYMBOL_LABEL, b->k->code_count);
}

// A word and then ':' is a label; the lexer has gone no further than the word.
static bool at_label(const Ptx *p)
{
    const char *next = p->at;
    while (next < p->end && (*next == ' ' || *next == '\t')) next++;
    return p->token == TOKEN_WORD && next < p->end && *next == ':';
}

static void body_statement(Body *b)
{
    Ptx *p = b->p;
    if (ptx_accept(p, "{")) b->depth++;
    else if (ptx_accept(p, "}")) end_scope(b);
    else if (ptx_accept(p, ";")) return;
    else if (at_label(p)) label(b, ptx_word(p)), ptx_expect(p, ":");
    else if (ptx_accept(p, ".callprototype") || ptx_accept(p, ".calltargets") || ptx_accept(p, ".noreturn")) skip_statement(b);
    else if (ptx_accept(p, ".reg")) registers(b);
    else if (ptx_accept(p, ".loc")) location(b);
    else if (ptx_accept(p, ".shared")) body_variable(b, SYMBOL_SHARED);
    else if (ptx_accept(p, ".local")) body_variable(b, SYMBOL_LOCAL);
    else if (ptx_accept(p, ".param")) body_variable(b, SYMBOL_CALL_PARAM);
    else if (ptx_accept(p, ".pragma")) skip_statement(b);
    else if (p->token == TOKEN_WORD && *p->start == '.') ptx_fail(p, "%s is not supported here", ptx_word(p));
    else instruction(b);
}

// An atomic whose result no instruction reads only reduces: the hardware sends no answer for it.
static void find_reductions(Body *b)
{
    Kernel *k = b->k;
    bool *read = calloc(b->rows / 64 + 1, sizeof *read);
    if (!read) abort();
    for (u32 n = 0; n < k->code_count; n++) {
        const Insn *i = &k->code[n];
        const IsaRow *row = &isa_rows[i->row];
        const u32 operands[] = { i->guard, i->a, i->b, i->c, i->members };
        for (u32 o = 0; o < sizeof operands / sizeof *operands; o++) read[operands[o] / 64] = true;
        bool loads = row->shape == MEMORY && !row->store;
        for (u32 e = 0; !loads && e < 4; e++) read[i->vector[e] / 64] = true;
    }
    for (u32 n = 0; n < k->code_count; n++)
        if (isa_rows[k->code[n].row].shape == ATOMIC && !read[k->code[n].d / 64]) k->code[n].reduces = true;
    free(read);
}

// Falling off the end is a return. Labels belong to the function alone.
static void finish_function(Body *b)
{
    if (b->branches) ptx_fail(b->p, "there is no label %s to branch to", b->branches->label);
    Insn *end = new_insn(b);
    const IsaRow *ret = isa_find("ret", UNARY);
    end->row = ret - isa_rows;
    end->run = ret->run;
}

static void body_of(Body *b)
{
    do body_statement(b);
    while (b->depth);
    finish_function(b);
}

// (.param .b32 name, ...), as rows of the function's own.
static Passed *formals(Body *b, u32 *count)
{
    Ptx *p = b->p;
    Passed *list = decoder_keep(b->d, 256 * sizeof *list);
    ptx_expect(p, "(");
    while (!ptx_accept(p, ")")) {
        if (*count == 256) ptx_fail(p, "function %s has too many parameters", b->function->name);
        ptx_expect(p, ".param");
        Declaration v = decoder_declaration(b->d);
        Symbol *s = decoder_symbol(b->d, b->names, v.name, SYMBOL_CALL_PARAM, 0);
        s->size = v.size;
        s->value = new_rows(b, align_up(v.size ? v.size : 1, 2), 1);
        list[(*count)++] = (Passed){ .row = s->value, .bytes = v.size };
        ptx_accept(p, ",");
    }
    return list;
}

static void read_function(Body *b, Function *f)
{
    const Text *text = text_of(b, f->number);
    Ptx *p = b->p;
    b->function = f;
    b->names = decoder_keep(b->d, sizeof *b->names);
    b->carry = 0;
    b->location = ~0u;
    u32 results = 0;
    if (text->results.token != TOKEN_END) {
        ptx_go(p, text->results);
        Passed *result = formals(b, &results);
        if (results) f->result = result[0];
    }
    ptx_go(p, text->params);
    if (ptx_is(p, "(")) f->params = formals(b, &f->param_count);
    ptx_go(p, text->body);
    f->entry = b->k->code_count;
    body_of(b);
    f->frame_bytes = align_up(f->frame_bytes, 16);
    b->function = NULL;
}

// What the kernel calls, and what that calls. Through a pointer it may be any function.
static void read_functions(Body *b)
{
    Kernel *k = b->k;
    for (u32 n = 0; n < k->function_count || b->indirect; n++) {
        if (n == k->function_count) {
            for (const Text *t = b->d->module->functions; t; t = t->next) function_of(b, t);
            b->indirect = false;
            if (n == k->function_count) break;
        }
        read_function(b, &k->functions[n]);
    }
}

// Can one of a kernel's functions be in two calls at once? Only through a call of one that was read earlier, or a pointer.
static bool may_recurse(const Kernel *k)
{
    for (u32 n = 0; n < k->call_count; n++) {
        if (k->calls[n].function == ~0u) return true;
    }
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const Insn *i = &k->code[pc];
        if (i->run == run_function && pc >= k->functions[k->calls[i->target].function].entry) return true;
    }
    return false;
}

// Local memory: the kernel's own, and behind it room for frames: one of each function, or, where functions may call
// themselves, what a thread has by default and more.
static void place_frames(Kernel *k)
{
    enum { STACK_BYTES = 4096 };
    k->local_bytes = align_up(k->local_bytes, 16);
    k->frames_at = k->local_bytes;
    if (!k->function_count) return;
    u32 bytes = 0;
    for (u32 n = 0; n < k->function_count; n++) bytes += k->functions[n].frame_bytes;
    k->local_bytes += may_recurse(k) ? bytes + STACK_BYTES : bytes;
}

void decode_body(Decoder *d, Kernel *k, Symbols *names)
{
    Body b = { .d = d, .p = &d->ptx, .k = k, .names = names, .rows = 64, .granule = 4, .location = ~0u };
    k->functions = decoder_keep(d, d->module->function_count * sizeof *k->functions);
    body_of(&b);
    read_functions(&b);
    find_reductions(&b);
    k->shared_bytes = align_up(k->shared_bytes, b.dynamic_align);
    place_frames(k);
    k->register_bytes = align_up(b.rows, 64);
    k->shared_granule = b.granule;
}
