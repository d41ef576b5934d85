// Reads calls, and the functions that a kernel calls: their bodies become part of the kernel's
// code.
#include <string.h>

#include "body.h"

// The number in the kernel of a function that it calls, which is to be read if it was not called
// before.
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
    if (!s || s->kind != SYMBOL_CALL_PARAM)
        ptx_fail(b->p, "the parameters of %s are not as declared", function);
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

// A function of the system (program/system_functions.def): its operands are rows.
static void call_own(Insn *i, const CallSite *site, u32 number)
{
    u32 *operands[] = { &i->a,         &i->b,         &i->c,        &i->vector[0],
                        &i->vector[1], &i->vector[2], &i->vector[3] };
    i->target = number;
    i->d = site->result.row;
    for (u32 n = 0; n < site->param_count && n < sizeof operands / sizeof *operands; n++)
        *operands[n] = site->params[n].row;
}

// call (result), function or register, (parameters), prototype or list of functions
void body_call(Body *b, Insn *i)
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
    const Symbol *s = body_symbol(b, name);
    bool pointer = body_register(b, name, &site.address, &width);
    bool own = s && s->kind == SYMBOL_EXTERN && s->value != UNPLACED;
    if (!pointer && !own && (!s || s->kind != SYMBOL_FUNCTION)) {
        body_unsupported(b, "a call of", name);
        body_skip(b);
        return;
    }
    if (ptx_accept(p, ",")) {
        if (ptx_is(p, "(")) passed_list(b, &site, name);
        body_skip(b);
    }
    if (own && !pointer) {
        call_own(i, &site, s->value);
        return;
    }
    if (pointer) b->indirect = true;
    else site.function = function_of(b, text_of(b, s->value));
    *new_call(b) = site;
    i->target = b->k->call_count - 1;
    i->op = ISA_function;
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
        s->align = v.align;
        s->value = body_rows(b, align_up(v.size ? v.size : 1, 2), 1);
        list[(*count)++] = (Passed){ .row = s->value, .bytes = v.size };
        ptx_accept(p, ",");
    }
    return list;
}

static void take_address(void *body, const char *name)
{
    Symbol *s = symbol_find(((Body *)body)->names, name);
    if (s && s->kind == SYMBOL_CALL_PARAM) s->addressed = true;
}

static Insn *move(Body *b, enum row row, enum space space, u32 at, u32 width, u32 value)
{
    Insn *i = body_insn(b);
    body_set_row(i, &isa_rows[row]);
    i->space = space;
    i->offset = at;
    i->elements = 1;
    i->width = i->register_width = width;
    i->vector[0] = value;
    return i;
}

// A parameter whose address is taken is a variable of the frame, into which the function first
// copies what it was given.
static void into_frame(Body *b, Symbol *s)
{
    const u32 row = s->value, size = s->size;
    s->kind = SYMBOL_LOCAL;
    s->value = b->function->frame_bytes = align_up(b->function->frame_bytes, s->align);
    b->function->frame_bytes += size;
    const u32 address = body_address(b, s->name, 8);
    for (u32 at = 0, width = s->align < 8 ? s->align : 8; at < size; at += width) {
        while (width > size - at) width /= 2;
        u32 value = body_rows(b, width, 1);
        Insn *load = move(b, ROW_ld_param, SPACE_CALL, at, width, value);
        load->a = row;
        load->target = size;
        Insn *store = move(b, ROW_st_local, SPACE_LOCAL, at, width, value);
        store->a = address;
        store->source_width = 8;
    }
}

// Is any wider than a register?
static bool has_array(const Function *f)
{
    u32 n = 0;
    while (n < f->param_count && f->params[n].bytes <= sizeof(u128)) n++;
    return n < f->param_count;
}

static void params_into_frame(Body *b, const Text *text)
{
    decoder_go(b->d, text->unit, text->body);
    decoder_look_through(b->d, take_address, b);
    for (u32 n = 0; n < SYMBOL_BUCKETS; n++)
        for (Symbol *s = b->names->bucket[n]; s; s = s->next)
            if (s->addressed) into_frame(b, s);
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
        decoder_go(b->d, text->unit, text->results);
        Passed *result = formals(b, &results);
        if (results) f->result = result[0];
    }
    decoder_go(b->d, text->unit, text->params);
    if (ptx_is(p, "(")) f->params = formals(b, &f->param_count);
    f->entry = b->k->code_count;
    if (has_array(f)) params_into_frame(b, text);
    ptx_go(p, text->body);
    body_read(b);
    f->frame_bytes = align_up(f->frame_bytes, 16);
    b->function = NULL;
}

// What the kernel calls, and what that calls. Through a pointer it may be any function whose
// address is taken somewhere.
void body_functions(Body *b)
{
    Kernel *k = b->k;
    for (u32 n = 0; n < k->function_count || b->indirect; n++) {
        if (n == k->function_count) {
            for (const Address *a = b->d->addresses; a; a = a->next)
                if (a->of->kind == SYMBOL_FUNCTION) function_of(b, text_of(b, a->of->value));
            b->indirect = false;
            if (n == k->function_count) break;
        }
        read_function(b, &k->functions[n]);
    }
}

// Can one of a kernel's functions be in two calls at once? Only through a call of one that was read
// earlier, or a pointer.
static bool may_recurse(const Kernel *k)
{
    for (u32 n = 0; n < k->call_count; n++) {
        if (k->calls[n].function == ~0u) return true;
    }
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const Insn *i = &k->code[pc];
        if (i->op == ISA_function && pc >= k->functions[k->calls[i->target].function].entry)
            return true;
    }
    return false;
}

// Local memory: the kernel's own, and behind it room for frames: one of each function, and, where
// functions may call themselves or there is alloca, what call_make_room() adds.
void body_frames(Kernel *k)
{
    k->local_bytes = align_up(k->local_bytes, 16);
    k->frames_at = k->local_bytes;
    for (u32 pc = 0; pc < k->code_count; pc++) k->stack_grows |= k->code[pc].op == ISA_alloca;
    if (!k->function_count) return;
    for (u32 n = 0; n < k->function_count; n++) k->frame_bytes += k->functions[n].frame_bytes;
    k->local_bytes += k->frame_bytes;
    k->stack_grows |= may_recurse(k);
}
