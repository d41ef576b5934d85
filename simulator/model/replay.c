// The time of a launch: the traced warps of one SM's blocks (trace.c) are replayed through a model
// of the SM in which every instruction has to wait for its turn. It is a queue model, not a
// cycle-by-cycle one:
//
// - A warp issues its instructions in order, each when its operands are ready, its scheduler is
// free (one instruction a clock; the SM's warps are dealt to four schedulers) and its unit is free
// (a warp occupies it for 32 / lanes-a-clock). Of what native code stands for (native.c), the
// native instructions are replayed.
// - L1 and shared memory take one line, or one wavefront, a clock. Stores leave L1 for L2 one after
// another; a few of their lines wait there, and when there is no room for another, L1 takes nothing
// else. Sectors that miss L1 (a model of this SM's) queue for the SM's share of L2's bandwidth, and
// those that miss L2 for its share of DRAM's; each adds its latency. Shares: all SMs with blocks
// are assumed to do the same as this one at the same time.
// - DRAM's latency varies: lines of the far half of L2 take longer, and one in ten waits while its
// DRAM is refreshed. The line's number decides which, with the measured probabilities. So whatever
// waits for several loads waits for the slowest: a warp for its own loads, a barrier and the end of
// a block for those of all warps.
// - A block begins when a slot has been free for a turn, and the device's block scheduler comes to
// this SM; its warps begin one after another; barriers wait for all.
//
// Rates and latencies are the device profile's, from microbenchmarks. The idea of following a few
// representative warps is that of interval models (Huang et al., "GPUMech", MICRO 2014); that of
// reservations in program order, of trace-driven simulators (Khairy et al., "Accel-Sim", ISCA
// 2020).
#include "replay.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "issue.h"
#include "machine/profile.h"

// ---- The heap ----

static void heap_put(Machine *m, Runner *r)
{
    u32 n = m->heap_count++;
    while (n && m->heap[(n - 1) / 2]->ready > r->ready) {
        m->heap[n] = m->heap[(n - 1) / 2];
        n = (n - 1) / 2;
    }
    m->heap[n] = r;
}

static Runner *heap_take(Machine *m)
{
    Runner *first = m->heap[0], *last = m->heap[--m->heap_count];
    u32 n = 0;
    for (u32 child; (child = 2 * n + 1) < m->heap_count; n = child) {
        if (child + 1 < m->heap_count && m->heap[child + 1]->ready < m->heap[child]->ready) child++;
        if (m->heap[child]->ready >= last->ready) break;
        m->heap[n] = m->heap[child];
    }
    m->heap[n] = last;
    return first;
}

// ---- Memory ----

static L1Line *l1_line(Machine *m, u64 line, double now)
{
    L1Line *set = m->l1_line + (line ^ line >> 9) % m->l1_sets * L1_WAYS, *oldest = set;
    for (u32 n = 0; n < L1_WAYS; n++) {
        if (set[n].line == line + 1) {
            set[n].used = now;
            return &set[n];
        }
        if (set[n].used < oldest->used) oldest = &set[n];
    }
    *oldest = (L1Line){ .line = line + 1, .used = now, .ready = now };
    return oldest;
}

// The fraction `part` of the sectors that an instruction requests from L2.
static double part_of_asked(const Counts *t, u64 part)
{
    double asked = t->global.sectors - t->global.hits + t->local.sectors - t->local.hits;
    return asked > 0 ? fmin(1, part / asked) : 0;
}

// Adds that part of one to `due`. Says whether a whole one was due, which then has come.
static bool falls_due(double *due, double part)
{
    *due += part;
    if (*due < 1) return false;
    *due -= 1;
    return true;
}

// DRAM's latency for a line, distributed as measured. Lines come in pairs with one latency: eight
// contiguous lines take about as long as four random ones.
static double dram_latency(u64 line)
{
    static const double part[LOAD_PARTS] = { 0.05, 0.25, 0.5, 0.75, 0.9, 0.99 };
    const double *clocks = profile.dram_load_clocks;
    u64 mixed = ((line >> 1) + 1) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9;
    double drawn = (mixed >> 32) / 4294967296.0;
    if (drawn <= part[0]) return clocks[0];
    u32 n = 1;
    while (n < LOAD_PARTS && drawn > part[n]) n++;
    if (n == LOAD_PARTS) return clocks[n - 1];
    return clocks[n - 1]
         + (clocks[n] - clocks[n - 1]) * (drawn - part[n - 1]) / (part[n] - part[n - 1]);
}

// A request to L2 for `sectors` of a line, by the instruction at `pc`. Returns when they arrive. A
// hit is late if DRAM is still fetching the line for somebody else: on average, half of the way is
// left.
static double ask_l2(Machine *m, u32 pc, double now, u64 line, u32 sectors)
{
    const Counts *t = &m->load->counts[pc];
    double start = later(now, m->port.free), latency = profile.l2_latency_clocks;
    double requests = profile.l2_random_sectors_per_clock / m->load->active_sms,
           moving = sectors * SECTOR_BYTES / m->l2_bytes;
    if (!falls_due(&m->due[pc].misses, part_of_asked(t, t->l2_misses))) {
        take(&m->port, start, later(1 / requests, moving));
        if (falls_due(&m->due[pc].late, part_of_asked(t, t->l2_late)))
            latency = (latency + dram_latency(line)) / 2;
        return start + latency - profile.alu_latency_clocks;
    }
    // DRAM brings them to L2 first, by the port of what is written.
    start = later(start, m->out.free);
    take(&m->port, start, later(1 / requests, moving) + moving);
    take(&m->out, start, later(1 / requests, moving) + moving);
    start = later(start, m->dram.free);
    double read = (double)SECTOR_BYTES * t->dram_sectors / t->l2_misses; // for each sector
    take(&m->dram, start, sectors * read / m->dram_bytes);
    return start + dram_latency(line) - profile.alu_latency_clocks;
}

static double load_global(Machine *m, u32 pc, const TraceAccess *a, double now)
{
    bool kept = !m->trace->op[pc].past_l1;
    double done = now + profile.l1_latency_clocks - profile.alu_latency_clocks + a->count - 1;
    for (u32 n = 0; n < a->count; n++) {
        const Piece *p = &m->trace->piece[a->first + n];
        L1Line *line = l1_line(m, p->line, now);
        if (!kept) line->sectors &= ~p->sectors;
        u32 missing = p->sectors & ~line->sectors;
        if (missing) {
            line->ready =
                later(line->ready, ask_l2(m, pc, now + n, p->line, __builtin_popcount(missing)));
            if (kept) line->sectors |= missing;
        }
        done = later(done, line->ready);
    }
    return m->queue[m->queued++ % L1_QUEUE] = done;
}

// A stored line passes through L1, which keeps it. While there is no room for it to wait, L1 takes
// nothing else.
static double *store_in_l1(Machine *m, const Piece *p, double *now)
{
    double *leaves = &m->leaving[m->stored++ % m->waiting_lines];
    *now = later(*now, *leaves);
    m->l1.free = later(m->l1.free, *now);
    l1_line(m, p->line, *now)->sectors |= p->sectors;
    return leaves;
}

// Returns when the last line has left the warp.
static double store_global(Machine *m, const TraceAccess *a, double now, double requests,
                           bool by_l1)
{
    for (u32 n = 0; n < a->count; n++) {
        const Piece *p = &m->trace->piece[a->first + n];
        u32 sectors = __builtin_popcount(p->sectors);
        double *leaves = by_l1 ? store_in_l1(m, p, &now) : NULL;
        double start = later(now + n, m->out.free);
        double bytes = profile.l2_write_bytes_per_clock / m->load->active_sms;
        take(&m->out, start,
             later(1 / requests, sectors * SECTOR_BYTES / bytes)
                 + sectors * m->load->cost_per_store / m->dram_bytes);
        take(&m->dram, later(m->dram.free, start),
             sectors * m->load->bytes_per_store / m->dram_bytes);
        if (leaves) *leaves = m->out.free;
    }
    return now;
}

// A copy in bulk bypasses L1. It reads shared memory at 32 bytes a clock (measured: 44 clocks and 1
// more for each 32 bytes) and sends that on.
static double copy_in_bulk(Machine *m, Runner *r, u32 pc, const TraceAccess *a, bool stores,
                           double now)
{
    enum { TO_BEGIN = 44 };
    double done = now;
    u32 sectors = 0;
    if (stores)
        store_global(m, a, now, profile.l2_random_writes_per_clock / m->load->active_sms, false);
    for (u32 n = 0; n < a->count; n++) {
        const Piece *p = &m->trace->piece[a->first + n];
        sectors += __builtin_popcount(p->sectors);
        if (!stores)
            done = later(done, ask_l2(m, pc, now, p->line, __builtin_popcount(p->sectors)));
    }
    if (stores) r->bulk = done = later(r->bulk, now + TO_BEGIN) + sectors;
    return done;
}

// L1 moves four sectors at a time.
static double l1_clocks(const Machine *m, const TraceAccess *a, const NativeOp *native)
{
    if (a->far && !a->passes) return 0;
    if (a->space == SPACE_SHARED && native->known) return later(a->passes, 1);
    if (a->space == SPACE_SHARED)
        return a->passes ? a->passes - 1 + profile.shared_clocks_per_request : 1;
    u32 sectors = 0;
    for (u32 n = 0; n < a->count; n++)
        sectors += __builtin_popcount(m->trace->piece[a->first + n].sectors);
    double turns = later(a->count, (sectors + 3) / 4);
    return later(turns, native->words) * profile.l1_clocks_per_request + a->passes;
}

// Lanes that read different words of constant memory take turns.
static double load_constant(Machine *m, u32 words, double now)
{
    double start = later(now, m->constant_free);
    m->constant_free = start + words * profile.constant_clocks_per_word;
    return start + profile.constant_latency_clocks - profile.alu_latency_clocks
         + (words - 1.0) * profile.constant_word_latency_clocks;
}

// The clocks by which a load's further words come later, and those of the wide product that
// computes an address in the measured latencies.
enum { LATER_WORD = 2, WIDE_PRODUCT = 3 };
enum { FAR_SECTORS = 4 }; // of a request for which the profile has the clocks

static double touch(Machine *m, const Op *op, u32 pc, const TraceAccess *a, double now)
{
    if (a->space == SPACE_PARAM) return load_constant(m, a->passes, now);
    double start = later(now, m->l1.free);
    take(&m->l1, start, l1_clocks(m, a, &op->native));
    if (a->far) {
        take(&m->l1, m->l1.free, a->far * profile.cluster_clocks_per_request / FAR_SECTORS);
        return m->l1.free + profile.cluster_latency_clocks - profile.alu_latency_clocks - 1;
    }
    if (a->space == SPACE_SHARED && op->native.known && op->kind == OP_STORE) return start;
    if (a->space == SPACE_SHARED && op->native.known)
        return start + profile.shared_load_clocks
             + LATER_WORD * (later(a->passes, op->native.words) - 1);
    if (a->space == SPACE_SHARED)
        return m->l1.free + profile.shared_latency_clocks - profile.alu_latency_clocks - 1;
    m->l1.free = later(m->l1.free, m->queue[m->queued % L1_QUEUE]);
    start = later(start, m->queue[m->queued % L1_QUEUE]);
    if (op->kind == OP_LOAD || op->kind == OP_COPY)
        return load_global(m, pc, a, start)
             + (op->native.known ? LATER_WORD * (op->native.words - 1) - WIDE_PRODUCT : 0);
    double requests = op->kind == OP_ATOMIC ? profile.atomic_random_lanes_per_clock
                                            : profile.l2_random_writes_per_clock;
    double busy = m->out.busy;
    start = store_global(m, a, start, requests / m->load->active_sms, op->kind == OP_STORE);
    if (op->kind != OP_ATOMIC) return start;
    m->atomics += m->out.busy - busy;
    return m->out.free + profile.atomic_latency_clocks;
}

// ---- Warps ----

// When the operands of its next step are ready.
static void prepare(Machine *m, Runner *r)
{
    if (r->at == r->warp->count) return;
    const Op *op = &m->trace->op[r->warp->step[r->at].pc];
    if (op->native.known) {
        issue_wait(m, r, op);
        return;
    }
    if (r->native)
        for (u32 n = 0; n < NATIVE_SCOREBOARDS; n++) r->ready = later(r->ready, r->scoreboard[n]);
    for (u32 n = 0; n < op->read_count; n++) r->ready = later(r->ready, r->reg[op->read[n]]);
    for (u32 n = 0; n < op->write_count; n++) r->ready = later(r->ready, r->reg[op->write[n]]);
}

static void block_begin(Machine *m, Slot *slot, double now);

static void warp_ends(Machine *m, Runner *r, double now)
{
    Slot *slot = &m->slot[r->slot];
    m->end = later(m->end, now);
    m->held += now - r->start;
    if (--slot->live == 0 && m->next_block < m->block_count)
        block_begin(m, slot, now + profile.block_turn_clocks);
}

static void pass_barrier(Machine *m, Slot *slot, u32 warps)
{
    for (u32 n = 0; n < warps; n++) {
        Runner *r = &slot->runner[n];
        if (r->ready < INFINITY || r->at == r->warp->count) continue;
        r->ready = slot->arrived + profile.barrier_latency_clocks;
        prepare(m, r);
        heap_put(m, r);
    }
    slot->waiting = 0;
    slot->arrived = 0;
}

// Predicated instructions in which no lane of this warp takes part: each is issued, and memory
// instructions also take a pass.
static void skip(Machine *m, Runner *r, u32 pc, u32 count)
{
    for (u32 n = pc + 1; n <= pc + count; n++) {
        const Op *op = &m->trace->op[n];
        take(&m->issue[r->scheduler], later(r->ready, m->issue[r->scheduler].free), op->slots);
        r->ready = m->issue[r->scheduler].free;
        if (op->kind != OP_PLAIN) take(&m->l1, later(m->l1.free, r->ready), 1);
    }
}

// Did this access happen as part of an earlier, wider one?
static bool is_part(const Machine *m, const Step *step, const Op *op)
{
    return op_is_part(op) && step->access && !m->trace->access[step->access - 1].passes
        && !m->trace->access[step->access - 1].far;
}

// When all but the latest so many groups of copies have completed.
static double arrival(const Runner *r, s32 groups)
{
    if (groups < 0) return r->copied;
    return (u32)groups < r->group && groups < GROUPS ? r->groups[(r->group - 1 - groups) % GROUPS]
                                                     : 0;
}

// ---- mbarriers ----

static void end_phase(Machine *m, Phase *p)
{
    Runner *r = p->waiting;
    p->waiting = NULL;
    for (Runner *next; r; r = next) {
        next = r->behind;
        r->ready = later(r->ready, p->over + profile.shared_latency_clocks);
        if (r->at == r->warp->count) {
            warp_ends(m, r, r->ready);
        } else {
            prepare(m, r);
            heap_put(m, r);
        }
    }
}

static void help_to_end(Machine *m, Phase *p, double when)
{
    p->over = later(p->over, when);
    if (p->missing && --p->missing == 0) end_phase(m, p);
}

// When the phase's end is seen, if it has come. False: it has not, and the warp waits.
static bool is_over(Phase *p, Runner *r)
{
    if (p->missing) {
        r->behind = p->waiting;
        p->waiting = r;
        return false;
    }
    r->ready = later(r->ready, p->over + profile.shared_latency_clocks);
    return true;
}

// A step helps to complete its phase at that clock.
static double helps_at(const Runner *r, const Op *op, double now, double done)
{
    return op->kind == OP_BULK   ? done
         : op->kind == OP_ARRIVE ? later(now, r->copied)
                                 : now + op->slots;
}

// The access of a step, which is issued now, and the phase for whose end the warp then waits.
// Returns when it is done.
static double access_memory(Machine *m, Runner *r, const Op *op, const Step *step, double *now,
                            Phase **waits)
{
    const TraceAccess *a = &m->trace->access[step->access - 1];
    if (a->waited) return *now += (double)a->waited;
    u32 pc = op->native.known ? op->native.pc : step->pc;
    if (a->phase) m->adu_free = *now = later(m->adu_free, *now) + profile.barrier_clocks_per_warp;
    double done = op->kind == OP_BULK ? copy_in_bulk(m, r, pc, a, op->space == SPACE_GLOBAL, *now)
                                      : touch(m, op, pc, a, *now);
    if (op->wide.leads) r->wide[op->wide_number % WIDE_KEPT] = done;
    if (a->phase && !a->waits) help_to_end(m, &m->phase[a->phase], helps_at(r, op, *now, done));
    if (a->waits) *waits = &m->phase[a->phase];
    return done;
}

// A shuffle, or an access of no lane. Returns when it is done.
static double take_turn(Machine *m, const Op *op, double now)
{
    double start = later(m->l1.free, now);
    take(&m->l1, start, 1);
    return start + op->latency;
}

// False: its step is not issued now, for its unit is busy, or at all, being a part of a wide
// access.
static bool begin_step(Machine *m, Runner *r, const Step *step, const Op *op)
{
    if (op->native.known) {
        if (!issue_must_wait(m, r, op)) return r->at++, true;
    } else {
        r->at++;
        if (!is_part(m, step, op)) return true;
        if (op->write_count) r->reg[op->write[0]] = r->wide[op->wide_number % WIDE_KEPT];
        prepare(m, r);
    }
    heap_put(m, r);
    return false;
}

// Where a warp goes on after a step that was issued then. True: its next step follows at once.
static bool end_step(Machine *m, Runner *r, const Op *op, double now)
{
    Slot *slot = &m->slot[r->slot];
    if (r->at == r->warp->count) {
        warp_ends(m, r, r->ready);
        if (slot->live && slot->waiting == slot->live) pass_barrier(m, slot, m->warp_count);
        return false;
    }
    if (op->kind == OP_BARRIER) {
        m->adu_free = later(m->adu_free, now) + profile.barrier_clocks_per_warp;
        slot->arrived = later(slot->arrived, m->adu_free + op->latency);
        r->ready = INFINITY;
        if (++slot->waiting == slot->live) pass_barrier(m, slot, m->warp_count);
        return false;
    }
    prepare(m, r);
    if (issue_follows(m, r, op)) return true;
    heap_put(m, r);
    return false;
}

// Replays one step of a warp. True: its next one follows at once.
static bool advance(Machine *m, Runner *r)
{
    const Step *step = &r->warp->step[r->at];
    const Op *op = &m->trace->op[step->pc];
    bool native = op->native.known;
    if (!begin_step(m, r, step, op)) return false;
    double now = native ? issue_native(m, r, op) : issue(m, r, op), issued = now,
           done = now + op->latency;
    Phase *waits = NULL;
    if (step->access) done = access_memory(m, r, op, step, &now, &waits);
    else if (native && op->unit == UNIT_LSU) done = take_turn(m, op, now);
    for (u32 n = 0; n < op->write_count; n++) r->reg[op->write[n]] = done;
    r->ready = native ? issue_end(m, r, op, issued, done) : now + op->slots + op->stall;
    r->native = native;
    if (op->kind == OP_COPY) r->copied = later(r->copied, done);
    if (op->kind == OP_COMMIT) r->groups[r->group++ % GROUPS] = r->copied;
    if (op->kind == OP_WAIT) r->ready = later(r->ready, arrival(r, op->groups));
    if (op->kind == OP_BULK_WAIT) r->ready = later(r->ready, r->bulk);
    if (waits && !is_over(waits, r)) return false;
    if (op->skips && r->at < r->warp->count && r->warp->step[r->at].pc == step->pc + 1 + op->skips)
        skip(m, r, step->pc, op->skips);
    return end_step(m, r, op, now);
}

// ---- Blocks ----

static void block_begin(Machine *m, Slot *slot, double now)
{
    const TraceBlock *b = m->trace->block[m->next_block++];
    double start = later(now, m->launcher);
    m->launcher = start + profile.block_clocks * m->load->active_sms / profile.sm_count;
    slot->live = slot->waiting = 0;
    slot->arrived = 0;
    for (u32 n = 0; n < b->warp_count; n++) {
        Runner *r = &slot->runner[n];
        memset(r->reg, 0, m->registers * sizeof *r->reg);
        *r = (Runner){ .warp = &b->warp[n],
                       .scheduler = ((u32)(slot - m->slot) * m->warp_count + n) % SCHEDULERS,
                       .slot = (u32)(slot - m->slot),
                       .start = start,
                       .ready = start + n * profile.warp_launch_clocks,
                       .reg = r->reg };
        slot->live += r->warp->count > 0;
    }
    for (u32 n = 0; n < b->warp_count; n++)
        if (slot->runner[n].warp->count) {
            prepare(m, &slot->runner[n]);
            heap_put(m, &slot->runner[n]);
        }
}

static bool make(Machine *m, const DeviceLoad *load)
{
    m->l1_sets = load->l1_bytes / LINE_BYTES / L1_WAYS;
    if (!m->l1_sets) m->l1_sets = 1;
    m->due = calloc(m->trace->op_count, sizeof *m->due);
    m->phase = calloc(m->trace->phase_count + 1, sizeof *m->phase);
    for (u32 n = 0; m->phase && n < m->trace->phase_count; n++)
        m->phase[n].missing = n ? m->trace->phase[n] : 0;
    m->l1_line = calloc(m->l1_sets * L1_WAYS, sizeof *m->l1_line);
    m->waiting_lines = (u32)later(1, profile.l1_waiting_lines);
    m->leaving = calloc(m->waiting_lines, sizeof *m->leaving);
    m->slot = calloc(m->slot_count, sizeof *m->slot);
    m->heap = calloc(m->slot_count * m->warp_count, sizeof *m->heap);
    for (u32 s = 0; m->slot && s < m->slot_count; s++) {
        m->slot[s].runner = calloc(m->warp_count, sizeof *m->slot[s].runner);
        for (u32 n = 0; n < m->warp_count; n++)
            m->slot[s].runner[n].reg = calloc(m->registers, sizeof(double));
    }
    return m->l1_line && m->leaving && m->slot && m->heap && m->due && m->phase;
}

static void unmake(Machine *m)
{
    for (u32 s = 0; s < m->slot_count; s++) {
        for (u32 n = 0; n < m->warp_count; n++) free(m->slot[s].runner[n].reg);
        free(m->slot[s].runner);
    }
    free(m->slot);
    free(m->heap);
    free(m->l1_line);
    free(m->leaving);
    free(m->due);
    free(m->phase);
}

// The clocks for which the schedulers, or the units of one kind, were busy, on average. What memory
// instructions wait for is L1.
static double issue_clocks(const Machine *m)
{
    double issue = 0, unit[UNITS] = { 0 }, most = 0;
    for (u32 s = 0; s < SCHEDULERS; s++) {
        issue += m->issue[s].busy;
        for (u32 u = 0; u < UNITS; u++)
            if (u != UNIT_LSU) unit[u] += m->unit[s][u].busy;
    }
    for (u32 u = 0; u < UNITS; u++) most = later(most, unit[u]);
    return later(most, issue) / SCHEDULERS;
}

// Replays `count` blocks from `first` on.
static Replay run(const Trace *trace, const DeviceLoad *load, u32 registers, u32 first, u32 count)
{
    Machine m = { .trace = trace,
                  .load = load,
                  .registers = registers,
                  .next_block = first,
                  .block_count = first + count,
                  .slot_count = load->resident < count ? load->resident : count,
                  .warp_count = trace->block[first]->warp_count };
    m.l2_bytes =
        fmin(profile.l2_bytes_per_sm_per_clock, profile.l2_read_bytes_per_clock / load->active_sms);
    m.dram_bytes = profile.dram_read_bytes_per_second / profile.clock_hz / load->active_sms;
    if (make(&m, load)) {
        for (u32 s = 0; s < m.slot_count; s++) block_begin(&m, &m.slot[s], 0);
        for (;;) {
            while (m.heap_count)
                for (Runner *r = heap_take(&m); advance(&m, r);) {}
            // Named barriers of some warps are treated as barriers of all, and the steps that
            // complete a phase may be missing from the trace: no warp may be left waiting.
            u32 phase = 0;
            while (phase < trace->phase_count && !m.phase[phase].waiting) phase++;
            if (phase < trace->phase_count) {
                m.phase[phase].missing = 0;
                end_phase(&m, &m.phase[phase]);
                continue;
            }
            u32 stuck = 0;
            while (stuck < m.slot_count && !m.slot[stuck].waiting) stuck++;
            if (stuck == m.slot_count) break;
            pass_barrier(&m, &m.slot[stuck], m.warp_count);
        }
    }
    unmake(&m);
    return (Replay){ .clocks = later(later(later(m.end, m.l1.free), m.out.free),
                                     later(m.port.free, m.dram.free)),
                     .warps = m.end > 0 ? m.held / m.end : 0,
                     .memory = later(later(m.l1.busy, m.port.busy),
                                     later(m.out.busy - m.atomics, m.dram.busy)),
                     .issue = issue_clocks(&m),
                     .atomics = m.atomics,
                     .l1 = m.l1.busy,
                     .l2 = later(m.port.busy, m.out.busy) };
}

// The last block runs alone if it was on another SM.
Replay replay_blocks(const Trace *t, const DeviceLoad *load, u32 registers)
{
    if (!t->block_count) return (Replay){ 0 };
    u32 last = t->block_count - 1;
    bool apart = t->block[last]->number % profile.sm_count != 0;
    u32 count = t->block_count - apart;
    Replay all = count ? run(t, load, registers, 0, count) : (Replay){ 0 };
    if (!apart) return all;
    Replay of_last = run(t, load, registers, last, 1);
    if (of_last.clocks > all.clocks)
        of_last.warps = count ? all.warps : of_last.warps, all = of_last;
    return all;
}
