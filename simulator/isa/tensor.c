// Products of small matrices, as the Tensor Cores of an H200 compute them. Of integers there is one answer. Of floats NVIDIA
// does not say how they are added up; this is what test/tensor/ found an H200 to do, and holds the simulated device to:
//
// - Products are exact, and so is nothing else. The products of an element, with c among them, are brought to the largest
//   exponent of them all (the sum of the factors' exponents, not of the product), bits below SPARE more than a float has are
//   cut off, and the rest is added up exactly.
// - The sum becomes a float by cutting off again, or a half by rounding to nearest.
#include "arithmetic.h"
#include "tensor.h"

enum { SPARE = 2 };         // bits that the adder has below a float's 24

// ---- fragments ----

static bool is_wmma(const IsaRow *row) { return !strncmp(row->name, "wmma", 4); }

// An operand of `side` rows, along each of which k runs: a, or b turned. Its tiles are 8 x 4 words. Those of 16 rows stand
// together where the operand is the product's left one, as a is, and b of the products that the hardware turns (m = 8).
static Fragment factor(const IsaRow *row, enum type type, u32 side, bool left)
{
    u32 per = 4 / isa_type_width(type), across = row->k / (4 * per), below = left && side >= 16 ? 2 : 1;
    Fragment f = { .type = type, .per = per, .apart = per, .rows = side, .cols = row->k };
    f.distinct = side / 8 * across;
    f.registers = is_wmma(row) && type == TYPE_f16 ? MOST_FRAGMENT : f.distinct;
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

// c and d: 16 rows are two tiles, one below the other; of 32-bit elements two registers make a tile.
static Fragment fragment_c(const IsaRow *row, enum type type)
{
    bool turned = row->m == 8;
    u32 width = isa_type_width(type), rows = turned ? row->n : row->m, cols = turned ? row->m : row->n, each = width / 2;
    Fragment f = { .type = type, .per = 4 / width, .apart = 2, .turned = turned, .rows = rows, .cols = cols };
    f.registers = f.distinct = rows / 8 * (cols / 8) * each;
    for (u32 r = 0; r < f.registers; r++) {
        u32 tile = r / each, across = cols / 8, group = tile / (2 * across), rest = tile % (2 * across);
        f.row[r] = group * 16 + rest % 2 * 8;
        f.col[r] = rest / 2 * 8 + r % each;
    }
    return f;
}

void matrix_of(const IsaRow *row, Matrix *x)
{
    x->m = row->m, x->n = row->n, x->k = row->k;
    if (strncmp(row->name, "wmma", 4) && strncmp(row->name, "mma", 3)) {
        x->d.registers = row->k;
        x->trans = strstr(row->name, "_trans_");
        return;
    }
    if (row->type[0]) x->d = fragment_c(row, row->type[0]);
    if (row->type[1]) x->a = fragment_a(row);
    if (row->type[2]) x->b = fragment_b(row);
    if (row->type[3]) x->c = fragment_c(row, row->type[3]);
}

// ---- numbers ----

enum { WIDE = 8, TILE = 64 };           // elements that are worked on together; of a register, at most

// Matrices as numbers, and the power of two that each one's exponent stands for. b has its rows along k.
typedef struct Numbers { _Alignas(64) f64 value[MOST_SIDE][MOST_SIDE], unit[MOST_SIDE][MOST_SIDE]; bool odd; } Numbers;

static const f64 BELOW_ALL = 0x1p-400;          // the unit of zeros

static inline u32 f32_of_f16(u32 h)
{
    union { u32 bits; f32 value; } x = { (h & 0x7fff) << 13 };
    x.value *= 0x1p112f;
    return x.bits | ((h & 0x7c00) == 0x7c00 ? 0x7f800000 : 0) | (h & 0x8000) << 16;
}

// The elements of a register as the bits of floats, in the order of the lanes. Returns how many they are.
static u32 floats_of(enum type type, const u32 *row, u32 bits[TILE])
{
    const u16 *half = (const u16 *)row;
    switch (type) {
    case TYPE_f16: for (u32 n = 0; n < 2 * LANES; n++) bits[n] = f32_of_f16(half[n]); return 2 * LANES;
    case TYPE_bf16: for (u32 n = 0; n < 2 * LANES; n++) bits[n] = (u32)half[n] << 16; return 2 * LANES;
    case TYPE_tf32: for (u32 n = 0; n < LANES; n++) bits[n] = row[n] & ~0x1fffu; return LANES;
    default: memcpy(bits, row, LANES * sizeof *row); return LANES;
    }
}

static void numbers_of(const Fragment *f, const u32 *const registers[], Numbers *x)
{
    f64 least = f->type == TYPE_f16 ? 0x1p-14 : 0x1p-126, value[TILE], unit[TILE];
    u32 bits[TILE], odd = 0;
    for (u32 r = 0; r < f->distinct; r++) {
        u32 count = floats_of(f->type, registers[r], bits);
        for (u32 n = 0; n < count; n++) {
            union { u32 bits; f32 value; } whole = { bits[n] }, power = { bits[n] & 0x7f800000 };
            f64 normal = power.value > least ? power.value : least;
            odd |= power.bits == 0x7f800000;
            value[n] = whole.value;
            unit[n] = bits[n] << 1 ? normal : BELOW_ALL;
        }
        for (u32 l = 0; l < LANES; l++)
            for (u32 j = 0; j < f->per; j++) {
                u32 row = f->row[r] + l / 4, col = f->col[r] + l % 4 * f->apart + j;
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
        for (u32 c = 0; c < cols; c++) other.value[c][r] = x->value[r][c], other.unit[c][r] = x->unit[r][c];
    for (u32 c = 0; c < cols; c++) {
        memcpy(x->value[c], other.value[c], rows * sizeof(f64));
        memcpy(x->unit[c], other.unit[c], rows * sizeof(f64));
    }
}

// ---- products of floats ----

// WIDE elements of a row of d. `a` and `ua` are a row of a; the columns of b and c begin at `col`.
static void add_up(const f64 *a, const f64 *ua, const Numbers *b, u32 col, u32 k, const f64 *c, const f64 *uc, f64 *d)
{
    f64 most[WIDE], scale[WIDE], sum[WIDE];
    for (u32 n = 0; n < WIDE; n++) most[n] = uc[n];
    for (u32 i = 0; i < k; i++)
        for (u32 n = 0; n < WIDE; n++) {
            f64 unit = ua[i] * b->unit[i][col + n];
            most[n] = unit > most[n] ? unit : most[n];
        }
    for (u32 n = 0; n < WIDE; n++) {
        scale[n] = (f64)(1 << (23 + SPARE)) / most[n];
        sum[n] = (f64)(s32)(c[n] * scale[n]);
    }
    for (u32 i = 0; i < k; i++)
        for (u32 n = 0; n < WIDE; n++) sum[n] += (f64)(s32)(a[i] * b->value[i][col + n] * scale[n]);
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
    union { f32 value; u32 bits; } y = { (f32)of_bits(bits_of(x) & ~0ull << 29) };
    return y.bits;
}

// With infinities or NaNs among the operands: an element that depends on none of them is left as it is.
static void add_up_odd(const Numbers *a, const Numbers *b, const Numbers *c, u32 row, u32 col, u32 k, f64 *d)
{
    f64 sum = c->value[row][col];
    for (u32 i = 0; i < k; i++) sum += a->value[row][i] * b->value[i][col];
    if (!isfinite(sum)) *d = sum;
}

static void multiply_floats(const Matrix *x, u32 *const d[], const u32 *const a[], const u32 *const b[], const u32 *const c[])
{
    static __thread Numbers an, bn, cn;
    static __thread f64 result[MOST_SIDE][MOST_SIDE];
    numbers_of(&x->a, a, &an);
    numbers_of(&x->b, b, &bn);
    turn(&bn, x->b.rows, x->b.cols);
    numbers_of(&x->c, c, &cn);
    if (x->c.turned) turn(&cn, x->c.rows, x->c.cols);
    for (u32 row = 0; row < x->m; row++)
        for (u32 col = 0; col < x->n; col += WIDE)
            add_up(an.value[row], an.unit[row], &bn, col, x->k, &cn.value[row][col], &cn.unit[row][col], &result[row][col]);
    for (u32 row = 0; (an.odd || bn.odd || cn.odd) && row < x->m; row++)
        for (u32 col = 0; col < x->n; col++) add_up_odd(&an, &bn, &cn, row, col, x->k, &result[row][col]);
    const Fragment *f = &x->d;
    for (u32 r = 0; r < f->registers; r++)
        for (u32 l = 0; l < LANES; l++) {
            u32 word = 0;
            for (u32 j = 0; j < f->per; j++) {
                u32 major = f->row[r] + l / 4, minor = f->col[r] + l % 4 * f->apart + j;
                word |= bits_as(f->type, f->turned ? result[minor][major] : result[major][minor]) << 16 * j;
            }
            d[r][l] = word;
        }
}

// ---- products of integers ----

typedef struct Integers { s32 value[MOST_SIDE][MOST_SIDE]; } Integers;

static void integers_of(const Fragment *f, const u32 *const registers[], Integers *x)
{
    for (u32 r = 0; r < f->distinct; r++)
        for (u32 n = 0; n < LANES * f->per; n++) {
            u32 l = n / f->per, row = f->row[r] + l / 4, col = f->col[r] + l % 4 * f->apart + n % f->per;
            x->value[row][col] = f->type == TYPE_s8 ? ((const s8 *)registers[r])[n]
                               : f->type == TYPE_u8 ? ((const u8 *)registers[r])[n] : (s32)registers[r][l];
        }
}

static void multiply_integers(const Matrix *x, u32 *const d[], const u32 *const a[], const u32 *const b[], const u32 *const c[])
{
    static __thread Integers an, bn, cn;
    integers_of(&x->a, a, &an);
    integers_of(&x->b, b, &bn);
    integers_of(&x->c, c, &cn);
    const Fragment *f = &x->d;
    for (u32 r = 0; r < f->registers; r++)
        for (u32 l = 0; l < LANES; l++) {
            u32 major = f->row[r] + l / 4, minor = f->col[r] + l % 4 * f->apart, row = f->turned ? minor : major, col = f->turned ? major : minor;
            s32 products = 0;
            for (u32 i = 0; i < x->k; i++) products += an.value[row][i] * bn.value[col][i];
            s64 sum = (s64)cn.value[major][minor] + products;
            if (x->saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            d[r][l] = (u32)sum;
        }
}

void matrix_multiply(const Matrix *x, u32 *const d[], const u32 *const a[], const u32 *const b[], const u32 *const c[])
{
    if (x->d.type == TYPE_s32) multiply_integers(x, d, a, b, c);
    else multiply_floats(x, d, a, b, c);
}
