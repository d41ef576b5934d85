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
enum type { f16, bf16, tf32, f32, s32, i8 };

// name, opcode, types of c and d, a, b, and registers of a, b and c
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
    X(m16n8k32_s32_s8_sat, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", s32, i8, 4, 2, 4)

#define RUN_424(CODE) asm volatile(CODE " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"            \
    : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), \
      "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define RUN_214(CODE) asm volatile(CODE " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"                         \
    : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define RUN_422(CODE) asm volatile(CODE " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"                             \
    : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]))
#define RUN_212(CODE) asm volatile(CODE " {%0,%1}, {%2,%3}, {%4}, {%5,%6};"                                      \
    : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]))

#define KERNEL(NAME, CODE, C, A, NA, NB, NC)                                                                     \
    __global__ void product_##NAME(const uint32_t *as, const uint32_t *bs, const uint32_t *cs, uint32_t *ds)     \
    {                                                                                                            \
        uint32_t t = blockIdx.x * LANES + threadIdx.x, a[4], b[4], c[4], d[4] = {};                              \
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

static uint32_t integer(enum type t, enum source source)
{
    uint32_t x = random_bits();
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
    if (t == i8 || t == s32) return integer(t, source);
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

static std::vector<uint32_t> words(size_t count, enum type t, enum source source, bool added)
{
    uint32_t per = t == i8 ? 4 : t == f16 || t == bf16 ? 2 : 1;
    std::vector<uint32_t> all(count);
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
