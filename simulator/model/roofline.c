#include "roofline.h"
#include <math.h>

#include "coalesce.h"
#include "counters.h"
#include "machine/profile.h"

static bool is_float(enum type type)
{
    return type == TYPE_f32 || type == TYPE_f64 || type == TYPE_f16 || type == TYPE_bf16
        || type == TYPE_f16x2 || type == TYPE_bf16x2 || type == TYPE_tf32 || type == TYPE_e4m3
        || type == TYPE_e5m2;
}

static bool is_pair(enum type type) { return type == TYPE_f16x2 || type == TYPE_bf16x2; }

static enum flop_precision precision_of(enum type type)
{
    return type == TYPE_f64 ? FLOP_DOUBLE : type == TYPE_f32 ? FLOP_SINGLE : FLOP_HALF;
}

// FLOP_KINDS: it does no arithmetic that counts. Nor do divisions and roots, which are sequences of
// other instructions.
static enum flop_kind kind_of(enum op op)
{
    switch (op) {
    case ISA_add:
    case ISA_sub: return FLOP_ADD;
    case ISA_mul: return FLOP_MULTIPLY;
    case ISA_fma:
    case ISA_mad: return FLOP_BOTH;
    default: return FLOP_KINDS;
    }
}

// Adds an instruction's operations, and the clocks for which it keeps its pipe of one SM busy.
static void add(Roofline *r, double busy[FLOP_PRECISIONS], const IsaRow *row, const Tally *t)
{
    const enum flop_kind kind = kind_of(row->op);
    const enum type type = row->type[0];
    if (row->op == ISA_multiply && is_float(row->type[1])) {
        const double products = (double)row->m * row->n / (16 * 8),
                     bytes = row->k * isa_type_width(row->type[1]);
        r->done[FLOP_TENSOR][FLOP_BOTH] += t->executed;
        r->flop += 2.0 * row->m * row->n * row->k * t->executed;
        busy[FLOP_TENSOR] += t->executed * products * bytes / 32 * profile.tensor_clocks / 4;
    } else if (kind < FLOP_KINDS && is_float(type)) {
        const enum flop_precision p = precision_of(type);
        r->done[p][kind] += t->threads;
        r->flop += (double)t->threads * (kind == FLOP_BOTH ? 2 : 1) * (is_pair(type) ? 2 : 1);
        busy[p] += t->threads
                 / (p == FLOP_DOUBLE ? profile.fp64_lanes_per_clock : profile.fma_lanes_per_clock);
    }
}

// Bytes that the SMs asked L2 for, and that they sent there.
static double asked_bytes(const u64 *sum)
{
    const double asked = sum[GLOBAL_LD_SECTORS] + sum[LOCAL_LD_SECTORS],
                 hits = sum[GLOBAL_LD_HITS] + sum[LOCAL_LD_HITS];
    return fmax(0, asked - hits) * SECTOR_BYTES + sum[BULK_LD_BYTES];
}

static double sent_bytes(const u64 *sum)
{
    return (double)(sum[GLOBAL_ST_SECTORS] + sum[LOCAL_ST_SECTORS] + sum[GLOBAL_ATOM_SECTORS]
                    + sum[GLOBAL_RED_SECTORS])
             * SECTOR_BYTES
         + sum[BULK_ST_BYTES] + sum[BULK_RED_BYTES];
}

Roofline roofline_of(const Grid *g, const u64 *sum, double seconds)
{
    static const char *const pipes[] = { "FP16", "FP32", "FP64", "Tensor Core" };
    Roofline r = { .flop = 0 };
    double busy[FLOP_PRECISIONS] = { 0 }, computing = 0;
    for (u32 pc = 0; pc < g->kernel->code_count; pc++)
        add(&r, busy, &isa_rows[g->kernel->code[pc].row], &g->tally[pc]);
    for (u32 p = 0; p < FLOP_PRECISIONS; p++) {
        const double least = busy[p] / profile.sm_count / profile.clock_hz;
        if (least > computing) computing = least, r.roof.pipe = pipes[p];
    }
    const double dram = sum[DRAM_READ] + sum[DRAM_WRITTEN], asked = asked_bytes(sum),
                 sent = sent_bytes(sum), dram_seconds = dram / profile.dram_bytes_per_second,
                 l2_seconds = fmax(asked / profile.l2_read_bytes_per_clock,
                                   sent / profile.l2_write_bytes_per_clock)
                            / profile.clock_hz,
                 moving = fmax(dram_seconds, l2_seconds);
    if (moving > 0) {
        const double bytes = dram_seconds >= l2_seconds ? dram : asked + sent;
        r.roof.memory = dram_seconds >= l2_seconds ? "DRAM" : "L2";
        r.roof.intensity = r.flop / bytes;
        if (computing > 0) r.roof.ridge = r.roof.intensity * moving / computing;
    }
    r.roof.memory_is_roof = moving > computing;
    r.roof.percent = seconds > 0 ? 100 * fmax(moving, computing) / seconds : 0;
    return r;
}
