// Names that the units of a module have in common, as nvcc -rdc=true makes them.
#include "decoder.h"

const Symbol *link_before(Decoder *d, const char *name, Linkage linkage)
{
    return linkage.weak ? symbol_find(&d->module->visible, name) : NULL;
}

void link_join(Symbol *symbol, const Symbol *of)
{
    symbol->kind = of->kind;
    symbol->value = of->value;
    symbol->size = of->size;
    symbol->align = of->align;
    symbol->of = of;
}

void link_define(Decoder *d, const Symbol *symbol, Linkage linkage)
{
    if (!linkage.visible && !linkage.weak) return;
    if (symbol_find(&d->module->visible, symbol->name))
        ptx_fail(&d->ptx, "%s is defined twice", symbol->name);
    link_join(decoder_symbol(d, &d->module->visible, symbol->name, symbol->kind, symbol->value),
              symbol);
}

void link_import(Decoder *d, Symbol *symbol)
{
    Import *i = decoder_keep(d, sizeof *i);
    *i = (Import){ .symbol = symbol, .unit = d->unit, .line = d->ptx.line, .next = d->imports };
    d->imports = i;
}

void link_units(Decoder *d)
{
    for (const Import *i = d->imports; i; i = i->next) {
        const Symbol *found = symbol_find(&d->module->visible, i->symbol->name);
        if (found && found->of != i->symbol) link_join(i->symbol, found->of);
        d->ptx.line = i->line;
        if (i->symbol->kind == SYMBOL_IMPORT)
            ptx_fail(&d->ptx, "variable %s is defined nowhere", i->symbol->name);
    }
}

const Symbol *link_variable(const Decoded *m, const char *name)
{
    const Symbol *s = symbol_find(&m->visible, name);
    for (const Unit *u = m->units; u && !s; u = u->next) s = symbol_find(&u->symbols, name);
    return s && s->kind == SYMBOL_GLOBAL ? s : NULL;
}
