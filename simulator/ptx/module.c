// Decodes a module: its variables, its kernels' headers, its source files. decode*.c read the
// kernels' bodies.
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "decoder.h"
#include "memory/memory.h"
#include "program/system_functions.h"

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

void *decoder_keep(Decoder *d, size_t bytes)
{
    return memset(obstack_alloc(&d->module->memory, bytes ? bytes : 1), 0, bytes);
}

Symbol *decoder_symbol(Decoder *d, Symbols *in, const char *name, enum symbol_kind kind, u64 value)
{
    Symbol *s = decoder_keep(d, sizeof *s);
    *s = (Symbol){ .name = name, .kind = kind, .value = value };
    symbol_add(in, s);
    return s;
}

u32 decoder_type(Decoder *d, const char *name)
{
    if (!strcmp(name, "pred")) return 0;
    const char *bits = name + (name[0] == 'b' && name[1] == 'f');
    if (strchr("busf", name[0])) {
        if (!strcmp(bits + 1, "8")) return 1;
        if (!strcmp(bits + 1, "16")) return 2;
        if (!strcmp(bits + 1, "16x2")) return 4;
        if (!strcmp(bits + 1, "32")) return 4;
        if (!strcmp(bits + 1, "64")) return 8;
        if (!strcmp(name, "b128")) return 16;
    }
    ptx_fail(&d->ptx, "type .%s is not supported by the simulated device", name);
}

// .attribute(.managed); the others have no meaning here.
static bool managed_attribute(Decoder *d)
{
    Ptx *p = &d->ptx;
    bool managed = false;
    ptx_expect(p, "(");
    while (!ptx_accept(p, ")")) {
        if (ptx_accept(p, ".managed")) managed = true;
        else
            ptx_fail(p, "the attribute '%.*s' is not supported by the simulated device",
                     (int)p->length, p->start);
    }
    return managed;
}

Declaration decoder_declaration(Decoder *d)
{
    Ptx *p = &d->ptx;
    Declaration v = { .width = 0 };
    u32 elements = 1;
    for (;;) {
        if (ptx_accept(p, ".align")) v.align = ptx_integer(p);
        else if (ptx_accept(p, ".v2")) elements = 2;
        else if (ptx_accept(p, ".v4")) elements = 4;
        else if (ptx_accept(p, ".attribute")) v.managed = managed_attribute(d);
        else if (ptx_accept(p, ".ptr") || ptx_accept(p, ".global") || ptx_accept(p, ".const"))
            continue;
        else break;
    }
    char *type = ptx_word(p);
    if (*type != '.') ptx_fail(p, "a type should stand where '%s' does", type);
    v.width = decoder_type(d, type + 1);
    // sm_100's `.param .u64 .ptr .global .align 1 name`
    while (p->token == TOKEN_WORD && *p->start == '.') {
        if (ptx_accept(p, ".align")) ptx_integer(p);
        else ptx_word(p);
    }
    v.name = ptx_word(p);
    v.size = v.width * elements;
    while (ptx_accept(p, "[")) {
        if (ptx_is(p, "]")) v.unsized = true;
        else v.size *= ptx_integer(p);
        ptx_expect(p, "]");
    }
    if (!v.align) v.align = v.width * elements;
    return v;
}

// An address in an initialiser of a function whose body may come later, or of another unit's
// variable.
static void note_address(Decoder *d, const Symbol *of, u64 plus, u8 *to)
{
    Address *a = decoder_keep(d, sizeof *a);
    *a = (Address){ .of = of, .plus = plus, .to = to, .next = d->addresses };
    d->addresses = a;
}

static void fill_addresses(Decoder *d)
{
    for (const Address *a = d->addresses; a; a = a->next) {
        if (!a->to) continue;
        u64 value = a->of->kind == SYMBOL_FUNCTION ? FUNCTION_BASE + FUNCTION_BYTES * a->of->value
                                                   : a->of->value + a->plus;
        if (a->of->kind == SYMBOL_FUNCTION || a->of->kind == SYMBOL_GLOBAL)
            memcpy(a->to, &value, sizeof value);
    }
}

// One value of an initialiser: a number, or an address (name, generic(name), either + number), to
// be stored at `to`.
static u64 initial_value(Decoder *d, u32 width, u8 *to)
{
    Ptx *p = &d->ptx;
    if (p->token != TOKEN_WORD) {
        bool minus = ptx_accept(p, "-");
        if (p->token != TOKEN_NUMBER) ptx_fail(p, "an initial value is missing");
        u64 value = p->number;
        if (p->number_width == 8 && width == 4) {
            union {
                u64 bits;
                double value;
            } wide = { value };
            union {
                float value;
                u32 bits;
            } narrow = { (float)wide.value };
            value = narrow.bits;
        }
        ptx_next(p);
        return minus ? 0 - value : value;
    }
    bool generic = ptx_accept(p, "generic");
    if (generic) ptx_expect(p, "(");
    char *name = ptx_word(p);
    if (generic) ptx_expect(p, ")");
    const Symbol *s = symbol_find(&d->unit->symbols, name);
    u64 plus = ptx_accept(p, "+") ? ptx_integer(p) : 0;
    if (s && (s->kind == SYMBOL_FUNCTION || s->kind == SYMBOL_EXTERN || s->kind == SYMBOL_IMPORT)) {
        note_address(d, s, plus, to);
        return 0;
    }
    if (!s || s->kind != SYMBOL_GLOBAL)
        ptx_fail(p, "the address of %s is not one that a variable can start with here", name);
    return s->value + plus;
}

// Values lie one after another; braces only group them.
static void initialise(Decoder *d, const Symbol *s, u32 width)
{
    Ptx *p = &d->ptx;
    u64 at = 0;
    int depth = 0;
    do {
        if (ptx_accept(p, "{")) depth++;
        else if (ptx_accept(p, "}")) depth--;
        else if (ptx_accept(p, ",")) continue;
        else {
            u64 value = initial_value(d, width, (u8 *)s->value + at);
            if (at + width > s->size)
                ptx_fail(p, "%s has more initial values than elements", s->name);
            memcpy((u8 *)s->value + at, &value, width);
            at += width;
        }
    } while (depth);
}

// ---- Variables ----

static Symbol *allocate(Decoder *d, const Declaration *v)
{
    enum memory_kind kind = v->managed      ? MEMORY_MANAGED
                          : *v->name == '$' ? MEMORY_STRING
                                            : MEMORY_VARIABLE;
    Allocation *a =
        memory_alloc(v->size ? v->size : 1, v->align, kind, d->module->module.device, NULL);
    if (!a) ptx_fail(&d->ptx, "the device has no memory left for variable %s", v->name);
    a->name = names_variable(v->name); // messages name it when its module is gone, too
    memory_define(a->base, a->size);
    Symbol *s = decoder_symbol(d, &d->unit->symbols, v->name, SYMBOL_GLOBAL, a->base);
    s->size = v->size;
    return s;
}

// A variable that has its place and its first value already. A managed one is the same for all
// devices.
static Symbol *share(Decoder *d, const Declaration *v, const Symbol *first)
{
    Symbol *s = decoder_symbol(d, &d->unit->symbols, v->name, SYMBOL_GLOBAL, first->value);
    s->size = first->size;
    Symbol unread = *s;
    unread.value = (u64)decoder_keep(d, first->size);
    if (ptx_accept(&d->ptx, "=")) initialise(d, &unread, v->width);
    return s;
}

static void global_variable(Decoder *d, Linkage linkage, bool constant)
{
    Ptx *p = &d->ptx;
    Declaration v = decoder_declaration(d);
    if (linkage.is_extern) {
        link_import(d, decoder_symbol(d, &d->unit->symbols, v.name, SYMBOL_IMPORT, UNPLACED));
        ptx_expect(p, ";");
        return;
    }
    if (v.unsized) ptx_fail(p, "variable %s has no size", v.name);
    const Symbol *before = link_before(d, v.name, linkage);
    const Symbol *twin = v.managed && d->twin ? link_variable(d->twin, v.name) : NULL;
    if (before) {
        share(d, &v, before);
    } else if (twin && twin->size == v.size) {
        link_define(d, share(d, &v, twin), linkage);
    } else {
        Symbol *s = allocate(d, &v);
        link_define(d, s, linkage);
        if (constant)
            d->module->module.constant_bytes =
                align_up(d->module->module.constant_bytes, (u32)v.align) + (u32)v.size;
        if (ptx_accept(p, "=")) initialise(d, s, v.width);
    }
    ptx_expect(p, ";");
}

static void shared_variable(Decoder *d, Linkage linkage)
{
    Declaration v = decoder_declaration(d);
    bool elsewhere = linkage.is_extern && !v.unsized;
    enum symbol_kind kind = v.unsized ? SYMBOL_DYNAMIC : elsewhere ? SYMBOL_IMPORT : SYMBOL_SHARED;
    const Symbol *before = link_before(d, v.name, linkage);
    Symbol *s = decoder_symbol(d, &d->unit->symbols, v.name, kind, UNPLACED);
    s->size = v.size;
    s->align = v.align;
    if (elsewhere) link_import(d, s);
    else if (before) link_join(s, before->of);
    else if (!v.unsized) link_define(d, s, linkage);
    ptx_expect(&d->ptx, ";");
}

// A function whose address is taken may be called through a pointer.
static void note_function(void *decoder, const char *name)
{
    Decoder *d = decoder;
    const Symbol *s = symbol_find(&d->unit->symbols, name);
    if (s && (s->kind == SYMBOL_FUNCTION || s->kind == SYMBOL_EXTERN)) note_address(d, s, 0, NULL);
}

void decoder_look_through(Decoder *d, void (*moved)(void *, const char *name), void *whose)
{
    Ptx *p = &d->ptx;
    bool moves = false;
    int depth = 0;
    do {
        if (ptx_is(p, "{")) depth++;
        if (ptx_is(p, "}")) depth--;
        if (p->token == TOKEN_END) ptx_fail(p, "a '{' is not closed");
        if (p->token != TOKEN_WORD) moves = moves && !ptx_is(p, ";");
        else if (p->length > 4 && !memcmp(p->start, "mov.", 4)) moves = true;
        else if (moves && *p->start != '%') {
            char *name = strndup(p->start, p->length);
            moved(whose, name);
            free(name);
        }
        ptx_next(p);
    } while (depth);
}

static void skip_braces(Decoder *d) { decoder_look_through(d, note_function, d); }

// A function that was not inlined. Its body is read once for each kernel that calls it, by
// decode.c.
static void keep_function(Decoder *d, Symbol *s, Text text, Linkage linkage)
{
    const Symbol *before = link_before(d, s->name, linkage);
    if (before) {
        link_join(s, before->of);
        return;
    }
    Decoded *m = d->module;
    s->kind = SYMBOL_FUNCTION;
    s->value = text.number = m->function_count++;
    Text *kept = decoder_keep(d, sizeof *kept);
    *kept = text;
    kept->next = m->functions;
    m->functions = kept;
    link_define(d, s, linkage);
}

static void function(Decoder *d, Linkage linkage)
{
    Ptx *p = &d->ptx;
    Text text = { .unit = d->unit, .results.token = TOKEN_END };
    if (ptx_is(p, "(")) {
        text.results = ptx_place(p);
        while (!ptx_accept(p, ")")) ptx_next(p);
    }
    char *name = ptx_word(p);
    text.name = name;
    text.params = ptx_place(p);
    while (!ptx_is(p, "{") && !ptx_is(p, ";")) {
        if (p->token == TOKEN_END) ptx_fail(p, "function %s has no end", name);
        ptx_next(p);
    }
    bool defined = ptx_is(p, "{");
    text.body = ptx_place(p);
    Symbol *s = symbol_find(&d->unit->symbols, name);
    if (!s) s = decoder_symbol(d, &d->unit->symbols, name, SYMBOL_EXTERN, UNPLACED);
    if (defined) {
        keep_function(d, s, text, linkage);
        skip_braces(d);
        return;
    }
    if (linkage.is_extern) link_import(d, s);
    s32 own = system_function(name);
    if (own >= 0) s->value = (u32)own;
    ptx_expect(p, ";");
}

static void kernel_params(Decoder *d, Kernel *k, Symbols *params)
{
    Ptx *p = &d->ptx;
    if (!ptx_accept(p, "(")) return;
    u32 room = 16;
    k->param_offset = decoder_keep(d, room * sizeof *k->param_offset);
    k->param_size = decoder_keep(d, room * sizeof *k->param_size);
    while (!ptx_accept(p, ")")) {
        ptx_expect(p, ".param");
        Declaration v = decoder_declaration(d);
        if (k->param_count == room) {
            u32 *offset = decoder_keep(d, 2 * room * sizeof *offset),
                *size = decoder_keep(d, 2 * room * sizeof *size);
            k->param_offset = memcpy(offset, k->param_offset, room * sizeof *offset);
            k->param_size = memcpy(size, k->param_size, room * sizeof *size);
            room *= 2;
        }
        k->param_bytes = (k->param_bytes + v.align - 1) / v.align * v.align;
        k->param_offset[k->param_count] = k->param_bytes;
        k->param_size[k->param_count++] = v.size;
        decoder_symbol(d, params, v.name, SYMBOL_PARAM, k->param_bytes);
        k->param_bytes += v.size;
        ptx_accept(p, ",");
    }
}

static void entry(Decoder *d)
{
    Ptx *p = &d->ptx;
    Kernel *k = decoder_keep(d, sizeof *k);
    Symbols *params = decoder_keep(d, sizeof *params);
    k->name = ptx_word(p);
    char *signature = names_demangle(k->name);
    k->signature = obstack_copy0(&d->module->memory, signature, strlen(signature));
    free(signature);
    k->module = &d->module->module;
    k->max_threads = 1024;
    kernel_params(d, k, params);
    if (ptx_accept(p, ";")) { // another kernel launches it; its body may be anywhere
        decoder_symbol(d, &d->unit->symbols, k->name, SYMBOL_KERNEL, UNPLACED);
        return;
    }
    while (!ptx_is(p, "{")) {
        char *directive = ptx_word(p);
        u32 product = 1, sizes[3] = { 1, 1, 1 }, count = 0;
        while (p->token == TOKEN_NUMBER) {
            u32 size = ptx_integer(p);
            product *= size;
            if (count < 3) sizes[count++] = size;
            if (!ptx_accept(p, ",")) break;
        }
        if (!strcmp(directive, ".explicitcluster")) k->clustered = true;
        if (!strcmp(directive, ".maxclusterrank")) k->max_cluster = product;
        if (!strcmp(directive, ".reqnctapercluster")) memcpy(k->cluster, sizes, sizeof sizes);
        if (!strcmp(directive, ".blocksareclusters")) k->grid_in_clusters = true;
        if (!strcmp(directive, ".maxntid") || !strcmp(directive, ".reqntid"))
            k->max_threads = product;
    }
    decoder_symbol(d, &d->unit->symbols, k->name, SYMBOL_KERNEL, UNPLACED);
    Text *text = decoder_keep(d, sizeof *text);
    *text = (Text){ .unit = d->unit, .kernel = k, .names = params, .body = ptx_place(p) };
    *d->last_kernel = text;
    d->last_kernel = &text->next;
    skip_braces(d);
    *d->module->last_kernel = k;
    d->module->last_kernel = &k->next;
}

static void source_file(Decoder *d)
{
    Ptx *p = &d->ptx;
    u32 number = ptx_integer(p);
    if (number > 100000) ptx_fail(p, "source file number %u is too large", number);
    if (number >= d->unit->file_count) {
        u32 count = 2 * number + 8;
        const char **files = decoder_keep(d, count * sizeof *files);
        if (d->unit->files) memcpy(files, d->unit->files, d->unit->file_count * sizeof *files);
        d->unit->files = files;
        d->unit->file_count = count;
    }
    if (p->token != TOKEN_STRING) ptx_fail(p, "a .file has no name");
    d->unit->files[number] = obstack_copy0(&d->module->memory, p->start + 1, p->length - 2);
    ptx_next(p);
    while (ptx_accept(p, ",")) ptx_integer(p);
}

// .section .debug_str { label: .b8 95,90,... }: the names of inlined functions. Other sections are
// a debugger's.
static void section(Decoder *d)
{
    Ptx *p = &d->ptx;
    char *name = ptx_word(p);
    if (strcmp(name, ".debug_str")) {
        skip_braces(d);
        return;
    }
    ptx_expect(p, "{");
    while (!ptx_accept(p, "}")) {
        char *label = ptx_word(p);
        ptx_expect(p, ":");
        struct obstack *memory = &d->module->memory;
        obstack_blank(memory, 0);
        while (ptx_accept(p, ".b8")) {
            do obstack_1grow(memory, ptx_integer(p));
            while (ptx_accept(p, ","));
        }
        obstack_1grow(memory, 0);
        const char *text = obstack_finish(memory);
        decoder_symbol(d, &d->unit->symbols, label, SYMBOL_TEXT, 0)->text = text;
    }
}

static void statement(Decoder *d)
{
    Ptx *p = &d->ptx;
    Linkage linkage = { false };
    for (;;) {
        if (ptx_accept(p, ".extern")) linkage.is_extern = true;
        else if (ptx_accept(p, ".visible")) linkage.visible = true;
        else if (ptx_accept(p, ".weak") || ptx_accept(p, ".common")) linkage.weak = true;
        else break;
    }
    if (ptx_accept(p, ".version") || ptx_accept(p, ".address_size")) ptx_next(p);
    else if (ptx_accept(p, ".target")) {
        do ptx_word(p);
        while (ptx_accept(p, ","));
    } else if (ptx_accept(p, ".file")) source_file(d);
    else if (ptx_accept(p, ".section")) section(d);
    else if (ptx_accept(p, ".global")) global_variable(d, linkage, false);
    else if (ptx_accept(p, ".const")) global_variable(d, linkage, true);
    else if (ptx_accept(p, ".shared")) shared_variable(d, linkage);
    else if (ptx_accept(p, ".func")) function(d, linkage);
    else if (ptx_accept(p, ".entry")) entry(d);
    else if (ptx_accept(p, ".pragma"))
        while (!ptx_accept(p, ";")) ptx_next(p);
    else ptx_fail(p, "'%.*s' is not supported by the simulated device", (int)p->length, p->start);
}

// File and function names come behind the kernels that use them.
static void name_locations(Decoder *d)
{
    Decoded *m = d->module;
    for (u32 n = 0; n < m->location_count; n++) {
        Location *l = &m->locations[n];
        const Unit *unit = m->location_file[n].unit;
        u32 file = m->location_file[n].number;
        l->file = file < unit->file_count ? unit->files[file] : NULL;
        const Symbol *s = l->function ? symbol_find(&unit->symbols, l->function) : NULL;
        if (!s || s->kind != SYMBOL_TEXT) {
            l->function = NULL;
            continue;
        }
        char *name = names_demangle(s->text);
        l->function = obstack_copy0(&m->memory, name, strlen(name));
        free(name);
    }
    for (Kernel *k = m->module.kernels; k; k = k->next) k->locations = m->locations;
}

void decoder_go(Decoder *d, Unit *unit, PtxPlace place)
{
    d->unit = unit;
    d->ptx.end = unit->end;
    ptx_go(&d->ptx, place);
}

static void read_unit(Decoder *d, const char *text)
{
    Unit *unit = decoder_keep(d, sizeof *unit);
    unit->end = text + strlen(text);
    *d->module->last_unit = unit;
    d->module->last_unit = &unit->next;
    decoder_go(d, unit, (PtxPlace){ .at = text, .start = text, .line = 1 });
    ptx_next(&d->ptx);
    while (d->ptx.token != TOKEN_END) statement(d);
}

Module *module_load(char *const *texts, u32 device, const Module *twin, char **error)
{
    Decoder d = { .module = calloc(1, sizeof(Decoded)), .twin = (const Decoded *)twin };
    if (!d.module) abort();
    Decoded *m = d.module;
    obstack_init(&m->memory);
    m->module.device = device;
    m->last_unit = &m->units;
    m->last_kernel = &m->module.kernels;
    d.last_kernel = &d.kernels;
    d.ptx.memory = &m->memory;
    if (setjmp(d.ptx.failed)) {
        *error = strdup(d.ptx.error);
        module_unload(&m->module);
        return NULL;
    }
    for (char *const *text = texts; *text; text++) read_unit(&d, *text);
    link_units(&d);
    for (const Text *k = d.kernels; k; k = k->next) {
        decoder_go(&d, k->unit, k->body);
        decode_body(&d, k->kernel, k->names);
    }
    fill_addresses(&d);
    name_locations(&d);
    return &m->module;
}

void module_unload(Module *module)
{
    Decoded *m = (Decoded *)module;
    for (Kernel *k = module->kernels; k; k = k->next)
        for (u32 n = 0; n < KERNEL_SLOTS; n++) free(k->kept[n]);
    free(m->locations);
    free(m->location_file);
    obstack_free(&m->memory, NULL);
    free(m);
}

u64 decoder_kernel_address(Decoder *d, const char *name)
{
    Module *m = &d->module->module;
    Named *n = m->named;
    while (n && strcmp(n->name, name)) n = n->next;
    if (!n) {
        n = decoder_keep(d, sizeof *n);
        *n = (Named){ .name = name, .number = m->named_count++, .next = m->named };
        m->named = n;
    }
    return KERNEL_BASE + FUNCTION_BYTES * (u64)n->number;
}

bool module_variable(Module *m, const char *name, u64 *address, u64 *size)
{
    const Symbol *s = link_variable((Decoded *)m, name);
    if (!s) return false;
    *address = s->value;
    *size = s->size;
    return true;
}
