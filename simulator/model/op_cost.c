// What the hardware spends on an instruction: issue slots, the unit, and the latency. Rates and
// latencies are the device profile's. What ptxas emits for an instruction that the hardware lacks
// was inferred from its output for compute capability 9.0.
#include "op_cost.h"

#include "isa/tensor.h"
#include "machine/profile.h"

// Instructions that are not simply one of the hardware's: their slots, and their unit where it is
// not the pipe's.
typedef struct Cost {
    u32 of; // enum op or enum row
    float slots, own;
    enum unit unit;
    float latency;
} Cost;

static const Cost op_costs[] = {
    { ISA_cvta, 0, 0, UNIT_NONE, 0 },       { ISA_not, 0, 0, UNIT_NONE, 0 },
    { ISA_load_param, 1, 1, UNIT_ADU, 30 }, { ISA_sin, 2, 1, UNIT_XU, 22 },
    { ISA_cos, 2, 1, UNIT_XU, 22 },         { ISA_bfe, 2, 2, UNIT_ALU, 9 },
    { ISA_bfi, 3, 3, UNIT_ALU, 9 },         { ISA_bfind, 3, 3, UNIT_ALU, 9 },
};

// Approximations that do not flush denormals scale before and after (FSETP, FMUL, MUFU, FMUL).
static const Cost row_costs[] = {
    { ROW_mov_pred, 0, 0, UNIT_NONE, 0 },          { ROW_and_pred, 0, 0, UNIT_NONE, 0 },
    { ROW_or_pred, 0, 0, UNIT_NONE, 0 },           { ROW_ex2_approx_f32, 4, 1, UNIT_XU, 31 },
    { ROW_lg2_approx_f32, 4, 1, UNIT_XU, 31 },     { ROW_rsqrt_approx_f32, 4, 1, UNIT_XU, 31 },
    { ROW_rcp_approx_f32, 4, 1, UNIT_XU, 31 },     { ROW_sqrt_approx_f32, 4, 1, UNIT_XU, 31 },
    { ROW_div_rn_f32, 9, 1, UNIT_XU, 50 },         { ROW_div_full_f32, 5, 1, UNIT_XU, 40 },
    { ROW_div_full_ftz_f32, 5, 1, UNIT_XU, 40 },   { ROW_div_approx_f32, 3, 1, UNIT_XU, 30 },
    { ROW_div_approx_ftz_f32, 3, 1, UNIT_XU, 30 }, { ROW_div_rn_f64, 20, 20, UNIT_FP64, 150 },
    { ROW_rcp_rn_f64, 12, 12, UNIT_FP64, 100 },    { ROW_sqrt_rn_f64, 20, 20, UNIT_FP64, 150 },
    { ROW_rcp_rn_f32, 7, 1, UNIT_XU, 50 },         { ROW_sqrt_rn_f32, 9, 1, UNIT_XU, 60 },
    { ROW_div_u32, 18, 3, UNIT_XU, 110 },          { ROW_div_s32, 22, 3, UNIT_XU, 120 },
    { ROW_rem_u32, 18, 3, UNIT_XU, 110 },          { ROW_rem_s32, 22, 3, UNIT_XU, 120 },
    { ROW_div_u64, 80, 6, UNIT_XU, 400 },          { ROW_div_s64, 90, 6, UNIT_XU, 400 },
    { ROW_rem_u64, 80, 6, UNIT_XU, 400 },          { ROW_rem_s64, 90, 6, UNIT_XU, 400 },
    { ROW_mul_hi_u64, 8, 8, UNIT_HEAVY, 20 },      { ROW_mul_hi_s64, 10, 10, UNIT_HEAVY, 20 },
    { ROW_mul_lo_u64, 4, 4, UNIT_HEAVY, 14 },      { ROW_mul_lo_s64, 4, 4, UNIT_HEAVY, 14 },
    { ROW_mad_lo_u64, 4, 4, UNIT_HEAVY, 14 },      { ROW_mad_lo_s64, 4, 4, UNIT_HEAVY, 14 },
};

static const Cost *listed(const Cost *costs, u32 count, u32 of)
{
    for (u32 n = 0; n < count; n++)
        if (costs[n].of == of) return &costs[n];
    return NULL;
}

static const Cost *listed_cost(const IsaRow *row)
{
    const Cost *c = listed(op_costs, sizeof op_costs / sizeof *op_costs, row->op);
    return c ? c : listed(row_costs, sizeof row_costs / sizeof *row_costs, (u32)(row - isa_rows));
}

static bool is_half(enum type t)
{
    return t == TYPE_f16 || t == TYPE_bf16 || t == TYPE_f16x2 || t == TYPE_bf16x2;
}

// Conversions to floats, rounded to nearest (I2FP, F2F).
static bool is_made_float(const IsaRow *row)
{
    switch (row - isa_rows) {
    case ROW_cvt_rn_f32_u8:
    case ROW_cvt_rn_f32_s8:
    case ROW_cvt_rn_f32_u16:
    case ROW_cvt_rn_f32_s16:
    case ROW_cvt_rn_f32_u32:
    case ROW_cvt_rn_f32_s32:
    case ROW_cvt_rn_f32_u64:
    case ROW_cvt_rn_f32_s64:
    case ROW_cvt_rn_f32_f64: return true;
    default: return false;
    }
}

// The FMA pipe's, whose HEAVY half takes integer products and halves.
static enum unit fma_unit(const IsaRow *row)
{
    bool product = row->op == ISA_mul || row->op == ISA_mul_wide || row->op == ISA_mad;
    return is_half(row->type[0]) || (product && row->type[0] != TYPE_f32) ? UNIT_HEAVY : UNIT_FMA;
}

static bool is_simple(const IsaRow *row)
{
    return row->op == ISA_add || row->op == ISA_sub || row->op == ISA_mov
        || row - isa_rows == ROW_shl_b32;
}

static enum unit unit_of(const IsaRow *row)
{
    switch (isa_pipe(row)) {
    case PIPE_FMA: return fma_unit(row);
    case PIPE_FP64: return UNIT_FP64;
    case PIPE_XU: return is_made_float(row) ? UNIT_ALU : UNIT_XU;
    case PIPE_LSU: return UNIT_LSU;
    case PIPE_ADU: return UNIT_ADU;
    case PIPE_TENSOR: return UNIT_TENSOR;
    case PIPE_TMA: return UNIT_TMA;
    case PIPE_CBU: return UNIT_NONE;
    default: return is_simple(row) ? UNIT_INTEGER : UNIT_ALU;
    }
}

static float latency_of(enum unit unit)
{
    switch (unit) {
    case UNIT_FP64: return profile.fp64_latency_clocks;
    case UNIT_XU: return profile.xu_latency_clocks;
    case UNIT_LSU: return profile.shuffle_latency_clocks;
    default: return profile.alu_latency_clocks;
    }
}

static bool is_wide(const IsaRow *row)
{
    return isa_type_width(row->type[0]) == 8 && row->type[0] != TYPE_f64 && row->shape != MEMORY
        && row->shape != ATOMIC;
}

static bool is_shift(const IsaRow *row)
{
    return row->op == ISA_shl || row->op == ISA_shr || row->op == ISA_shf;
}

static void find_cost(Op *op, const IsaRow *row)
{
    bool integers = row->type[0] >= TYPE_u8 && row->type[0] <= TYPE_s64 && row->type[1] >= TYPE_u8
                 && row->type[1] <= TYPE_s64;
    bool packs = row->shape == PACK || row->shape == UNPACK || row->shape == PACK_4
              || row->shape == UNPACK_4;
    op->unit = unit_of(row);
    op->slots = 1;
    op->latency = is_half(row->type[0]) ? profile.half2_latency_clocks : latency_of(op->unit);
    const Cost *c = listed_cost(row);
    if (c) {
        op->unit = c->unit, op->slots = c->slots, op->own = c->own, op->latency = c->latency;
        return;
    }
    if (packs || (row->shape == CONVERT && integers)) op->slots = op->latency = 0;
    else if (is_wide(row) && row->op != ISA_mul_wide && row->op != ISA_mov)
        op->slots = is_shift(row) ? 3 : 2;
    op->own = op->slots;
}

// The clocks for which a matrix product occupies the pipe, and its latency. Measured on an H200:
// four clocks for each row of b for doubles; two products for 8-bit factors. For 4-bit factors
// there is no pipe, and other instructions compute them.
static void product_cost(Op *op, const IsaRow *row)
{
    const enum type type = row->type[1];
    bool whole = isa_type_width(type) * row->k >= 32;
    op->busy = op->slots * (whole ? profile.tensor_clocks : profile.tensor_short_clocks);
    op->latency = whole ? profile.tensor_latency_clocks : profile.tensor_short_latency_clocks;
    if (type == TYPE_e4m3 || type == TYPE_e5m2) op->busy *= 2;
    if (type == TYPE_s4 || type == TYPE_u4) op->busy = 6 * row->k, op->latency = 7 * row->k;
    if (type == TYPE_f64) op->busy = 4 * row->k, op->latency = op->busy + 14;
}

// A product of at most 16 x 8 elements is one instruction; a larger one is several. Halves are
// loaded from shared memory four tiles at a time, other parts of a fragment one by one.
static void matrix_cost(Op *op, const Insn *i, const IsaRow *row)
{
    const Matrix *x = i->matrix;
    u32 tiles = x->d.distinct + x->a.distinct + x->b.distinct + x->c.distinct;
    bool fragments = row->op == ISA_fragment_load || row->op == ISA_fragment_store;
    bool halves = fragments && x->a.per + x->b.per == 2 && i->space == SPACE_SHARED;
    float products = x->m * x->n < 128 ? 1 : x->m * x->n / 128.0f;
    op->groups = (s32)i->offset;
    op->slots = op->own = op->unit == UNIT_TENSOR ? products
                        : halves                  ? (tiles + 3) / 4
                        : fragments               ? tiles
                                                  : 1;
    if (op->unit == UNIT_TENSOR) product_cost(op, row);
}

// The additional cost of a cluster's barrier over a block's.
static float beyond_barrier(void)
{
    return (float)(profile.cluster_barrier_clocks - profile.barrier_latency_clocks
                   - profile.barrier_clocks_per_warp);
}

void op_find_cost(Op *op, const Insn *i)
{
    const IsaRow *row = insn_row(i);
    find_cost(op, row);
    if (op->kind == OP_BARRIER) op->latency = i->op == ISA_cluster_wait ? beyond_barrier() : 0;
    if (row->shape == MATRIX) matrix_cost(op, i, row);
}
