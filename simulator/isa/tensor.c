// Products of small matrices, as the Tensor Cores of an H200 compute them. Of integers there is one
// answer. Of floats NVIDIA does not say how they are added up; this is what test/tensor/ found an
// H200 to do, and holds the simulated device to:
//
// - Products are exact, and so is nothing else. The products of an element, with c among them, are
// brought to the largest
//   exponent of them all (the sum of the factors' exponents, not of the product), bits below SPARE
//   more than a float has are cut off, and the rest is added up exactly.
// - The sum becomes a float by cutting off again, or a half by rounding to nearest.
// - Factors of eight bits become halves first: of every four, two are multiplied in a first
// product, the others in a second to
//   which the first is added, and c comes last, by an ordinary addition.
#include "small_floats.h"
#include "tensor.h"

enum { SPARE = 2 }; // bits that the adder has below a float's 24

// ---- fragments ----

// Elements in a register of 32 bits; a double takes one of 64.
static u32 elements_of(enum type type)
{
    u32 width = isa_type_width(type);
    return type == TYPE_s4 || type == TYPE_u4 ? 8 : width < 4 ? 4 / width : 1;
}

// An operand of `side` rows, along each of which k runs: a, or b turned. Its tiles are 8 x 4 words.
// Those of 16 rows stand together where the operand is the product's left one, as a is, and b of
// the products that the hardware turns (m = 8).
static Fragment factor(const IsaRow *row, enum type type, u32 side, bool left)
{
    u32 per = elements_of(type), across = row->k / (4 * per), below = left && side >= 16 ? 2 : 1;
    Fragment f = { .type = type, .per = per, .column_step = per, .rows = side, .cols = row->k };
    f.distinct = side / 8 * across;
    f.registers = row->fragments && type == TYPE_f16 ? MOST_FRAGMENT : f.distinct;
    for (u32 r = 0; r < f.registers; r++) {
        u32 n = r % f.distinct, group = n / (below * across), rest = n % (below * across);
        f.row[r] = (group * below + rest % below) * 8;
        f.col[r] = rest / below * 4 * per;
    }
    return f;
}

static Fragment fragment_a(const IsaRow *row) { return factor(row, row->type[1], row->m, true); }

static Fragment fragment_b(const IsaRow *row)
{
    Fragment f = factor(row, row->type[2], row->n, row->m == 8);
    f.turned = true;
    return f;
}

// c and d: 16 rows are two tiles, one below the other; of 32-bit elements two registers make a
// tile.
static Fragment fragment_c(const IsaRow *row, enum type type)
{
    bool turned = row->m == 8 && row->n > 8;
    u32 per = elements_of(type), rows = turned ? row->n : row->m, cols = turned ? row->m : row->n,
        each = 2 / per;
    Fragment f = {
        .type = type, .per = per, .column_step = 2, .turned = turned, .rows = rows, .cols = cols
    };
    f.registers = f.distinct = rows / 8 * (cols / 8) * each;
    for (u32 r = 0; r < f.registers; r++) {
        u32 tile = r / each, below = rows < 16 ? 1 : 2, in_group = below * (cols / 8),
            rest = tile % in_group;
        f.row[r] = tile / in_group * 16 + rest % below * 8;
        f.col[r] = rest / below * 8 + r % each;
    }
    return f;
}

void matrix_of(const IsaRow *row, Matrix *x)
{
    x->m = row->m, x->n = row->n, x->k = row->k;
    if (!row->fragments && row->op != ISA_multiply) {
        x->d.registers = row->k;
        x->trans = row->transposed;
        return;
    }
    if (row->type[0]) x->d = fragment_c(row, row->type[0]);
    if (row->type[1]) x->a = fragment_a(row);
    if (row->type[2]) x->b = fragment_b(row);
    if (row->type[3]) x->c = fragment_c(row, row->type[3]);
}

// ---- numbers ----

enum {
    WIDE = 8,
    TILE = 128,
    MOST_DEPTH = 64
}; // elements that are worked on together; of a register, at most; along k

// Matrices as numbers, and the power of two that each one's exponent stands for. b has its rows
// along k.
typedef struct Numbers {
    _Alignas(64) f64 value[MOST_SIDE][MOST_SIDE], unit[MOST_SIDE][MOST_SIDE];
    bool odd;
} Numbers;

static const f64 BELOW_ALL = 0x1p-400; // the unit of zeros

static inline u32 f32_of_f16(u32 h)
{
    union {
        u32 bits;
        f32 value;
    } x = { (h & 0x7fff) << 13 };
    x.value *= 0x1p112f;
    return x.bits | ((h & 0x7c00) == 0x7c00 ? 0x7f800000 : 0) | (h & 0x8000) << 16;
}

static u32 f32_of_e4m3(u32 x)
{
    union {
        f32 value;
        u32 bits;
    } y = { (f32)of_e4m3(x) };
    return y.bits;
}

// The elements of a register as the bits of floats, in the order of the lanes. Returns how many
// they are.
static u32 floats_of(enum type type, const u32 *row, u32 bits[TILE])
{
    const u16 *half = (const u16 *)row;
    const u8 *byte = (const u8 *)row;
    switch (type) {
    case TYPE_f16:
        for (u32 n = 0; n < 2 * LANES; n++) bits[n] = f32_of_f16(half[n]);
        return 2 * LANES;
    case TYPE_bf16:
        for (u32 n = 0; n < 2 * LANES; n++) bits[n] = (u32)half[n] << 16;
        return 2 * LANES;
    case TYPE_e4m3:
        for (u32 n = 0; n < 4 * LANES; n++) bits[n] = f32_of_e4m3(byte[n]);
        return 4 * LANES;
    case TYPE_e5m2:
        for (u32 n = 0; n < 4 * LANES; n++) bits[n] = f32_of_f16((u32)byte[n] << 8);
        return 4 * LANES;
    case TYPE_tf32:
        for (u32 n = 0; n < LANES; n++) bits[n] = row[n] & ~0x1fffu;
        return LANES;
    default: memcpy(bits, row, LANES * sizeof *row); return LANES;
    }
}

static f64 unit_of(f64 x, f64 least)
{
    f64 power = of_bits(bits_of(x) & 0x7ffull << 52);
    return x == 0 ? BELOW_ALL : power > least ? power : least;
}

static f64 least_of(enum type type)
{
    return type == TYPE_f32 || type == TYPE_tf32 || type == TYPE_bf16 ? 0x1p-126 : 0x1p-14;
}

// Of eight bits: which column along k an element has, so that each of the two products has columns
// side by side.
static u32 column_of_byte(u32 col) { return (col & 2) * 8 + col / 4 * 2 + col % 2; }

static void numbers_of(const Fragment *f, const u32 *const registers[], Numbers *x)
{
    f64 least = least_of(f->type), value[TILE], unit[TILE];
    u32 bits[TILE], odd = 0;
    for (u32 r = 0; r < f->distinct; r++) {
        u32 count = floats_of(f->type, registers[r], bits);
        for (u32 n = 0; n < count; n++) {
            union {
                u32 bits;
                f32 value;
            } whole = { bits[n] }, power = { bits[n] & 0x7f800000 };
            f64 normal = power.value > least ? power.value : least;
            odd |= power.bits == 0x7f800000;
            value[n] = whole.value;
            unit[n] = bits[n] << 1 ? normal : BELOW_ALL;
        }
        for (u32 l = 0; l < LANES; l++)
            for (u32 j = 0; j < f->per; j++) {
                u32 row = f->row[r] + l / 4, col = f->col[r] + l % 4 * f->column_step + j;
                if (f->per == 4) col = column_of_byte(col);
                x->value[row][col] = value[l * f->per + j];
                x->unit[row][col] = unit[l * f->per + j];
            }
    }
    x->odd = odd;
}

static void turn(Numbers *x, u32 rows, u32 cols)
{
    static __thread Numbers other;
    for (u32 r = 0; r < rows; r++)
        for (u32 c = 0; c < cols; c++)
            other.value[c][r] = x->value[r][c], other.unit[c][r] = x->unit[r][c];
    for (u32 c = 0; c < cols; c++) {
        memcpy(x->value[c], other.value[c], rows * sizeof(f64));
        memcpy(x->unit[c], other.unit[c], rows * sizeof(f64));
    }
}

// ---- products of floats ----

// WIDE elements of a row of d. `a` and `ua` are a row of a; the rows of b begin at `from`, its
// columns and c's at `col`.
static void add_up(const f64 *a, const f64 *ua, const Numbers *b, u32 from, u32 col, u32 k,
                   const f64 *c, const f64 *uc, f64 *d)
{
    f64 most[WIDE], scale[WIDE], sum[WIDE];
    for (u32 n = 0; n < WIDE; n++) most[n] = uc[n];
    for (u32 i = 0; i < k; i++)
        for (u32 n = 0; n < WIDE; n++) {
            f64 unit = ua[i] * b->unit[from + i][col + n];
            most[n] = unit > most[n] ? unit : most[n];
        }
    for (u32 n = 0; n < WIDE; n++) {
        scale[n] = (f64)(1 << (23 + SPARE)) / most[n];
        sum[n] = (f64)(s32)(c[n] * scale[n]);
    }
    for (u32 i = 0; i < k; i++)
        for (u32 n = 0; n < WIDE; n++)
            sum[n] += (f64)(s32)(a[i] * b->value[from + i][col + n] * scale[n]);
    for (u32 n = 0; n < WIDE; n++) d[n] = sum[n] / scale[n];
}

// Towards zero, which has no sign then, but beyond all numbers to infinity; of halves to nearest.
static u32 bits_as(enum type type, f64 x)
{
    f64 size = __builtin_fabs(x);
    if (type == TYPE_f16) return x != x ? 0x7fff : round_f16(x);
    if (x != x) return 0x7fffffff;
    if (size >= 0x1p128) return x < 0 ? 0xff800000 : 0x7f800000;
    if (size < 0x1p-149) return 0;
    if (size < 0x1p-126) return round_small(x, 8, 23, FE_TOWARDZERO);
    union {
        f32 value;
        u32 bits;
    } y = { (f32)of_bits(bits_of(x) & ~0ull << 29) };
    return y.bits;
}

typedef f64 Sums[MOST_SIDE][MOST_SIDE];

// With infinities or NaNs among the operands: an element that depends on none of them is left as it
// is.
static void add_up_odd(const Numbers *a, const Numbers *b, const Numbers *c, u32 row, u32 col,
                       u32 from, u32 k, f64 *d)
{
    f64 sum = c->value[row][col];
    for (u32 i = from; i < from + k; i++) sum += a->value[row][i] * b->value[i][col];
    if (!isfinite(sum)) *d = sum;
}

// The product of k columns of a, from one on, and as many rows of b, with c.
static void product(const Matrix *x, const Numbers *a, const Numbers *b, const Numbers *c, u32 from,
                    u32 k, Sums sums)
{
    for (u32 row = 0; row < x->m; row++)
        for (u32 col = 0; col < x->n; col += WIDE)
            add_up(&a->value[row][from], &a->unit[row][from], b, from, col, k, &c->value[row][col],
                   &c->unit[row][col], &sums[row][col]);
    for (u32 row = 0; (a->odd || b->odd || c->odd) && row < x->m; row++)
        for (u32 col = 0; col < x->n; col++)
            add_up_odd(a, b, c, row, col, from, k, &sums[row][col]);
}

// Sums as the numbers that they become.
static void become(const Matrix *x, Sums sums, Numbers *to)
{
    to->odd = false;
    for (u32 row = 0; row < x->m; row++)
        for (u32 col = 0; col < x->n; col++) {
            u32 bits = bits_as(x->d.type, sums[row][col]);
            union {
                u32 bits;
                f32 value;
            } number = { x->d.type == TYPE_f16 ? f32_of_f16(bits) : bits };
            to->value[row][col] = number.value;
            to->unit[row][col] = unit_of(number.value, least_of(x->d.type));
            to->odd |= !isfinite(number.value);
        }
}

static void product_of_bytes(const Matrix *x, const Numbers *a, const Numbers *b, const Numbers *c,
                             Sums sums)
{
    static __thread Numbers so_far;
    memset(sums, 0, sizeof(Sums));
    become(x, sums, &so_far);
    for (u32 from = 0; from < x->k; from += x->k / 2) {
        product(x, a, b, &so_far, from, x->k / 2, sums);
        become(x, sums, &so_far);
    }
    for (u32 row = 0; row < x->m; row++)
        for (u32 col = 0; col < x->n; col++) {
            f64 sum = so_far.value[row][col] + c->value[row][col];
            sums[row][col] = x->d.type == TYPE_f16 ? sum : (f64)(f32)sum;
        }
}

static void multiply_floats(const Matrix *x, u32 *const d[], const u32 *const a[],
                            const u32 *const b[], const u32 *const c[])
{
    static __thread Numbers an, bn, cn;
    static __thread Sums result;
    numbers_of(&x->a, a, &an);
    numbers_of(&x->b, b, &bn);
    turn(&bn, x->b.rows, x->b.cols);
    numbers_of(&x->c, c, &cn);
    if (x->c.turned) turn(&cn, x->c.rows, x->c.cols);
    if (x->a.per == 4) product_of_bytes(x, &an, &bn, &cn, result);
    else product(x, &an, &bn, &cn, 0, x->k, result);
    const Fragment *f = &x->d;
    for (u32 r = 0; r < f->registers; r++)
        for (u32 l = 0; l < LANES; l++) {
            u32 word = 0;
            for (u32 j = 0; j < f->per; j++) {
                u32 major = f->row[r] + l / 4, minor = f->col[r] + l % 4 * f->column_step + j;
                word |= bits_as(f->type, f->turned ? result[minor][major] : result[major][minor])
                     << 16 * j;
            }
            d[r][l] = word;
        }
}

// ---- products of integers ----

typedef struct Integers {
    s32 value[MOST_SIDE][MOST_DEPTH];
} Integers;

static s32 integer_of(const Fragment *f, const u32 *row, u32 n)
{
    u32 four = row[n / f->per] >> 4 * (n % f->per) & 15;
    switch (f->type) {
    case TYPE_s4: return (s32)(four ^ 8) - 8;
    case TYPE_u4: return (s32)four;
    case TYPE_s8: return ((const s8 *)row)[n];
    case TYPE_u8: return ((const u8 *)row)[n];
    default: return (s32)row[n];
    }
}

static void integers_of(const Fragment *f, const u32 *const registers[], Integers *x)
{
    for (u32 r = 0; r < f->distinct; r++)
        for (u32 n = 0; n < LANES * f->per; n++) {
            u32 l = n / f->per, row = f->row[r] + l / 4,
                col = f->col[r] + l % 4 * f->column_step + n % f->per;
            x->value[row][col] = integer_of(f, registers[r], n);
        }
}

static void multiply_integers(const Matrix *x, u32 *const d[], const u32 *const a[],
                              const u32 *const b[], const u32 *const c[])
{
    static __thread Integers an, bn, cn;
    integers_of(&x->a, a, &an);
    integers_of(&x->b, b, &bn);
    integers_of(&x->c, c, &cn);
    const Fragment *f = &x->d;
    for (u32 r = 0; r < f->registers; r++)
        for (u32 l = 0; l < LANES; l++) {
            u32 major = f->row[r] + l / 4, minor = f->col[r] + l % 4 * f->column_step,
                row = f->turned ? minor : major, col = f->turned ? major : minor;
            s32 products = 0;
            for (u32 i = 0; i < x->k; i++) products += an.value[row][i] * bn.value[col][i];
            s64 sum = (s64)cn.value[major][minor] + products;
            if (x->saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            d[r][l] = (u32)sum;
        }
}

// ---- products of doubles ----

typedef struct Doubles {
    f64 value[MOST_SIDE][MOST_SIDE];
} Doubles;

static void doubles_of(const Fragment *f, const u32 *const registers[], Doubles *x)
{
    for (u32 r = 0; r < f->registers; r++)
        for (u32 l = 0; l < LANES; l++)
            x->value[f->row[r] + l / 4][f->col[r] + l % 4 * f->column_step] =
                ((const f64 *)registers[r])[l];
}

// One product after the other is added, each sum rounded to nearest.
static void multiply_doubles(const Matrix *x, u32 *const d[], const u32 *const a[],
                             const u32 *const b[], const u32 *const c[])
{
    static __thread Doubles an, bn, cn;
    doubles_of(&x->a, a, &an);
    doubles_of(&x->b, b, &bn);
    doubles_of(&x->c, c, &cn);
    for (u32 r = 0; r < x->d.registers; r++)
        for (u32 l = 0; l < LANES; l++) {
            u32 row = x->d.row[r] + l / 4, col = x->d.col[r] + l % 4 * x->d.column_step;
            f64 sum = cn.value[row][col];
            for (u32 i = 0; i < x->k; i++) {
                f64 p = an.value[row][i], q = bn.value[col][i];
                sum = nan_of_3(__builtin_fma(p, q, sum), p, q, sum);
            }
            ((f64 *)d[r])[l] = sum;
        }
}

void matrix_multiply(const Matrix *x, u32 *const d[], const u32 *const a[], const u32 *const b[],
                     const u32 *const c[])
{
    if (x->d.type == TYPE_s32) multiply_integers(x, d, a, b, c);
    else if (x->d.type == TYPE_f64) multiply_doubles(x, d, a, b, c);
    else multiply_floats(x, d, a, b, c);
}
