// A queue model of the schedulers: an instruction takes its unit when it has its turn. Of native
// code it is known what the instructions wait for and how long each keeps its unit
// (ptx/native.def); registers come from two banks, each of which reads one a clock, and what an
// instruction has read is at hand for the warp's next one. Huerta et al., "Analyzing Modern NVIDIA
// GPU cores" (2025), found it so on GPUs of compute capability 8.6.
#include "issue.h"

#include "machine/profile.h"

static float lanes_per_clock(u32 unit)
{
    switch (unit) {
    case UNIT_FMA: return profile.fma_lanes_per_clock;
    case UNIT_HEAVY: return profile.imad_lanes_per_clock;
    case UNIT_FP64: return profile.fp64_lanes_per_clock;
    case UNIT_XU: return profile.xu_lanes_per_clock;
    case UNIT_LSU: return profile.shuffle_lanes_per_clock * SCHEDULERS;
    default: return profile.alu_lanes_per_clock;
    }
}

double issue(Machine *m, Runner *r, const Op *op)
{
    Resource *units = m->unit[r->scheduler];
    double now = r->ready;
    if (!op->slots) return now;
    u32 unit = op->unit;
    if (unit == UNIT_INTEGER)
        unit = units[UNIT_ALU].free <= units[UNIT_HEAVY].free ? UNIT_ALU : UNIT_HEAVY;
    now = later(now, m->issue[r->scheduler].free);
    if (unit < UNIT_ADU) {
        double clocks =
            unit == UNIT_TENSOR ? op->busy : op->own * LANES * SCHEDULERS / lanes_per_clock(unit);
        now = later(now, units[unit].free);
        take(&units[unit], now, clocks);
        // The two halves of the FMA pipe alternate; work for one half only leaves the other free.
        if (unit == UNIT_FMA) take(&units[UNIT_HEAVY], later(units[UNIT_HEAVY].free, now), clocks);
        if (unit == UNIT_HEAVY)
            take(&units[UNIT_FMA], later(units[UNIT_FMA].free, now), clocks / 2);
    }
    take(&m->issue[r->scheduler], now, op->slots);
    return now;
}

// ---- Native instructions ----

void issue_wait(const Machine *m, Runner *r, const Op *op)
{
    for (u32 n = 0; n < NATIVE_SCOREBOARDS; n++)
        if (op->native.waits >> n & 1) r->ready = later(r->ready, r->scoreboard[n]);
    if (r->native) return;
    for (u32 pc = op->native.run; pc < m->trace->op[op->native.run].run.end; pc++)
        for (u32 n = 0; n < m->trace->op[pc].read_count; n++)
            r->ready = later(r->ready, r->reg[m->trace->op[pc].read[n]]);
}

// When the scheduler's part of the unit for a native instruction is free.
static Resource *unit_for(Resource *units, const Op *op)
{
    Resource *heavy = &units[UNIT_HEAVY], *lite = &units[UNIT_LITE];
    switch (op->unit) {
    case UNIT_FMA: return heavy->free < lite->free ? heavy : lite;
    case UNIT_BOTH: return heavy->free < lite->free ? lite : heavy;
    default: return &units[op->unit];
    }
}

bool issue_must_wait(Machine *m, Runner *r, const Op *op)
{
    const double sooner =
        1.0 / 1024; // of a clock: the warp that was the latest comes before others
    double from = unit_for(m->unit[r->scheduler], op)->free;
    if (from <= later(r->ready, m->issue[r->scheduler].free) + sooner) return false;
    r->ready = m->latest[r->scheduler] == r ? from - sooner : from;
    return true;
}

double issue_native(Machine *m, Runner *r, const Op *op)
{
    enum { READING = 3 }; // clocks in which operands are read
    Resource *units = m->unit[r->scheduler];
    double *bank = m->bank[r->scheduler], now = later(r->ready, m->issue[r->scheduler].free);
    bool has_kept = m->latest[r->scheduler] == r;
    double reads[NATIVE_BANKS];
    for (u32 b = 0; b < NATIVE_BANKS; b++) {
        reads[b] = op->native.reads[b] + (has_kept ? 0 : op->native.kept[b]);
        if (reads[b] > 0) now = later(now, bank[b] + reads[b] - READING);
    }
    for (u32 b = 0; b < NATIVE_BANKS; b++) bank[b] = later(bank[b], now) + reads[b];
    m->latest[r->scheduler] = r;
    if (op->unit == UNIT_BOTH) {
        take(&units[UNIT_HEAVY], now, op->busy);
        take(&units[UNIT_LITE], now, op->busy);
    } else {
        take(unit_for(units, op), now, op->busy);
    }
    take(&m->issue[r->scheduler], now, op->slots);
    return now + op->slots - 1;
}

double issue_end(const Machine *m, Runner *r, const Op *op, double now, double done)
{
    enum { BRANCH = 5, READ = 9 };
    const NativeOp *n = &op->native;
    if (n->sets >= 0) r->scoreboard[n->sets] = later(r->scoreboard[n->sets], done);
    double read = (op->kind == OP_STORE ? done : now) + READ;
    if (n->frees >= 0) r->scoreboard[n->frees] = later(r->scoreboard[n->frees], read);
    bool again = op->kind == OP_BRANCH && r->at < r->warp->count
              && r->warp->step[r->at].pc == m->trace->op[n->run].run.op;
    return now + n->stall + (again ? BRANCH : 0);
}

bool issue_follows(const Machine *m, const Runner *r, const Op *op)
{
    const Op *next = &m->trace->op[r->warp->step[r->at].pc];
    return op->native.known && next->native.known && r->ready <= m->issue[r->scheduler].free
        && next->kind == OP_PLAIN && next->unit != UNIT_LSU;
}
