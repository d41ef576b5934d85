// Decodes a kernel's body into the executor's form, statement by statement: every operand becomes a
// row of the register file, every branch an instruction's number.
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "isa/tensor.h"

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
        Symbol *s = body_declare(b, name, family ? SYMBOL_REGISTERS : SYMBOL_REGISTER, 0);
        s->value = body_rows(b, width, count);
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
        value = body_rows(b, align_up(v.size ? v.size : 1, 2), 1);
    } else {
        u32 *bytes = kind == SYMBOL_SHARED ? &b->k->shared_bytes
                   : b->function           ? &b->function->frame_bytes
                                           : &b->k->local_bytes;
        value = *bytes = align_up(*bytes, v.align);
        *bytes += v.size;
    }
    body_declare(b, v.name, kind, value)->size = v.size;
    ptx_expect(b->p, ";");
}

static u32 new_location(Decoder *d, u32 file, Location l)
{
    Decoded *m = d->module;
    if (m->location_count == m->location_room) {
        m->location_room = m->location_room ? 2 * m->location_room : 256;
        m->locations = realloc(m->locations, m->location_room * sizeof *m->locations);
        m->location_file = realloc(m->location_file, m->location_room * sizeof *m->location_file);
        if (!m->locations || !m->location_file) abort();
    }
    m->locations[m->location_count] = l;
    m->location_file[m->location_count] = (LocationFile){ d->unit, file };
    return m->location_count++;
}

// The latest location of that place, which knows what it was inlined into; a new one if it was
// never named.
static u32 find_location(Decoder *d, u32 file, u32 line, u32 column)
{
    const Decoded *m = d->module;
    for (u32 n = m->location_count; n-- > 0;) {
        const Location *l = &m->locations[n];
        const LocationFile *f = &m->location_file[n];
        if (f->unit == d->unit && f->number == file && l->line == line && l->column == column)
            return n;
    }
    return new_location(d, file, (Location){ .line = line, .column = column, .inlined_at = -1 });
}

// .loc file line column [, function_name label [+ n], inlined_at file line column]. A line of 0
// says nothing.
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
        l.inlined_at = find_location(b->d, outer_file, outer_line, ptx_integer(p));
    }
    if (l.line) b->location = new_location(b->d, file, l);
}

// name: .branchtargets label, ...;
static void branch_targets(Body *b, char *name)
{
    Ptx *p = b->p;
    enum { MOST_TARGETS = 4096 };
    u32 *list = decoder_keep(b->d, MOST_TARGETS * sizeof *list), count = 0;
    do {
        if (count == MOST_TARGETS) ptx_fail(p, "%s has too many targets", name);
        Fixup *f = decoder_keep(b->d, sizeof *f);
        *f = (Fixup){
            .to = &list[count++], .label = ptx_word(p), .depth = b->depth, .next = b->branches
        };
        b->branches = f;
    } while (ptx_accept(p, ","));
    ptx_expect(p, ";");
    body_declare(b, name, SYMBOL_TARGETS, (u64)list)->count = count;
}

// A label, or the name of a list of them.
static void label(Body *b, char *name)
{
    ptx_expect(b->p, ":");
    if (ptx_accept(b->p, ".branchtargets")) branch_targets(b, name);
    else body_declare(b, name, SYMBOL_LABEL, b->k->code_count);
}

// A word and then ':' is a label; the lexer has gone no further than the word.
static bool at_label(const Ptx *p)
{
    const char *next = p->at;
    while (next < p->end && (*next == ' ' || *next == '\t')) next++;
    return p->token == TOKEN_WORD && next < p->end && *next == ':';
}

// At the end of a scope: its branches whose label is known get their target; the others go to the
// scope around it.
static void resolve_branches(Body *b)
{
    for (Fixup **at = &b->branches; *at;) {
        const Symbol *s = symbol_find(b->names, (*at)->label);
        bool inside = (*at)->depth == b->depth;
        if (inside && s && s->kind == SYMBOL_LABEL) {
            *((*at)->to ? (*at)->to : &b->k->code[(*at)->insn].target) = s->value;
            *at = (*at)->next;
        } else {
            (*at)->depth -= inside;
            at = &(*at)->next;
        }
    }
}

// At a '}': what was declared behind its '{' is known no longer, and outer things of the same names
// are again.
static void end_scope(Body *b)
{
    resolve_branches(b);
    for (; b->declared && b->declared->depth == b->depth; b->declared = b->declared->next)
        symbol_remove(b->names, b->declared->symbol);
    b->depth--;
}

// `.reg`, which headers also write without a space behind it: `.reg.b32`.
static bool at_registers(Ptx *p)
{
    if (p->token != TOKEN_WORD || p->length < 5 || memcmp(p->start, ".reg.", 5))
        return ptx_accept(p, ".reg");
    p->at = p->start + 4;
    ptx_next(p);
    return true;
}

static void body_statement(Body *b)
{
    Ptx *p = b->p;
    b->statement = p->start;
    if (ptx_accept(p, "{")) b->depth++;
    else if (ptx_accept(p, "}")) end_scope(b);
    else if (ptx_accept(p, ";")) return;
    else if (at_label(p)) label(b, ptx_word(p));
    else if (ptx_accept(p, ".callprototype") || ptx_accept(p, ".calltargets")
             || ptx_accept(p, ".noreturn"))
        body_skip(b);
    else if (at_registers(p)) registers(b);
    else if (ptx_accept(p, ".loc")) location(b);
    else if (ptx_accept(p, ".shared")) body_variable(b, SYMBOL_SHARED);
    else if (ptx_accept(p, ".local")) body_variable(b, SYMBOL_LOCAL);
    else if (ptx_accept(p, ".param")) body_variable(b, SYMBOL_CALL_PARAM);
    else if (ptx_accept(p, ".pragma")) body_skip(b);
    else if (p->token == TOKEN_WORD && *p->start == '.')
        ptx_fail(p, "%s is not supported here", ptx_word(p));
    else body_instruction(b);
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
        if (row->shape == ATOMIC && i->list)
            for (u32 e = 0; e < i->elements; e++) read[i->list[i->elements + e] / 64] = true;
    }
    for (u32 n = 0; n < k->code_count; n++) {
        Insn *i = &k->code[n];
        bool unread = isa_rows[i->row].shape == ATOMIC && !read[i->d / 64];
        for (u32 e = 0; unread && i->list && e < i->elements; e++) unread = !read[i->list[e] / 64];
        if (unread) i->reduces = true;
    }
    free(read);
}

static bool is_constant(const Kernel *k, u32 row)
{
    for (u32 n = 0; n < k->constant_count; n++)
        if (k->constants[n].row == row) return !k->constants[n].special;
    return false;
}

static bool is_load(const Insn *i) { return insn_row(i)->shape == MEMORY && !insn_row(i)->store; }
static bool is_store(const Insn *i) { return insn_row(i)->shape == MEMORY && insn_row(i)->store; }

static bool is_binary(const Insn *i, enum op op)
{
    return i->op == op && insn_row(i)->shape == BINARY;
}

// Without optimisation a store to a bit field is: load its word, clear the field, put the bits in,
// store the word.
static void find_bit_fields(Kernel *k)
{
    enum { REACH = 4 };
    for (u32 n = 2; n + 1 < k->code_count; n++) {
        Insn *in = &k->code[n];
        const Insn *store = in + 1, *clear = in;
        if (!is_binary(in, ISA_or) || !is_store(store) || store->elements != 1
            || store->vector[0] != in->d)
            continue;
        while (--clear > k->code && clear + REACH > in && clear->d != in->a) {}
        const Insn *load = clear - 1;
        in->bit_field = clear > k->code && clear->d == in->a && is_binary(clear, ISA_and)
                     && is_constant(k, clear->b) && is_load(load) && load->vector[0] == clear->a
                     && load->a == store->a && load->offset == store->offset
                     && load->space == store->space && load->width == store->width;
    }
}

// Stores of a structure's members, by one address, leave out bytes in front of a member that must
// be aligned, and behind the last one, so that the next structure's first is. Nobody writes those,
// and copying them is no mistake.
static void find_padding(Kernel *k)
{
    enum { REACH = 32 };
    for (u32 n = 0; n < k->code_count; n++) {
        const Insn *member = &k->code[n], *behind = NULL, *widest = member;
        if (!is_store(member)) continue;
        s64 end = member->offset + member->elements * member->width;
        for (u32 m = n < REACH ? 0 : n - REACH; m < n + REACH && m < k->code_count; m++) {
            const Insn *other = &k->code[m];
            if (!is_store(other) || other->a != member->a || other->space != member->space)
                continue;
            if (other->elements * other->width > widest->elements * widest->width) widest = other;
            if (other->offset >= end && (!behind || other->offset < behind->offset)) behind = other;
        }
        s64 align = behind ? behind->elements * behind->width : widest->elements * widest->width;
        s64 left_out = behind ? behind->offset - end : -end & (align - 1);
        u32 power = (u32)__builtin_ctzll((u64)align);
        if (left_out > 0 && left_out < align && (end + left_out) % align == 0 && power < ALIGNMENTS
            && left_out > k->padding[power])
            k->padding[power] = (u8)left_out;
    }
}

static void mark_instructions(Kernel *k)
{
    for (Insn *i = k->code; i < k->code + k->code_count; i++) {
        const IsaRow *row = &isa_rows[i->row];
        if (row->shape == MEMORY || row->shape == ATOMIC) i->pattern = k->pattern_count++;
        if (row->shape == MATRIX)
            i->pattern = k->pattern_count, k->pattern_count += matrix_accesses(i->matrix);
        i->moves = row->shape == FLOW || row->shape == EXCHANGE || row->shape == MATRIX
                || i->op != row->op;
        i->plain = !i->moves && row->shape != MEMORY && row->shape != ATOMIC && row->shape != FENCE;
        k->sets_order |= row->shape == FENCE || i->order >= ORDER_ACQUIRE;
        i->observable = !i->plain && row->shape != MEMORY && i->op != ISA_bra && !insn_ends(i);
    }
}

// Falling off the end is a return. Labels belong to the function alone.
static void finish_function(Body *b)
{
    if (b->branches) ptx_fail(b->p, "there is no label %s to branch to", b->branches->label);
    body_set_row(body_insn(b), &isa_rows[ROW_ret]);
}

void body_read(Body *b)
{
    do body_statement(b);
    while (b->depth);
    finish_function(b);
}

static void read_kernel(Body *b)
{
    Kernel *k = b->k;
    body_read(b);
    body_functions(b);
    find_reductions(b);
    body_find_aggregation(b);
    find_bit_fields(k);
    find_padding(k);
    mark_instructions(k);
    k->shared_bytes = align_up(k->shared_bytes, b->dynamic_align);
    body_frames(k);
    k->shared_granule = b->granule;
}

// What cannot be read makes its kernel unsupported, and the module's others run: inline assembly is
// in one of them.
void decode_body(Decoder *d, Kernel *k, Symbols *names)
{
    Body *b = decoder_keep(d, sizeof *b);
    *b = (Body){
        .d = d, .p = &d->ptx, .k = k, .names = names, .rows = 64, .granule = 4, .location = ~0u
    };
    k->functions = decoder_keep(d, d->module->function_count * sizeof *k->functions);
    jmp_buf module;
    memcpy(module, d->ptx.failed, sizeof module);
    if (setjmp(d->ptx.failed)) body_unread(b);
    else read_kernel(b);
    k->register_bytes = align_up(b->rows, 64);
    memcpy(d->ptx.failed, module, sizeof module);
}
