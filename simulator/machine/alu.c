// The handlers of the instruction table's ALU rows, made from isa.def, and which handler each row
// has. A handler applies the row's expression to each lane of its mask; whole warps take the first
// loop, which the compiler turns into vectors.
#include "handlers.h"

#include "isa/small_floats.h"
#include "isa/video.h"
#include "isa/windows.h"

#ifdef __AVX__
#include <immintrin.h>
#endif

// ---- handlers ----

// A bit for each lane that holds -1; the others hold 0.
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

#define UNARY(name, op, D, A, lane)                                                                \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        D *pd = row_of(w, i->d);                                                                   \
        const A *pa = row_of(w, i->a);                                                             \
        EACH_LANE (const A a = pa[l]; pd[l] = (D)(lane)) }
#define BINARY(name, op, D, A, B, lane)                                                            \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        D *pd = row_of(w, i->d);                                                                   \
        const A *pa = row_of(w, i->a);                                                             \
        const B *pb = row_of(w, i->b);                                                             \
        EACH_LANE (const A a = pa[l]; const B b = pb[l]; pd[l] = (D)(lane)) }
#define TERNARY(name, op, D, A, B, C, lane)                                                        \
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
#define TEST(name, op, A, lane)                                                                    \
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
#define LOGIC(name, op, inputs, warp)                                                              \
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
#define CARRY(name, op, T, inputs, takes, keeps, lane)                                             \
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
// These have no handlers of their own.
#define RARE_1(...)
#define RARE_2(...)
#define RARE_3(...)
#define RARE_CONVERT(...)

// The low bytes of each lane's register.
static void narrow(void *to, u32 width, const u8 *from, u32 register_width)
{
    for (u32 l = 0; l < LANES; l++) memcpy((u8 *)to + l * width, from + l * register_width, width);
}

// Writes each lane of the mask into a register that may be wider, with zero or sign extension.
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

static void run_video(Warp *w, const Insn *i, u32 mask)
{
    const IsaRow *row = &isa_rows[i->row];
    const u32 *a = row_of(w, i->a), *b = row_of(w, i->b), *c = row_of(w, i->c);
    u32 *d = row_of(w, i->d);
    VideoForm form = { i->offset };
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1) d[l] = video_compute(row, form, a[l], b[l], c[l]);
}

#include "isa/isa.def"

// ---- which handler an instruction has ----

static void (*const handlers[ISA_ROWS])(Warp *, const Insn *, u32 mask) = {
#define OWN(name, ...) [ROW_##name] = run_##name,
#define LIST(kind, name) [ROW_##kind##_##name] = run_##kind##_##name,
#define BY_OP(name, op, ...) [ROW_##name] = run_##op,
#define ALL(name, handler) [ROW_##name] = handler,
#define UNARY OWN
#define BINARY OWN
#define TERNARY OWN
#define CONVERT OWN
#define RARE_1(name, ...) ALL(name, run_rare)
#define RARE_2(name, ...) ALL(name, run_rare)
#define RARE_3(name, ...) ALL(name, run_rare)
#define RARE_CONVERT(name, ...) ALL(name, run_rare)
#define COMPARE OWN
#define COMPARE_2 OWN
#define TEST OWN
#define SELECT OWN
#define LOGIC OWN
#define INSERT OWN
#define PACK(name, ...) LIST(pack, name)
#define UNPACK(name, ...) LIST(unpack, name)
#define PACK_4(name, ...) LIST(pack_4, name)
#define UNPACK_4(name, ...) LIST(unpack_4, name)
#define CARRY OWN
#define TABLE(name, ...) ALL(name, run_table)
#define VIDEO(name, ...) ALL(name, run_video)
#define MATRIX BY_OP
#define MEMORY BY_OP
#define FLOW BY_OP
#define FENCE(name) ALL(name, run_fence)
#define EXCHANGE OWN
#define ATOMIC(name, ...) ALL(name, run_atomic)
#include "isa/isa.def"
};

// A comparison with more than a predicate to set.
static void run_compare(Warp *w, const Insn *i, u32 mask)
{
    u32 *p = row_of(w, i->d), third = *(const u32 *)row_of(w, i->c) ^ i->flip;
    handlers[i->row](w, i, mask);
    bool halves = isa_rows[i->row].shape == COMPARE_2; // the upper halves have set q already
    u32 yes = *p, no = halves ? *(u32 *)row_of(w, i->predicate) : ~yes;
    switch (i->combine) {
    case COMBINE_AND: yes &= third, no &= third; break;
    case COMBINE_OR: yes |= third, no |= third; break;
    case COMBINE_XOR: yes ^= third, no ^= third; break;
    }
    *p = (*p & ~mask) | (yes & mask);
    if (i->predicate) {
        u32 *q = row_of(w, i->predicate);
        *q = (*q & ~mask) | (no & mask);
    }
    if (!i->as_number) return;
    u8 *number = row_of(w, i->vector[0]);
    for (u32 l = 0; l < LANES; l++) {
        u64 value = yes >> l & 1 ? (u64)i->offset : 0;
        if (halves && no >> l & 1) value |= (u64)i->offset << 16;
        if (mask >> l & 1) memcpy(number + l * i->register_width, &value, i->register_width);
    }
}

static void bind(Insn *i)
{
    switch (i->op) {
    case ISA_clock: i->run = run_clock; return;
    case ISA_compare: i->run = run_compare; return;
    case ISA_isspacep_own: i->run = run_isspacep_own; return;
    case ISA_function: i->run = run_function; return;
    default: i->run = handlers[i->row];
    }
}

void handlers_bind(Kernel *k)
{
    if (k->bound) return;
    for (Insn *i = k->code; i < k->code + k->code_count; i++) bind(i);
    k->bound = true;
}
