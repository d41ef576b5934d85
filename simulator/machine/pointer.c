// Steps back through a kernel's instructions, from the one that used a bad pointer to the one that
// got it.
#include "pointer.h"
#include <stdlib.h>
#include <string.h>

#include "grid_state.h"
#include "heap.h"
#include "isa/windows.h"
#include "memory/memory.h"
#include "program/instruction.h"
#include "report/origin.h"

enum { MOST_STEPS = 200, NULL_BYTES = 4096 }; // bytes: so near to 0 is an index of a null pointer

typedef struct Trace {
    const Warp *warp;
    const Kernel *kernel;
    u32 lane, steps;
    u32 depth;   // of the lane's calls, where it looks
    u64 address; // that the pointer leads to
    ReportPointer *found;
    const HeapFailure *failure; // of the malloc that returned it
} Trace;

static bool seek(Trace *t, u32 row, u32 pc);

static u64 value_of(const Trace *t, u32 row) { return ((u64 *)row_of(t->warp, row))[t->lane]; }

// Could this be the pointer? An index or a size that is added to it is not.
static bool is_pointer(const Trace *t, u64 value)
{
    const u64 far = 1ull << 36;
    if (!value) return t->address < far;
    return value >= 1 << 16 && value - t->address + far < 2 * far
        && (value < MEMORY_BASE || value >= MEMORY_BASE + MEMORY_SPAN);
}

// ---- Where a register gets its value ----

// Which of its registers the instruction loads into this row; its number of elements: none.
static u32 element_of(const Insn *i, u32 row)
{
    u32 e = 0;
    while (e < i->elements && i->vector[e] != row) e++;
    return e;
}

static bool loads(const Insn *i) { return i->op == ISA_load || i->op == ISA_load_param; }

static bool gives(const Trace *t, const Insn *i, u32 row)
{
    if (loads(i)) return element_of(i, row) < i->elements;
    if (i->op == ISA_function) return t->kernel->calls[i->target].result.row == row;
    return i->d == row && !insn_row(i)->store;
}

// A store to where a load with that row and offset gets it: a call's parameter, local or shared
// memory.
static bool stores(const Insn *i, const Insn *load, s64 at)
{
    return (i->op == ISA_store_param || i->op == ISA_store) && i->space == load->space
        && i->a == load->a && at >= i->offset && at < i->offset + i->elements * i->width;
}

// A store before `pc` whose value a load gets; NULL: none.
static const Insn *storer(const Trace *t, const Insn *load, s64 at, u32 pc)
{
    while (pc-- > 0)
        if (stores(&t->kernel->code[pc], load, at)) return &t->kernel->code[pc];
    return NULL;
}

// ---- Loads ----

static bool found(Trace *t, ReportPointer pointer, u64 value)
{
    if (!is_pointer(t, value)) return false;
    pointer.null = !value;
    *t->found = pointer;
    return true;
}

static bool found_argument(Trace *t, u64 at)
{
    const Kernel *k = t->kernel;
    for (u32 n = 0; n < k->param_count; n++) {
        u64 byte = at - k->param_offset[n], value;
        if (byte >= k->param_size[n] || byte + sizeof value > k->param_size[n]) continue;
        memcpy(&value, (const u8 *)t->warp->block->grid->launch->params + at, sizeof value);
        return found(
            t,
            (ReportPointer){
                .from = FROM_ARGUMENT, .argument = n + 1, .byte = byte, .bytes = k->param_size[n] },
            value);
    }
    return false;
}

static bool found_at(Trace *t, const Allocation *a, u64 at, u64 value)
{
    const ReportPointer there = {
        .from = FROM_MEMORY, .byte = at - a->base, .address = at, .allocation = a
    };
    return found(t, there, value);
}

// Global memory, which still has to hold it.
static bool found_in_memory(Trace *t, const Insn *i, u32 element, u64 value)
{
    u64 at = value_of(t, i->a) + i->offset + element * i->width;
    const Allocation *a = memory_find(at);
    return a && !a->freed && at - a->base + sizeof value <= a->size
        && memcmp((const void *)at, &value, sizeof value) == 0 && found_at(t, a, at, value);
}

// In a list's loop the register of the load's address has its next value already: the pointer is
// looked for by its own value, in as much memory as does not take long.
static bool found_by_value(Trace *t, u64 value)
{
    u64 left = 1 << 26;
    for (const Allocation *a = memory_first(); a && value && left; a = a->next) {
        u64 bytes = a->size < left ? a->size : left;
        if (a->freed) continue;
        for (u64 at = a->base; at + sizeof value <= a->base + bytes; at += sizeof value)
            if (*(const u64 *)at == value) return found_at(t, a, at, value);
        left -= bytes;
    }
    return false;
}

// A formal parameter of the function that the lane is in.
static bool seek_caller(Trace *t, u32 row)
{
    if (!t->depth) return false;
    const Frame *frame = &t->warp->frames[t->depth - 1];
    const Function *f = &t->kernel->functions[frame->function[t->lane]];
    u32 pc = frame->back[t->lane] - 1;
    const CallSite *site = &t->kernel->calls[t->kernel->code[pc].target];
    for (u32 n = 0; n < f->param_count && n < site->param_count; n++) {
        if (f->params[n].row != row) continue;
        const Insn load = { .a = site->params[n].row, .space = SPACE_CALL };
        const Insn *store = storer(t, &load, 0, pc);
        t->depth--;
        return store && seek(t, store->vector[0], store - t->kernel->code);
    }
    return false;
}

static bool seek_load(Trace *t, const Insn *i, u32 row)
{
    u32 e = element_of(i, row), pc = i - t->kernel->code;
    s64 at = i->offset + e * i->width;
    u64 value = value_of(t, row);
    if (i->width != sizeof value || i->register_width != sizeof value) return false;
    if (i->op == ISA_load_param && i->space != SPACE_CALL) return !i->a && found_argument(t, at);
    if (i->space == SPACE_CALL && seek_caller(t, i->a)) return true;
    if (i->space == SPACE_CALL || i->space == SPACE_LOCAL || i->space == SPACE_SHARED) {
        const Insn *from = storer(t, i, at, pc);
        if (from && from->width == sizeof value)
            return seek(t, from->vector[(at - from->offset) / from->width], from - t->kernel->code);
        return i->space == SPACE_CALL && seek(t, i->a, pc);
    }
    return i->source_width == sizeof value
        && (found_in_memory(t, i, e, value) || found_by_value(t, value));
}

// ---- All instructions ----

static bool seek_computed(Trace *t, const Insn *i)
{
    u32 pc = i - t->kernel->code;
    switch (insn_row(i)->shape) {
    case UNARY: return seek(t, i->a, pc);
    case BINARY: return seek(t, i->a, pc) || seek(t, i->b, pc);
    case TERNARY: return seek(t, i->c, pc);
    case SELECT: return seek(t, value_of(t, i->a) == value_of(t, i->d) ? i->a : i->b, pc);
    default: return false;
    }
}

// A call of malloc that has returned null, or of anything else.
static bool found_malloc(Trace *t, const Insn *i)
{
    t->failure = heap_failure(t->warp->block->grid->launch->device, i);
    return t->failure && found(t, (ReportPointer){ .from = FROM_MALLOC }, 0);
}

static bool seek_giver(Trace *t, const Insn *i, u32 row)
{
    if (i->op == ISA_call) return found_malloc(t, i);
    if (loads(i)) return seek_load(t, i, row);
    return isa_type_width(insn_row(i)->type[0]) == sizeof(u64) && seek_computed(t, i);
}

// `pc`: where its value is used. What gave it the value is nearest before that, or, in a loop,
// elsewhere.
static bool seek(Trace *t, u32 row, u32 pc)
{
    const Kernel *k = t->kernel;
    for (u32 n = 1; row && n <= k->code_count; n++) {
        const Insn *i = &k->code[(pc + k->code_count - n) % k->code_count];
        if (!gives(t, i, row)) continue;
        if (t->steps++ >= MOST_STEPS) return false;
        if (seek_giver(t, i, row)) return true;
    }
    return false;
}

static bool is_null(const Report *r)
{
    return r->pointer.from ? r->pointer.null : r->address < NULL_BYTES;
}

// Unless it is an argument, it may have come from a malloc by ways that are not looked at here.
static void note_malloc(Report *r, const Trace *t)
{
    const HeapFailure *f = t->failure;
    if (!f) f = heap_failure(t->warp->block->grid->launch->device, NULL);
    if (!f || !is_null(r) || r->pointer.from == FROM_ARGUMENT) return;
    r->pointer.no_malloc = true;
    r->pointer.malloc_place = f->place;
    r->pointer.wanted = f->wanted;
    r->pointer.heap = f->heap;
}

void pointer_trace(Report *r, const Warp *w, const Insn *i, u32 row, u32 lane)
{
    Trace t = { .warp = w,
                .kernel = w->block->grid->kernel,
                .lane = lane,
                .depth = w->lane_depth[lane],
                .address = r->address,
                .found = &r->pointer };
    seek(&t, row, i - t.kernel->code);
    note_malloc(r, &t);
}

// ---- What lies there ----

// Is it what a __device__ variable is called on the host, where only its name counts?
static bool is_shadow(const char *name)
{
    for (const Allocation *a = memory_first(); a && name; a = a->next)
        if (a->kind == MEMORY_VARIABLE && a->name && !strcmp(a->name, name)) return true;
    return false;
}

static enum report_cause cause_of_null(const Report *r)
{
    enum report_from from = r->pointer.from;
    return from == FROM_MALLOC  ? CAUSE_null_from_malloc
         : r->pointer.no_malloc ? CAUSE_null_after_malloc
         : from == FROM_MEMORY  ? CAUSE_null_pointer_in_memory
                                : CAUSE_null_pointer;
}

void pointer_report_access(Report *r)
{
    static const enum report_cause causes[] = {
        [ORIGIN_NOTHING] = CAUSE_no_device_memory, [ORIGIN_VTABLE] = CAUSE_host_vtable,
        [ORIGIN_FUNCTION] = CAUSE_host_code,       [ORIGIN_VARIABLE] = CAUSE_host_variable,
        [ORIGIN_HEAP] = CAUSE_host_heap,           [ORIGIN_STACK] = CAUSE_host_stack,
        [ORIGIN_MEMORY] = CAUSE_host_memory,
    };
    char *name = NULL;
    if (is_null(r)) r->cause = cause_of_null(r);
    else r->cause = causes[origin_memory(r->address, &name)];
    if (r->cause == CAUSE_host_variable && is_shadow(name))
        r->cause = CAUSE_device_variable_on_host;
    r->detail = name;
    report_error(r);
    free(name);
}

void pointer_report_call(Report *r)
{
    char *name = NULL;
    bool hosts = !is_null(r) && origin_memory(r->address, &name) == ORIGIN_FUNCTION;
    r->cause = hosts      ? CAUSE_host_function
             : is_null(r) ? CAUSE_null_function
                          : CAUSE_no_device_function;
    r->detail = name;
    report_error(r);
    free(name);
}
