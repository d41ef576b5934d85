// The handlers of the instruction table's ALU rows, and the table itself, made from isa.def. A
// handler applies the row's expression to each lane of its mask; whole warps take the first loop,
// which the compiler turns into vectors.
#include "arithmetic.h"
#include "isa.h"
#include "windows.h"
#include "machine/handlers.h"

#ifdef __AVX__
#include <immintrin.h>
#endif

// ---- handlers ----

// A bit for each lane that has -1; the others have 0.
static inline u32 lanes_of(const s32 is[LANES])
{
    u32 bits = 0;
#ifdef __AVX__
    for (u32 l = 0; l < LANES; l += 8)
        bits |= (u32)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(is + l))) << l;
#else
    for (u32 l = 0; l < LANES; l++) bits |= (u32)is[l] & 1u << l;
#endif
    return bits;
}

#define EACH_LANE(statement)                                                                       \
    if (mask == ~0u) {                                                                             \
        _Pragma("GCC ivdep") for (u32 l = 0; l < LANES; l++) { statement; }                        \
    } else {                                                                                       \
        for (u32 l = 0; l < LANES; l++)                                                            \
            if (mask >> l & 1) {                                                                   \
                statement;                                                                         \
            }                                                                                      \
    }
#define HANDLER(name) static void run_##name(Warp *w, const Insn *i, u32 mask)

#define UNARY(name, D, A, lane)                                                                    \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        D *pd = row_of(w, i->d);                                                                   \
        const A *pa = row_of(w, i->a);                                                             \
        EACH_LANE (const A a = pa[l]; pd[l] = (D)(lane)) }
#define BINARY(name, D, A, B, lane)                                                                \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        D *pd = row_of(w, i->d);                                                                   \
        const A *pa = row_of(w, i->a);                                                             \
        const B *pb = row_of(w, i->b);                                                             \
        EACH_LANE (const A a = pa[l]; const B b = pb[l]; pd[l] = (D)(lane)) }
#define TERNARY(name, D, A, B, C, lane)                                                            \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        D *pd = row_of(w, i->d);                                                                   \
        const A *pa = row_of(w, i->a);                                                             \
        const B *pb = row_of(w, i->b);                                                             \
        const C *pc = row_of(w, i->c);                                                             \
        EACH_LANE (const A a = pa[l]; const B b = pb[l]; const C c = pc[l]; pd[l] = (D)(lane)) }
#define COMPARE(name, A, B, lane)                                                                  \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const A *pa = row_of(w, i->a);                                                             \
        const B *pb = row_of(w, i->b);                                                             \
        u32 *pd = row_of(w, i->d);                                                                 \
        s32 is[LANES];                                                                             \
        for (u32 l = 0; l < LANES; l++) {                                                          \
            const A a = pa[l];                                                                     \
            const B b = pb[l];                                                                     \
            is[l] = -(s32)(lane);                                                                  \
        }                                                                                          \
        *pd = (*pd & ~mask) | (lanes_of(is) & mask);                                               \
    }
#define TEST(name, A, lane)                                                                        \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const A *pa = row_of(w, i->a);                                                             \
        u32 *pd = row_of(w, i->d);                                                                 \
        s32 is[LANES];                                                                             \
        for (u32 l = 0; l < LANES; l++) {                                                          \
            const A a = pa[l];                                                                     \
            is[l] = -(s32)(lane);                                                                  \
        }                                                                                          \
        *pd = (*pd & ~mask) | (lanes_of(is) & mask);                                               \
    }
#define SELECT(name, D)                                                                            \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        D *pd = row_of(w, i->d);                                                                   \
        const D *pa = row_of(w, i->a), *pb = row_of(w, i->b);                                      \
        const u32 p = *(u32 *)row_of(w, i->c);                                                     \
        EACH_LANE (pd[l] = p >> l & 1 ? pa[l] : pb[l]) }
#define LOGIC(name, inputs, warp)                                                                  \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        u32 *pd = row_of(w, i->d);                                                                 \
        const u32 a = *(u32 *)row_of(w, i->a);                                                     \
        const u32 b = *(u32 *)row_of(w, i->b);                                                     \
        (void)b;                                                                                   \
        *pd = (*pd & ~mask) | ((warp)&mask);                                                       \
    }
#define PACK(name, D, A)                                                                           \
    HANDLER(pack_##name)                                                                           \
    {                                                                                              \
        D *pd = row_of(w, i->d);                                                                   \
        const A *pa = row_of(w, i->a), *pb = row_of(w, i->b);                                      \
        EACH_LANE (pd[l] = (D)pb[l] << 8 * sizeof(A) | pa[l]) }
#define UNPACK(name, D, A)                                                                         \
    HANDLER(unpack_##name)                                                                         \
    {                                                                                              \
        D *pd = row_of(w, i->d), *pb = row_of(w, i->b);                                            \
        const A *pa = row_of(w, i->a);                                                             \
        EACH_LANE (const A a = pa[l]; pd[l] = (D)a; pb[l] = (D)(a >> 8 * sizeof(D))) }
#define PACK_4(name, D, A)                                                                         \
    HANDLER(pack_4_##name)                                                                         \
    {                                                                                              \
        D *pd = row_of(w, i->d);                                                                   \
        EACH_LANE (D all = 0; for (u32 n = 4; n-- > 0;) all =                                      \
                                  all << 8 * sizeof(A) | ((const A *)row_of(w, i->vector[n]))[l];  \
                   pd[l] = all)                                                                    \
    }
#define UNPACK_4(name, D, A)                                                                       \
    HANDLER(unpack_4_##name)                                                                       \
    {                                                                                              \
        A all[LANES];                                                                              \
        memcpy(all, row_of(w, i->a), sizeof all);                                                  \
        for (u32 n = 0; n < 4; n++) {                                                              \
            D *pd = row_of(w, i->vector[n]);                                                       \
            EACH_LANE (pd[l] = (D)(all[l] >> 8 * sizeof(D) * n)) }                                 \
    }
#define CARRY(name, T, inputs, keeps, lane)                                                        \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        T *pd = row_of(w, i->d);                                                                   \
        const T *pa = row_of(w, i->a), *pb = row_of(w, i->b);                                      \
        const T *pc = row_of(w, i->c);                                                             \
        u32 *bits = row_of(w, i->predicate), old = *bits;                                          \
        for (u32 l = 0; l < LANES; l++) {                                                          \
            if (!(mask >> l & 1)) continue;                                                        \
            const T a = pa[l], b = pb[l], c = pc[l];                                               \
            const u32 carry = old >> l & 1;                                                        \
            (void)c;                                                                               \
            (void)carry;                                                                           \
            const u128 all = (lane);                                                               \
            pd[l] = (T)all;                                                                        \
            if (keeps) *bits = (*bits & ~(1u << l)) | (u32)(all >> 8 * sizeof(T) & 1) << l;        \
        }                                                                                          \
    }
#define CONVERT(name, D, A, lane)                                                                  \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        A source[LANES];                                                                           \
        narrow(source, sizeof(A), row_of(w, i->a), i->source_width);                               \
        D result[LANES];                                                                           \
        for (u32 l = 0; l < LANES; l++) {                                                          \
            const A a = source[l];                                                                 \
            result[l] = (D)(lane);                                                                 \
        }                                                                                          \
        widen(row_of(w, i->d), i->register_width, result, sizeof(D), !((D)-1 > (D)0), mask);       \
    }
#define INSERT(name, T)                                                                            \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        T *pd = row_of(w, i->d);                                                                   \
        const T *pa = row_of(w, i->a), *pb = row_of(w, i->b);                                      \
        const u32 *pc = row_of(w, i->c), *length = row_of(w, i->vector[0]);                        \
        EACH_LANE (pd[l] = insert_bits(pa[l], pb[l], pc[l], length[l], 8 * sizeof(T))) }
#define ATOMIC(name, T, lane)                                                                      \
    static u64 after_##name(u64 x, u64 y, u64 z)                                                   \
    {                                                                                              \
        union {                                                                                    \
            u64 bits;                                                                              \
            T value;                                                                               \
        } old = { x }, p = { y }, q = { z }, result = { 0 };                                       \
        const T a = old.value, b = p.value, c = q.value;                                           \
        (void)a, (void)b, (void)c;                                                                 \
        result.value = (T)(lane);                                                                  \
        return result.bits;                                                                        \
    }
#define COMPARE_2(name, T, relations, holds)                                                       \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const u32 *pa = row_of(w, i->a), *pb = row_of(w, i->b);                                    \
        u32 low = 0, high = 0, *p = row_of(w, i->d), *q = row_of(w, i->predicate);                 \
        for (u32 l = 0; l < LANES; l++) {                                                          \
            low |= (u32)holds(pa[l], pb[l], relations) << l;                                       \
            high |= (u32)holds(pa[l] >> 16, pb[l] >> 16, relations) << l;                          \
        }                                                                                          \
        *p = (*p & ~mask) | (low & mask);                                                          \
        *q = (*q & ~mask) | (high & mask);                                                         \
    }
#define RARE(name, D, A, B, C, lane)                                                               \
    static u64 each_##name(u64 x, u64 y, u64 z)                                                    \
    {                                                                                              \
        union {                                                                                    \
            u64 bits;                                                                              \
            A value;                                                                               \
        } p = { x };                                                                               \
        union {                                                                                    \
            u64 bits;                                                                              \
            B value;                                                                               \
        } q = { y };                                                                               \
        union {                                                                                    \
            u64 bits;                                                                              \
            C value;                                                                               \
        } r = { z };                                                                               \
        union {                                                                                    \
            u64 bits;                                                                              \
            D value;                                                                               \
        } result = { 0 };                                                                          \
        const A a = p.value;                                                                       \
        const B b = q.value;                                                                       \
        const C c = r.value;                                                                       \
        (void)b, (void)c;                                                                          \
        result.value = (D)(lane);                                                                  \
        return result.bits;                                                                        \
    }
#define RARE_1(name, D, A, lane) RARE(name, D, A, u32, u32, lane)
#define RARE_2(name, D, A, B, lane) RARE(name, D, A, B, u32, lane)
#define RARE_3(name, D, A, B, C, lane) RARE(name, D, A, B, C, lane)
#define RARE_CONVERT(name, D, A, lane) RARE(name, D, A, u32, u32, lane)
#define VIDEO(name, kind, lane)                                                                    \
    static s64 two_##name(s64 a, s64 b) { return (lane); }

// The low bytes of each lane's register.
static void narrow(void *to, u32 width, const u8 *from, u32 register_width)
{
    for (u32 l = 0; l < LANES; l++) memcpy((u8 *)to + l * width, from + l * register_width, width);
}

// Writes each lane of the mask into a register that may be wider, extending zeros or the sign.
static void widen(u8 *to, u32 register_width, const void *from, u32 width, bool is_signed, u32 mask)
{
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        const u8 *value = (const u8 *)from + l * width;
        u8 fill = is_signed && value[width - 1] & 0x80 ? 0xff : 0;
        memset(to + l * register_width, fill, register_width);
        memcpy(to + l * register_width, value, width);
    }
}

// A row's function for each lane. Registers of a CONVERT may be wider than its types.
static void run_rare(Warp *w, const Insn *i, u32 mask)
{
    const IsaRow *row = &isa_rows[i->row];
    const u32 from[] = { i->a, i->b, i->c };
    u64 in[3][LANES] = { 0 }, out[LANES];
    bool convert = row->shape == CONVERT;
    for (u32 n = 0; n < row->inputs; n++) {
        u32 width = isa_type_width(row->type[n + 1]),
            register_width = convert ? i->source_width : width;
        for (u32 l = 0; l < LANES; l++)
            memcpy(&in[n][l], (u8 *)row_of(w, from[n]) + l * register_width, width);
    }
    enum type to = row->type[0];
    u32 width = isa_type_width(to), register_width = convert ? i->register_width : width;
    bool is_signed = to == TYPE_s8 || to == TYPE_s16 || to == TYPE_s32 || to == TYPE_s64;
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        out[l] = row->each(in[0][l], in[1][l], in[2][l]);
        if (is_signed && width < 8)
            out[l] = (u64)((s64)(out[l] << (64 - 8 * width)) >> (64 - 8 * width));
        memcpy((u8 *)row_of(w, i->d) + l * register_width, &out[l], register_width);
    }
}

// lop3: the table is `offset`; p is whether any bit of the result is set, combined with a third
// predicate.
static void run_table(Warp *w, const Insn *i, u32 mask)
{
    u32 *d = row_of(w, i->d), some = 0;
    const u32 *a = row_of(w, i->a), *b = row_of(w, i->b), *c = row_of(w, i->c);
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        d[l] = look_up(a[l], b[l], c[l], (u32)i->offset);
        some |= (u32)(d[l] != 0) << l;
    }
    if (!i->predicate) return;
    u32 *p = row_of(w, i->predicate), third = *(u32 *)row_of(w, i->members) ^ i->flip;
    some = i->combine == COMBINE_AND ? some & third : some | third;
    *p = (*p & ~mask) | (some & mask);
}

#include "isa.def"

#undef RARE

// ---- the table: the rows' text as it is written ----

#define ROW(NAME, RUN, SHAPE, TEXT, D, A, B, C, INPUTS)                                            \
    { .name = NAME,                                                                                \
      .run = RUN,                                                                                  \
      .shape = SHAPE,                                                                              \
      .lane = TEXT,                                                                                \
      .inputs = INPUTS,                                                                            \
      .type = { TYPE_##D, TYPE_##A, TYPE_##B, TYPE_##C } },
#define TYPE_ TYPE_NONE
#define UNARY(n, D, A, lane) ROW(#n, run_##n, UNARY, #lane, D, A, , , 1)
#define BINARY(n, D, A, B, lane) ROW(#n, run_##n, BINARY, #lane, D, A, B, , 2)
#define TERNARY(n, D, A, B, C, lane) ROW(#n, run_##n, TERNARY, #lane, D, A, B, C, 3)
#define CONVERT(n, D, A, lane) ROW(#n, run_##n, CONVERT, #lane, D, A, , , 1)
#define COMPARE(n, A, B, lane) ROW(#n, run_##n, COMPARE, #lane, pred, A, B, , 2)
#define TEST(n, A, lane) ROW(#n, run_##n, TEST, #lane, pred, A, , , 1)
#define SELECT(n, D) ROW(#n, run_##n, SELECT, "p ? a : b", D, D, D, pred, 3)
#define LOGIC(n, inputs, warp) ROW(#n, run_##n, LOGIC, #warp, pred, pred, pred, , inputs)
#define PACK(n, D, A) ROW(#n, run_pack_##n, PACK, "b << width | a", D, A, A, , 2)
#define UNPACK(n, D, A) ROW(#n, run_unpack_##n, UNPACK, "low half, high half", D, A, D, , 1)
#define PACK_4(n, D, A) ROW(#n, run_pack_4_##n, PACK_4, "the first lowest", D, A, , , 1)
#define UNPACK_4(n, D, A) ROW(#n, run_unpack_4_##n, UNPACK_4, "the lowest first", D, A, , , 1)
#define CARRY(n, T, count, kept, text)                                                             \
    { .name = #n,                                                                                  \
      .run = run_##n,                                                                              \
      .shape = CARRY,                                                                              \
      .lane = #text,                                                                               \
      .inputs = count,                                                                             \
      .keeps = kept,                                                                               \
      .type = { TYPE_##T, TYPE_##T, TYPE_##T, TYPE_##T } },
#define MEMORY(n, SPACE, kind)                                                                     \
    { .name = #n,                                                                                  \
      .run = run_##kind,                                                                           \
      .shape = MEMORY,                                                                             \
      .lane = #kind,                                                                               \
      .space = SPACE,                                                                              \
      .store = #kind[0] == 's' },
#define RARE_ROW(n, SHAPE, TEXT, D, A, B, C, INPUTS)                                               \
    { .name = #n,                                                                                  \
      .run = run_rare,                                                                             \
      .each = each_##n,                                                                            \
      .shape = SHAPE,                                                                              \
      .lane = TEXT,                                                                                \
      .inputs = INPUTS,                                                                            \
      .type = { TYPE_##D, TYPE_##A, TYPE_##B, TYPE_##C } },
#define RARE_1(n, D, A, lane) RARE_ROW(n, UNARY, #lane, D, A, , , 1)
#define RARE_2(n, D, A, B, lane) RARE_ROW(n, BINARY, #lane, D, A, B, , 2)
#define RARE_3(n, D, A, B, C, lane) RARE_ROW(n, TERNARY, #lane, D, A, B, C, 3)
#define RARE_CONVERT(n, D, A, lane) RARE_ROW(n, CONVERT, #lane, D, A, , , 1)
#define SAME(n, as) { .name = #n, .shape = SAME, .same = #as },
#define COMPARE_2(n, T, relations, f)                                                              \
    ROW(#n, run_##n, COMPARE_2, "p for the lower halves, q for the upper", pred, T, T, , 2)
#define VIDEO(n, KIND, text)                                                                       \
    { .name = #n,                                                                                  \
      .run = run_video,                                                                            \
      .shape = VIDEO,                                                                              \
      .lane = #text,                                                                               \
      .inputs = 3,                                                                                 \
      .video = KIND,                                                                               \
      .two = two_##n,                                                                              \
      .type = { TYPE_u32, TYPE_u32, TYPE_u32, TYPE_u32 } },
#define TABLE(n, operands) ROW(#n, run_table, TABLE, operands, u32, u32, u32, u32, 3)
#define FENCE(n) ROW(#n, run_fence, FENCE, "memory order", , , , , 0)
#define FLOW(n, operands) ROW(#n, run_##n, FLOW, operands, , , , , 0)

#define INSERT(n, T) ROW(#n, run_##n, INSERT, "a's low bits in b at bit c", T, T, T, u32, 3)
#define EXCHANGE(n, D, A, operands) ROW(#n, run_##n, EXCHANGE, operands, D, A, , , 1)
#define ATOMIC(n, T, after)                                                                        \
    { .name = #n,                                                                                  \
      .run = run_atomic,                                                                           \
      .shape = ATOMIC,                                                                             \
      .lane = #after,                                                                              \
      .inputs = 2,                                                                                 \
      .store = true,                                                                               \
      .type = { TYPE_##T, TYPE_NONE, TYPE_##T, TYPE_##T },                                         \
      .atomic = after_##n },
#define MATRIX(id, kind, M, N, K, D, A, B, C, operands)                                            \
    { .name = #id,                                                                                 \
      .run = run_##kind,                                                                           \
      .shape = MATRIX,                                                                             \
      .lane = operands,                                                                            \
      .m = M + 0,                                                                                  \
      .n = N + 0,                                                                                  \
      .k = K + 0,                                                                                  \
      .store = sizeof operands > 9 && operands[0] == '[' && operands[1] == 'a',                    \
      .type = { TYPE_##D, TYPE_##A, TYPE_##B, TYPE_##C } },
#define TYPE_none TYPE_NONE

const IsaRow isa_rows[] = {
#include "isa.def"
};
const u32 isa_count = sizeof isa_rows / sizeof *isa_rows;
