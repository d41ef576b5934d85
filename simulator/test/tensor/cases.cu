// Runs each mma.sync on thousands of products of random numbers, and writes for each kind of them a sum over all bits of what
// came out. Floats come from several sources, since what is exact of one may be rounded of another:
//
//     integers    small enough that every sum is exact
//     unit        between 1 and 2, and their negatives: sums lose some low bits
//     wide        of many exponents: small ones vanish beside large ones
//     cancel      few bits and exponents near each other, so that sums are much smaller than what is added
//     odd         with zeros, denormals, infinities, NaNs, and numbers near the largest
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define OK(call)                                                                             \
    do {                                                                                     \
        cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                          \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));   \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

enum { CASES = 96, LANES = 32 };            // a warp a case
enum type { f16, bf16, tf32, f32, f64, s32, i8, i4, e4m3, e5m2 };

// name, opcode, types of c and d, a, b, and words of a, b and c: two a register of doubles
#define PRODUCTS(X)                                                                          \
    X(m16n8k8_f32_f16, "m16n8k8.row.col.f32.f16.f16.f32", f32, f16, 2, 1, 4)                 \
    X(m16n8k16_f32_f16, "m16n8k16.row.col.f32.f16.f16.f32", f32, f16, 4, 2, 4)               \
    X(m16n8k8_f16_f16, "m16n8k8.row.col.f16.f16.f16.f16", f16, f16, 2, 1, 2)                 \
    X(m16n8k16_f16_f16, "m16n8k16.row.col.f16.f16.f16.f16", f16, f16, 4, 2, 2)               \
    X(m16n8k8_f32_bf16, "m16n8k8.row.col.f32.bf16.bf16.f32", f32, bf16, 2, 1, 4)             \
    X(m16n8k16_f32_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", f32, bf16, 4, 2, 4)           \
    X(m16n8k4_f32_tf32, "m16n8k4.row.col.f32.tf32.tf32.f32", f32, tf32, 2, 1, 4)             \
    X(m16n8k8_f32_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", f32, tf32, 4, 2, 4)             \
    X(m16n8k16_s32_s8, "m16n8k16.row.col.s32.s8.s8.s32", s32, i8, 2, 1, 4)                   \
    X(m16n8k32_s32_s8, "m16n8k32.row.col.s32.s8.s8.s32", s32, i8, 4, 2, 4)                   \
    X(m16n8k32_s32_u8, "m16n8k32.row.col.s32.u8.u8.s32", s32, i8, 4, 2, 4)                   \
    X(m16n8k32_s32_s8u8, "m16n8k32.row.col.s32.s8.u8.s32", s32, i8, 4, 2, 4)                 \
    X(m16n8k16_s32_u8s8_sat, "m16n8k16.row.col.satfinite.s32.u8.s8.s32", s32, i8, 2, 1, 4)   \
    X(m16n8k32_s32_s8_sat, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", s32, i8, 4, 2, 4)     \
    X(m8n8k16_s32_s8, "m8n8k16.row.col.s32.s8.s8.s32", s32, i8, 1, 1, 2)                     \
    X(m8n8k16_s32_u8s8_sat, "m8n8k16.row.col.satfinite.s32.u8.s8.s32", s32, i8, 1, 1, 2)     \
    X(m8n8k32_s32_s4, "m8n8k32.row.col.s32.s4.s4.s32", s32, i4, 1, 1, 2)                     \
    X(m16n8k32_s32_s4u4, "m16n8k32.row.col.s32.s4.u4.s32", s32, i4, 2, 1, 4)                 \
    X(m16n8k64_s32_s4, "m16n8k64.row.col.s32.s4.s4.s32", s32, i4, 4, 2, 4)                   \
    X(m16n8k64_s32_u4s4_sat, "m16n8k64.row.col.satfinite.s32.u4.s4.s32", s32, i4, 4, 2, 4)   \
    X(m16n8k32_f32_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", f32, e4m3, 4, 2, 4)           \
    X(m16n8k32_f32_e5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32", f32, e5m2, 4, 2, 4)           \
    X(m16n8k32_f32_e4m3e5m2, "m16n8k32.row.col.f32.e4m3.e5m2.f32", f32, e4m3, 4, 2, 4)       \
    X(m16n8k32_f16_e4m3, "m16n8k32.row.col.f16.e4m3.e4m3.f16", f16, e4m3, 4, 2, 2)           \
    X(m8n8k4_f64, "m8n8k4.row.col.f64.f64.f64.f64", f64, f64, 2, 2, 4)                       \
    X(m16n8k4_f64, "m16n8k4.row.col.f64.f64.f64.f64", f64, f64, 4, 2, 8)                     \
    X(m16n8k8_f64, "m16n8k8.row.col.f64.f64.f64.f64", f64, f64, 8, 4, 8)                     \
    X(m16n8k16_f64, "m16n8k16.row.col.f64.f64.f64.f64", f64, f64, 16, 8, 8)

#define RUN_424(CODE) asm volatile(CODE " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"            \
    : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), \
      "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define RUN_214(CODE) asm volatile(CODE " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"                         \
    : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define RUN_422(CODE) asm volatile(CODE " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"                             \
    : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]))
#define RUN_212(CODE) asm volatile(CODE " {%0,%1}, {%2,%3}, {%4}, {%5,%6};"                                      \
    : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]))
#define RUN_112(CODE) asm volatile(CODE " {%0,%1}, {%2}, {%3}, {%4,%5};"                                         \
    : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]))

#define F(x, n) (((const double *)(x))[n])
#define D(n) "=d"(((double *)d)[n])
#define RUN_224(CODE) asm volatile(CODE " {%0,%1}, {%2}, {%3}, {%4,%5};"                                         \
    : D(0), D(1) : "d"(F(a, 0)), "d"(F(b, 0)), "d"(F(c, 0)), "d"(F(c, 1)))
#define RUN_428(CODE) asm volatile(CODE " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"                         \
    : D(0), D(1), D(2), D(3) : "d"(F(a, 0)), "d"(F(a, 1)), "d"(F(b, 0)), "d"(F(c, 0)), "d"(F(c, 1)), "d"(F(c, 2)), "d"(F(c, 3)))
#define RUN_848(CODE) asm volatile(CODE " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"             \
    : D(0), D(1), D(2), D(3) : "d"(F(a, 0)), "d"(F(a, 1)), "d"(F(a, 2)), "d"(F(a, 3)), "d"(F(b, 0)), "d"(F(b, 1)),       \
      "d"(F(c, 0)), "d"(F(c, 1)), "d"(F(c, 2)), "d"(F(c, 3)))
#define RUN_1688(CODE) asm volatile(CODE " {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%16,%17,%18,%19};" \
    : D(0), D(1), D(2), D(3) : "d"(F(a, 0)), "d"(F(a, 1)), "d"(F(a, 2)), "d"(F(a, 3)), "d"(F(a, 4)), "d"(F(a, 5)), "d"(F(a, 6)), \
      "d"(F(a, 7)), "d"(F(b, 0)), "d"(F(b, 1)), "d"(F(b, 2)), "d"(F(b, 3)), "d"(F(c, 0)), "d"(F(c, 1)), "d"(F(c, 2)), "d"(F(c, 3)))

#define KERNEL(NAME, CODE, C, A, NA, NB, NC)                                                                     \
    __global__ void product_##NAME(const uint32_t *as, const uint32_t *bs, const uint32_t *cs, uint32_t *ds)     \
    {                                                                                                            \
        alignas(8) uint32_t t = blockIdx.x * LANES + threadIdx.x, a[16], b[8], c[8], d[8] = {};                  \
        for (int i = 0; i < NA; i++) a[i] = as[t * NA + i];                                                      \
        for (int i = 0; i < NB; i++) b[i] = bs[t * NB + i];                                                      \
        for (int i = 0; i < NC; i++) c[i] = cs[t * NC + i];                                                      \
        RUN_##NA##NB##NC("mma.sync.aligned." CODE);                                                              \
        for (int i = 0; i < NC; i++) ds[t * NC + i] = d[i];                                                      \
    }
PRODUCTS(KERNEL)

// ---- operands ----

enum source { INTEGERS, UNIT, WIDE, CANCEL, ODD, SOURCES };
static const char *const source_names[] = { "integers", "unit", "wide", "cancel", "odd" };
static uint64_t state;

static uint32_t random_bits()
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t x = (uint32_t)((state ^ state >> 29) >> 32);
    return x ^ x >> 15;
}

static int between(int low, int high) { return low + (int)(random_bits() % (uint32_t)(high - low + 1)); }

// A float as a narrower type, what does not fit cut off.
static uint32_t as_type(enum type t, float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    uint32_t sign = b >> 31 << 15, fraction = b & 0x7fffff;
    int exponent = (int)(b >> 23 & 255) - 127;
    if (t == f32) return b;
    if (t == tf32) return b & ~0x1fffu;
    if (t == bf16) return b >> 16;
    if (x == 0) return sign;
    if (exponent > 15) return sign | 0x7bff;
    if (exponent >= -14) return sign | (uint32_t)(exponent + 15) << 10 | fraction >> 13;
    return sign | (exponent < -24 ? 0 : (fraction | 0x800000) >> 13 >> (-14 - exponent));
}

// Eight bits: small integers, numbers between 1 and 2, or any at all but NaNs and infinities, which only `odd` has.
static uint32_t byte(enum type t, enum source source)
{
    static const uint32_t small[] = { 0, 0x38, 0x40, 0x44, 0x48 }, smaller[] = { 0, 0x3c, 0x40, 0x42, 0x44 };     // 0 to 4
    uint32_t x = random_bits() & 255;
    if (source == INTEGERS) return (x & 0x80) | (t == e4m3 ? small : smaller)[random_bits() % 5];
    if (source == UNIT) return t == e4m3 ? (x & 0x87) | 0x38 : (x & 0x83) | 0x3c;
    return source != ODD && (x & 0x7c) == 0x7c ? x & 0xbf : x;
}

static uint32_t integer(enum type t, enum source source)
{
    uint32_t x = random_bits();
    if (t == i4) return source == ODD ? (x & 1 ? 7 : 8) : x & 15;
    if (t == i8) return source == ODD ? (x & 1 ? 0x7f : 0x80) : x & 255;
    if (source == INTEGERS) return x % 2001 - 1000;
    return source != ODD ? x : x & 1 ? 0x7fffffff - x % 99991 : 0x80000000 + x % 99991;
}

static uint32_t odd_number(enum type t, uint32_t bits)
{
    uint32_t sign = bits & 0x80000000, fraction = bits & 0x7fffff;
    static const uint32_t special[] = { 0x7f800000, 0x7fc12345, 0x7f7fffff, 0, 0, 0 };
    uint32_t kind = random_bits() % 40, whole;
    if (kind < 6) whole = sign | special[kind];
    else if (kind < 14) whole = sign | fraction;                                      // a denormal
    else if (t == f16) whole = sign | (uint32_t)between(107, 142) << 23 | fraction;
    else whole = sign | (uint32_t)between(kind & 1 ? 120 : 60, kind & 1 ? 131 : 69) << 23 | fraction;
    if (t == f32) return whole;
    if (t == tf32) return whole & ~0x1fffu;
    if (t == bf16) return whole >> 16;
    if (kind < 2) return whole >> 16 & 0x8000 | (kind ? 0x7e01 : 0x7c00);
    float x;
    memcpy(&x, &whole, sizeof x);
    return kind == 2 ? sign >> 16 | 0x7bff : kind < 14 ? sign >> 16 | (kind < 6 ? 0 : fraction & 0x3ff) : as_type(t, x);
}

static uint32_t element(enum type t, enum source source, bool added)
{
    if (t == i4 || t == i8 || t == s32) return integer(t, source);
    if (t == e4m3 || t == e5m2) return byte(t, source);
    uint32_t bits = random_bits();
    int exponent = 126;
    if (source == INTEGERS) {
        int most = added ? (t == f16 ? 128 : 1000) : t == f16 ? 4 : 32;
        return as_type(t, (float)between(-most, most));
    }
    if (source == ODD) return odd_number(t, bits);
    if (source == WIDE) exponent = between(119, 135) + (added ? between(-8, 8) : 0);
    if (source == CANCEL) {
        exponent = between(126, 128) + (added ? between(-8, 15) : 0);
        if (random_bits() & 1) bits &= ~0x1fffffu;
    }
    bits = (bits & 0x807fffff) | (uint32_t)exponent << 23;
    if (t == tf32 && random_bits() % 8 == 0) return bits;        // its low bits are not looked at
    float x;
    memcpy(&x, &bits, sizeof x);
    return as_type(t, x);
}

// A double near a float: with low bits of its own, but where sums are to be exact.
static void double_of(uint32_t bits, enum source source, uint32_t to[2])
{
    float x;
    memcpy(&x, &bits, sizeof x);
    double d = x;
    memcpy(to, &d, sizeof d);
    if (source != INTEGERS && (bits & 0x7f800000) != 0x7f800000) to[0] |= random_bits() & 0x1fffffff;
}

static std::vector<uint32_t> words(size_t count, enum type t, enum source source, bool added)
{
    uint32_t per = t == i4 ? 8 : t == i8 || t == e4m3 || t == e5m2 ? 4 : t == f16 || t == bf16 ? 2 : 1;
    std::vector<uint32_t> all(count);
    for (size_t i = 0; t == f64 && i < count; i += 2) double_of(element(f32, source, added), source, &all[i]);
    if (t == f64) return all;
    for (uint32_t &w : all)
        for (uint32_t e = 0; e < per; e++) w |= element(t, source, added) << e * (32 / per);
    return all;
}

static uint32_t *on_device(const std::vector<uint32_t> &words)
{
    uint32_t *to;
    OK(cudaMalloc(&to, words.size() * sizeof *to));
    OK(cudaMemcpy(to, words.data(), words.size() * sizeof *to, cudaMemcpyHostToDevice));
    return to;
}

typedef void (*Kernel)(const uint32_t *, const uint32_t *, const uint32_t *, uint32_t *);

static void run(const char *name, Kernel kernel, enum type c, enum type a, int na, int nb, int nc)
{
    for (int source = 0; source < SOURCES; source++) {
        state = 12345 + source;
        for (const char *at = name; *at; at++) state = state * 131 + (unsigned char)*at;
        size_t threads = CASES * LANES;
        std::vector<uint32_t> d(threads * nc);
        uint32_t *as = on_device(words(threads * na, a, (enum source)source, false));
        uint32_t *bs = on_device(words(threads * nb, a, (enum source)source, false));
        uint32_t *cs = on_device(words(threads * nc, c, (enum source)source, true)), *ds = on_device(d);
        kernel<<<CASES, LANES>>>(as, bs, cs, ds);
        OK(cudaGetLastError());
        OK(cudaMemcpy(d.data(), ds, d.size() * sizeof d[0], cudaMemcpyDeviceToHost));
        uint64_t sum = 14695981039346656037ull;
        for (uint32_t word : d) sum = (sum ^ word) * 1099511628211ull;
        printf("%s %s %016llx\n", name, source_names[source], (unsigned long long)sum);
        for (uint32_t *p : { as, bs, cs, ds }) OK(cudaFree(p));
    }
}

int main()
{
#define CALL(NAME, CODE, C, A, NA, NB, NC) run(#NAME, product_##NAME, C, A, NA, NB, NC);
    PRODUCTS(CALL)
    return 0;
}
