// Calls of functions that were not inlined. A function has registers of its own in the warp's file,
// so a call moves no registers: it copies the parameters, notes each lane's return address, and
// gives each lane a frame in local memory. Only where a lane calls a function that it is already in
// (recursion) are that function's registers saved.
//
// Lanes at one instruction and one depth run together, wherever each of them will return to.
#include <driver_types.h>
#include <stdlib.h>
#include <string.h>

#include "isa/windows.h"
#include "call.h"
#include "handlers.h"
#include "observer.h"
#include "pointer.h"
#include "report/report.h"
#include "source_fill.h"
#include "base/need.h"

enum { MOST_RESULT = 4096, DEFAULT_STACK = 1024 };

// cudaLimitStackSize; 0: the default. A GPU's frames depend on its registers, which PTX does not
// show. So a byte of the limit pays for a call and for four bytes of arrays, which is generous.
static u64 stacks[MOST_DEVICES];

void call_set_stack(u32 device, u64 bytes) { stacks[device] = bytes; }

static u64 stack_of(u32 device) { return stacks[device] ? stacks[device] : DEFAULT_STACK; }

void call_make_room(const Launch *l)
{
    Kernel *k = l->kernel;
    u64 bytes = k->frames_at + k->frame_bytes + 4 * stack_of(l->device);
    if (k->stack_grows) k->local_bytes = bytes < WINDOW_SPAN / LANES ? bytes : WINDOW_SPAN / LANES;
}

void call_stacks_free(Warp *w)
{
    for (u32 n = 0; n < w->frame_room; n++) free(w->frames[n].regs), free(w->frames[n].taint);
    free(w->frames);
}

static Frame *frame_at(Warp *w, u32 depth)
{
    if (depth > w->frame_room) {
        u32 room = 2 * w->frame_room + 4;
        w->frames = need(realloc(w->frames, room * sizeof *w->frames));
        memset(w->frames + w->frame_room, 0, (room - w->frame_room) * sizeof *w->frames);
        w->frame_room = room;
    }
    return &w->frames[depth - 1];
}

// Predicates are bits of a word.
static void copy_row(u8 *to, const u8 *from, u32 width, u32 mask)
{
    if (width) lanes_copy(to, width, from, width, width, mask);
    else *(u32 *)to = (*(const u32 *)from & mask) | (*(u32 *)to & ~mask);
}

// Copies every register of a function from one register file to another.
static void copy_registers(const Function *f, u8 *to, u32 *to_taint, const u8 *from,
                           const u32 *from_taint, u32 mask)
{
    for (const RowRange *r = f->rows; r; r = r->next) {
        u32 bytes = r->width ? (r->width * LANES + 63) / 64 * 64 : 64;
        for (u32 n = 0, row = r->row; n < r->count; n++, row += bytes) {
            copy_row(to + row, from + row, r->width, mask);
            to_taint[row / 64] = (from_taint[row / 64] & mask) | (to_taint[row / 64] & ~mask);
        }
    }
}

static void set_aside(Warp *w, Frame *frame, const Function *f, u32 mask)
{
    u32 bytes = w->block->grid->kernel->register_bytes;
    if (!frame->regs) {
        frame->regs = need(malloc(bytes));
        frame->taint = need(calloc(bytes / 64, sizeof *frame->taint));
    }
    copy_registers(f, frame->regs, frame->taint, w->regs, w->taint, mask);
}

// Parameters and results have one mark for each two bytes.
static void pass_marks(u32 *to, const u32 *from, u32 bytes, u32 mask)
{
    for (u32 n = 0; n < (bytes + 1) / 2; n++) to[n] = (to[n] & ~mask) | (from[n] & mask);
}

static void pass(Warp *w, Passed to, Passed from, u32 mask)
{
    u32 bytes = to.bytes < from.bytes ? to.bytes : from.bytes;
    if (w->watch) pass_marks(&w->taint[to.row / 64], &w->taint[from.row / 64], bytes, mask);
    lanes_copy(row_of(w, to.row), to.bytes, row_of(w, from.row), from.bytes, bytes, mask);
}

// The lanes without room for another call; 0: none.
static u32 overflowing(const Warp *w, const Function *f, u32 mask)
{
    const Grid *g = w->block->grid;
    u32 lanes = 0;
    for (u32 rest = mask; rest; rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        if (w->lane_depth[lane] >= stack_of(g->launch->device)
            || w->frame_top[lane] + f->frame_bytes > g->kernel->local_bytes)
            lanes |= 1u << lane;
    }
    return lanes;
}

static void report_overflow(Warp *w, const Insn *i, const Function *f, u32 lanes)
{
    u32 lane = __builtin_ctz(lanes);
    Report r = { .cause = CAUSE_stack_full_of_calls,
                 .detail = f->name,
                 .number = { { "calls", w->lane_depth[lane] } } };
    source_fill(&r, w, i, lane);
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorIllegalAddress);
}

static void enter(Warp *w, const Insn *i, const CallSite *site, u32 index, u32 mask)
{
    const Kernel *k = w->block->grid->kernel;
    const Function *f = &k->functions[index];
    u32 pc = i - k->code, full = overflowing(w, f, mask), again = w->inside[index] & mask;
    if (full) {
        report_overflow(w, i, f, full);
        return;
    }
    Frame *frame = frame_at(w, w->depth + 1);
    w->stack_used = true;
    frame->kept = (frame->kept & ~mask) | again;
    if (again) set_aside(w, frame, f, again);
    for (u32 n = 0; n < f->param_count && n < site->param_count; n++)
        pass(w, f->params[n], site->params[n], mask);
    for (u32 rest = mask; rest; rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        frame->back[lane] = pc + 1;
        frame->function[lane] = index;
        for (const FrameVariable *v = f->variables; v; v = v->next) {
            u64 address = w->frame_top[lane] + v->offset;
            memcpy((u8 *)row_of(w, v->row) + lane * v->width, &address, v->width);
        }
        frame->top[lane] = w->frame_top[lane];
        w->frame_top[lane] += f->frame_bytes;
        w->lane_depth[lane]++;
    }
    w->inside[index] |= mask;
    w->active &= ~mask;
    warp_park(w, f->entry, mask);
    w->stop = 0;
}

// The index of the kernel's function at an address, or ~0u.
static u32 function_at(const Kernel *k, u64 address)
{
    u64 number = (address - FUNCTION_BASE) / FUNCTION_BYTES;
    for (u32 n = 0;
         address >= FUNCTION_BASE && address % FUNCTION_BYTES == 0 && n < k->function_count; n++)
        if (k->functions[n].number == number) return n;
    return ~0u;
}

static void report_no_function(Warp *w, const Insn *i, u32 lane, u64 address)
{
    Report r = { .address = address };
    source_fill(&r, w, i, lane);
    pointer_trace(&r, w, i, w->block->grid->kernel->calls[i->target].address, lane);
    pointer_report_call(&r);
    grid_fail(w->block->grid, cudaErrorIllegalAddress);
}

void run_function(Warp *w, const Insn *i, u32 mask)
{
    const Kernel *k = w->block->grid->kernel;
    const CallSite *site = &k->calls[i->target];
    if (site->function != ~0u) {
        enter(w, i, site, site->function, mask);
        return;
    }
    const u64 *address = row_of(w, site->address);
    while (mask && !w->block->grid->status) {
        u32 lane = __builtin_ctz(mask), index = function_at(k, address[lane]), same = 0;
        if (index == ~0u) {
            report_no_function(w, i, lane, address[lane]);
            return;
        }
        for (u32 l = 0; l < LANES; l++) same |= (u32)(address[l] == address[lane]) << l;
        enter(w, i, site, index, mask & same);
        mask &= ~same;
    }
}

// Lanes that return from one function to one place.
static void leave(Warp *w, Frame *frame, u32 index, u32 back, u32 mask)
{
    const Kernel *k = w->block->grid->kernel;
    const Function *f = &k->functions[index];
    const CallSite *site = &k->calls[k->code[back - 1].target];
    u8 result[LANES * MOST_RESULT];
    u32 marks[MOST_RESULT / 2];
    bool has_result = f->result.row && site->result.row && f->result.bytes <= MOST_RESULT;
    if (has_result)
        lanes_copy(result, f->result.bytes, row_of(w, f->result.row), f->result.bytes,
                   f->result.bytes, mask);
    if (has_result && w->watch)
        memcpy(marks, &w->taint[f->result.row / 64], (f->result.bytes + 1) / 2 * sizeof *marks);
    if (frame->kept & mask)
        copy_registers(f, w->regs, w->taint, frame->regs, frame->taint, frame->kept & mask);
    w->inside[index] &= ~(mask & ~frame->kept);
    u32 bytes = f->result.bytes < site->result.bytes ? f->result.bytes : site->result.bytes;
    if (has_result && w->watch) pass_marks(&w->taint[site->result.row / 64], marks, bytes, mask);
    if (has_result)
        lanes_copy(row_of(w, site->result.row), site->result.bytes, result, f->result.bytes, bytes,
                   mask);
    for (u32 rest = mask; rest; rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        w->frame_top[lane] = frame->top[lane];
        w->lane_depth[lane]--;
    }
    w->active &= ~mask;
    warp_park(w, back, mask);
}

void call_return(Warp *w, u32 mask)
{
    Frame *frame = &w->frames[w->depth - 1];
    while (mask) {
        u32 lane = __builtin_ctz(mask), same = 0;
        for (u32 rest = mask; rest; rest &= rest - 1) {
            u32 other = __builtin_ctz(rest);
            if (frame->back[other] == frame->back[lane]
                && frame->function[other] == frame->function[lane])
                same |= 1u << other;
        }
        leave(w, frame, frame->function[lane], frame->back[lane], same);
        mask &= ~same;
    }
    w->stop = 0;
}
