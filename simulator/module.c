// Decodes a module: its variables, its kernels' headers, its source files. decode*.c read the kernels' bodies.
#include <stdlib.h>
#include <string.h>

#include "decoder.h"
#include "managed.h"
#include "memory.h"
#include "print.h"
#include "report.h"

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
        else ptx_fail(p, "the attribute '%.*s' is not supported by the simulated device", (int)p->length, p->start);
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
        else if (ptx_accept(p, ".ptr") || ptx_accept(p, ".global") || ptx_accept(p, ".const")) continue;
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

// A function's address in an initialiser: the function's body may come later.
static void note_address(Decoder *d, const Symbol *function, u8 *to)
{
    Address *a = decoder_keep(d, sizeof *a);
    *a = (Address){ .function = function, .to = to, .next = d->addresses };
    d->addresses = a;
}

static void fill_addresses(Decoder *d)
{
    for (const Address *a = d->addresses; a; a = a->next) {
        u64 value = FUNCTION_BASE + FUNCTION_BYTES * a->function->value;
        if (a->function->kind == SYMBOL_FUNCTION) memcpy(a->to, &value, sizeof value);
    }
}

// One value of an initialiser: a number, or an address (name, generic(name), either + number), to be stored at `to`.
static u64 initial_value(Decoder *d, u32 width, u8 *to)
{
    Ptx *p = &d->ptx;
    if (p->token != TOKEN_WORD) {
        bool minus = ptx_accept(p, "-");
        if (p->token != TOKEN_NUMBER) ptx_fail(p, "an initial value is missing");
        u64 value = p->number;
        if (p->number_width == 8 && width == 4) {
            union { u64 bits; double value; } wide = { value };
            union { float value; u32 bits; } narrow = { (float)wide.value };
            value = narrow.bits;
        }
        ptx_next(p);
        return minus ? 0 - value : value;
    }
    bool generic = ptx_accept(p, "generic");
    if (generic) ptx_expect(p, "(");
    char *name = ptx_word(p);
    if (generic) ptx_expect(p, ")");
    const Symbol *s = symbol_find(&d->module->symbols, name);
    if (s && (s->kind == SYMBOL_FUNCTION || s->kind == SYMBOL_EXTERN)) {
        note_address(d, s, to);
        return 0;
    }
    if (!s || s->kind != SYMBOL_GLOBAL)
        ptx_fail(p, "the address of %s is not one that a variable can start with here", name);
    return s->value + (ptx_accept(p, "+") ? ptx_integer(p) : 0);
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
            if (at + width > s->size) ptx_fail(p, "%s has more initial values than elements", s->name);
            memcpy((u8 *)s->value + at, &value, width);
            at += width;
        }
    } while (depth);
}

static Symbol *allocate(Decoder *d, const Declaration *v)
{
    enum memory_kind kind = v->managed ? MEMORY_MANAGED : *v->name == '$' ? MEMORY_STRING : MEMORY_VARIABLE;
    Allocation *a = memory_alloc(v->size ? v->size : 1, v->align, kind, d->module->device, NULL);
    if (!a) ptx_fail(&d->ptx, "the device has no memory left for variable %s", v->name);
    a->name = strdup(v->name);          // messages name it when its module is gone, too
    memory_define(a->base, a->size);
    if (v->managed) managed_allocated(a);
    Symbol *s = decoder_symbol(d, &d->module->symbols, v->name, SYMBOL_GLOBAL, a->base);
    s->size = v->size;
    return s;
}

// A managed variable is one for all devices: what it starts with was written when the first of them got it.
static void join_managed(Decoder *d, const Declaration *v, const Symbol *first)
{
    Symbol *s = decoder_symbol(d, &d->module->symbols, v->name, SYMBOL_GLOBAL, first->value);
    s->size = first->size;
    Symbol unread = *s;
    unread.value = (u64)decoder_keep(d, first->size);
    if (ptx_accept(&d->ptx, "=")) initialise(d, &unread, v->width);
}

static void global_variable(Decoder *d, bool is_extern)
{
    Ptx *p = &d->ptx;
    Declaration v = decoder_declaration(d);
    if (is_extern) ptx_fail(p, "variable %s is defined in another module; build without -rdc=true", v.name);
    if (v.unsized) ptx_fail(p, "variable %s has no size", v.name);
    const Symbol *first = v.managed && d->twin ? symbol_find(&d->twin->symbols, v.name) : NULL;
    if (first && first->kind == SYMBOL_GLOBAL && first->size == v.size) {
        join_managed(d, &v, first);
    } else {
        Symbol *s = allocate(d, &v);
        if (ptx_accept(p, "=")) initialise(d, s, v.width);
    }
    ptx_expect(p, ";");
}

static void shared_variable(Decoder *d)
{
    Declaration v = decoder_declaration(d);
    Symbol *s = decoder_symbol(d, &d->module->symbols, v.name, v.unsized ? SYMBOL_DYNAMIC : SYMBOL_SHARED, UNPLACED);
    s->size = v.size;
    s->align = v.align;
    ptx_expect(&d->ptx, ";");
}

static void skip_braces(Decoder *d)
{
    int depth = 0;
    do {
        if (ptx_is(&d->ptx, "{")) depth++;
        if (ptx_is(&d->ptx, "}")) depth--;
        if (d->ptx.token == TOKEN_END) ptx_fail(&d->ptx, "a '{' is not closed");
        ptx_next(&d->ptx);
    } while (depth);
}

// A function that was not inlined. Its body is read once for each kernel that calls it, by decode.c.
static void function(Decoder *d)
{
    Ptx *p = &d->ptx;
    Module *m = d->module;
    Text text = { .results.token = TOKEN_END };
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
    Symbol *s = symbol_find(&m->symbols, name);
    if (!s) s = decoder_symbol(d, &m->symbols, name, SYMBOL_EXTERN, UNPLACED);
    if (defined) {
        if (s->kind != SYMBOL_FUNCTION) s->kind = SYMBOL_FUNCTION, s->value = m->function_count++;
        text.number = s->value;
        Text *kept = decoder_keep(d, sizeof *kept);
        *kept = text;
        kept->next = m->functions;
        m->functions = kept;
        skip_braces(d);
        return;
    }
    for (u32 n = 0; n < print_function_count; n++)
        if (!strcmp(name, print_functions[n].name)) s->value = n;
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
            u32 *offset = decoder_keep(d, 2 * room * sizeof *offset), *size = decoder_keep(d, 2 * room * sizeof *size);
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
    char *signature = report_demangle(k->name);
    k->signature = obstack_copy0(&d->module->memory, signature, strlen(signature));
    free(signature);
    k->module = d->module;
    k->max_threads = 1024;
    kernel_params(d, k, params);
    while (!ptx_is(p, "{")) {
        char *directive = ptx_word(p);
        u32 product = 1;
        while (p->token == TOKEN_NUMBER) {
            product *= ptx_integer(p);
            if (!ptx_accept(p, ",")) break;
        }
        if (!strcmp(directive, ".maxntid") || !strcmp(directive, ".reqntid")) k->max_threads = product;
    }
    Text *text = decoder_keep(d, sizeof *text);
    *text = (Text){ .kernel = k, .names = params, .body = ptx_place(p) };
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
    if (number >= d->module->file_count) {
        u32 count = 2 * number + 8;
        const char **files = decoder_keep(d, count * sizeof *files);
        if (d->module->files) memcpy(files, d->module->files, d->module->file_count * sizeof *files);
        d->module->files = files;
        d->module->file_count = count;
    }
    if (p->token != TOKEN_STRING) ptx_fail(p, "a .file has no name");
    d->module->files[number] = obstack_copy0(&d->module->memory, p->start + 1, p->length - 2);
    ptx_next(p);
    while (ptx_accept(p, ",")) ptx_integer(p);
}

// .section .debug_str { label: .b8 95,90,... }: the names of inlined functions. Other sections are a debugger's.
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
        decoder_symbol(d, &d->module->symbols, label, SYMBOL_TEXT, 0)->text = text;
    }
}

static void statement(Decoder *d)
{
    Ptx *p = &d->ptx;
    bool is_extern = false;
    for (;;) {
        if (ptx_accept(p, ".extern")) is_extern = true;
        else if (!ptx_accept(p, ".visible") && !ptx_accept(p, ".weak") && !ptx_accept(p, ".common")) break;
    }
    if (ptx_accept(p, ".version") || ptx_accept(p, ".address_size")) ptx_next(p);
    else if (ptx_accept(p, ".target")) {
        do ptx_word(p);
        while (ptx_accept(p, ","));
    }
    else if (ptx_accept(p, ".file")) source_file(d);
    else if (ptx_accept(p, ".section")) section(d);
    else if (ptx_accept(p, ".global") || ptx_accept(p, ".const")) global_variable(d, is_extern);
    else if (ptx_accept(p, ".shared")) shared_variable(d);
    else if (ptx_accept(p, ".func")) function(d);
    else if (ptx_accept(p, ".entry")) entry(d);
    else if (ptx_accept(p, ".pragma")) while (!ptx_accept(p, ";")) ptx_next(p);
    else ptx_fail(p, "'%.*s' is not supported by the simulated device", (int)p->length, p->start);
}

// File and function names come behind the kernels that use them.
static void name_locations(Decoder *d)
{
    Module *m = d->module;
    for (u32 n = 0; n < m->location_count; n++) {
        Location *l = &m->locations[n];
        u32 file = m->location_file[n];
        l->file = file < m->file_count ? m->files[file] : NULL;
        const Symbol *s = l->function ? symbol_find(&m->symbols, l->function) : NULL;
        if (!s || s->kind != SYMBOL_TEXT) {
            l->function = NULL;
            continue;
        }
        char *name = report_demangle(s->text);
        l->function = obstack_copy0(&m->memory, name, strlen(name));
        free(name);
    }
    for (Kernel *k = m->kernels; k; k = k->next) k->locations = m->locations;
}

Module *module_load(const char *text, size_t bytes, u32 device, const Module *twin, char **error)
{
    Decoder d = { .module = calloc(1, sizeof(Module)), .twin = twin };
    if (!d.module) abort();
    Module *m = d.module;
    obstack_init(&m->memory);
    m->device = device;
    m->last_kernel = &m->kernels;
    d.last_kernel = &d.kernels;
    d.ptx = (Ptx){ .at = text, .end = text + strnlen(text, bytes), .line = 1, .memory = &m->memory };
    if (setjmp(d.ptx.failed)) {
        *error = strdup(d.ptx.error);
        module_unload(d.module);
        return NULL;
    }
    ptx_next(&d.ptx);
    while (d.ptx.token != TOKEN_END) statement(&d);
    for (const Text *k = d.kernels; k; k = k->next) {
        ptx_go(&d.ptx, k->body);
        decode_body(&d, k->kernel, k->names);
    }
    fill_addresses(&d);
    name_locations(&d);
    return d.module;
}

void module_unload(Module *m)
{
    free(m->locations);
    free(m->location_file);
    obstack_free(&m->memory, NULL);
    free(m);
}

Kernel *module_kernels(Module *m) { return m->kernels; }
u32 module_device(const Module *m) { return m->device; }

Kernel *module_kernel(Module *m, const char *name)
{
    Kernel *k = m->kernels;
    while (k && strcmp(k->name, name)) k = k->next;
    return k;
}

bool module_variable(Module *m, const char *name, u64 *address, u64 *size)
{
    const Symbol *s = symbol_find(&m->symbols, name);
    if (!s || s->kind != SYMBOL_GLOBAL) return false;
    *address = s->value;
    *size = s->size;
    return true;
}
