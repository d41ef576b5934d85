// The handlers of the instruction table's ALU rows, and the table itself, made from isa.def. A handler applies the row's
// expression to each lane of its mask; whole warps take the first loop, which the compiler turns into vectors.
#include "arithmetic.h"
#include "warp.h"

// ---- handlers ----

#define EACH_LANE(statement)                                                            \
    if (mask == ~0u) {                                                                  \
        _Pragma("GCC ivdep") for (u32 l = 0; l < LANES; l++) { statement; }             \
    } else {                                                                            \
        for (u32 l = 0; l < LANES; l++) if (mask >> l & 1) { statement; }               \
    }
#define HANDLER(name) static void run_##name(Warp *w, const Insn *i, u32 mask)

#define UNARY(name, D, A, lane)                                                         \
    HANDLER(name) {                                                                     \
        D *pd = row_of(w, i->d); const A *pa = row_of(w, i->a);                         \
        EACH_LANE(const A a = pa[l]; pd[l] = (D)(lane)) }
#define BINARY(name, D, A, B, lane)                                                     \
    HANDLER(name) {                                                                     \
        D *pd = row_of(w, i->d); const A *pa = row_of(w, i->a);                         \
        const B *pb = row_of(w, i->b);                                                  \
        EACH_LANE(const A a = pa[l]; const B b = pb[l]; pd[l] = (D)(lane)) }
#define TERNARY(name, D, A, B, C, lane)                                                 \
    HANDLER(name) {                                                                     \
        D *pd = row_of(w, i->d); const A *pa = row_of(w, i->a);                         \
        const B *pb = row_of(w, i->b); const C *pc = row_of(w, i->c);                   \
        EACH_LANE(const A a = pa[l]; const B b = pb[l]; const C c = pc[l]; pd[l] = (D)(lane)) }
#define COMPARE(name, A, B, lane)                                                       \
    HANDLER(name) {                                                                     \
        const A *pa = row_of(w, i->a); const B *pb = row_of(w, i->b);                   \
        u32 *pd = row_of(w, i->d), bits = 0;                                            \
        for (u32 l = 0; l < LANES; l++) {                                               \
            const A a = pa[l]; const B b = pb[l]; bits |= (u32)(lane) << l; }           \
        *pd = (*pd & ~mask) | (bits & mask); }
#define TEST(name, A, lane)                                                             \
    HANDLER(name) {                                                                     \
        const A *pa = row_of(w, i->a); u32 *pd = row_of(w, i->d), bits = 0;             \
        for (u32 l = 0; l < LANES; l++) { const A a = pa[l]; bits |= (u32)(lane) << l; } \
        *pd = (*pd & ~mask) | (bits & mask); }
#define SELECT(name, D)                                                                 \
    HANDLER(name) {                                                                     \
        D *pd = row_of(w, i->d); const D *pa = row_of(w, i->a), *pb = row_of(w, i->b);  \
        const u32 p = *(u32 *)row_of(w, i->c);                                          \
        EACH_LANE(pd[l] = p >> l & 1 ? pa[l] : pb[l]) }
#define LOGIC(name, inputs, warp)                                                       \
    HANDLER(name) {                                                                     \
        u32 *pd = row_of(w, i->d); const u32 a = *(u32 *)row_of(w, i->a);               \
        const u32 b = *(u32 *)row_of(w, i->b); (void)b;                                 \
        *pd = (*pd & ~mask) | ((warp) & mask); }
#define PACK(name, D, A)                                                                \
    HANDLER(pack_##name) {                                                              \
        D *pd = row_of(w, i->d); const A *pa = row_of(w, i->a), *pb = row_of(w, i->b);  \
        EACH_LANE(pd[l] = (D)pb[l] << 8 * sizeof(A) | pa[l]) }
#define UNPACK(name, D, A)                                                              \
    HANDLER(unpack_##name) {                                                            \
        D *pd = row_of(w, i->d), *pb = row_of(w, i->b); const A *pa = row_of(w, i->a);  \
        EACH_LANE(const A a = pa[l]; pd[l] = (D)a; pb[l] = (D)(a >> 8 * sizeof(D))) }
#define PACK_4(name, D, A)                                                              \
    HANDLER(pack_4_##name) {                                                            \
        D *pd = row_of(w, i->d);                                                        \
        EACH_LANE(D all = 0; for (u32 n = 4; n-- > 0;)                                  \
            all = all << 8 * sizeof(A) | ((const A *)row_of(w, i->vector[n]))[l]; pd[l] = all) }
#define UNPACK_4(name, D, A)                                                            \
    HANDLER(unpack_4_##name) {                                                          \
        A all[LANES]; memcpy(all, row_of(w, i->a), sizeof all);                         \
        for (u32 n = 0; n < 4; n++) { D *pd = row_of(w, i->vector[n]);                  \
            EACH_LANE(pd[l] = (D)(all[l] >> 8 * sizeof(D) * n)) } }
#define CARRY(name, T, inputs, keeps, lane)                                             \
    HANDLER(name) {                                                                     \
        T *pd = row_of(w, i->d); const T *pa = row_of(w, i->a), *pb = row_of(w, i->b);  \
        const T *pc = row_of(w, i->c); u32 *bits = row_of(w, i->predicate), old = *bits; \
        for (u32 l = 0; l < LANES; l++) {                                               \
            if (!(mask >> l & 1)) continue;                                             \
            const T a = pa[l], b = pb[l], c = pc[l]; const u32 carry = old >> l & 1;    \
            (void)c; (void)carry;                                                       \
            const u128 all = (lane);                                                    \
            pd[l] = (T)all;                                                             \
            if (keeps) *bits = (*bits & ~(1u << l)) | (u32)(all >> 8 * sizeof(T) & 1) << l; } }
#define CONVERT(name, D, A, lane)                                                       \
    HANDLER(name) {                                                                     \
        A source[LANES]; narrow(source, sizeof(A), row_of(w, i->a), i->source_width);   \
        D result[LANES];                                                                \
        for (u32 l = 0; l < LANES; l++) { const A a = source[l]; result[l] = (D)(lane); } \
        widen(row_of(w, i->d), i->register_width, result, sizeof(D), !((D)-1 > (D)0), mask); }
#define INSERT(name, T)                                                                 \
    HANDLER(name) {                                                                     \
        T *pd = row_of(w, i->d); const T *pa = row_of(w, i->a), *pb = row_of(w, i->b);  \
        const u32 *pc = row_of(w, i->c), *length = row_of(w, i->vector[0]);             \
        EACH_LANE(pd[l] = insert_bits(pa[l], pb[l], pc[l], length[l])) }
#define ATOMIC(name, T, lane)                                                           \
    static u64 after_##name(u64 x, u64 y, u64 z) {                                      \
        union { u64 bits; T value; } old = { x }, p = { y }, q = { z }, result = { 0 }; \
        const T a = old.value, b = p.value, c = q.value; (void)a, (void)b, (void)c;     \
        result.value = (T)(lane);                                                       \
        return result.bits; }
#define EXCHANGE(name, D, A, operands)
#define MEMORY(name, space, kind)
#define FLOW(name, operands)
#define FENCE(name)

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

#include "isa.def"

#undef TEST
#undef PACK_4
#undef UNPACK_4
#undef CARRY
#undef UNARY
#undef BINARY
#undef TERNARY
#undef COMPARE
#undef SELECT
#undef LOGIC
#undef PACK
#undef UNPACK
#undef CONVERT
#undef MEMORY
#undef FLOW
#undef FENCE
#undef EXCHANGE
#undef ATOMIC
#undef INSERT

// ---- the table: the rows' text as it is written ----

#define ROW(NAME, RUN, SHAPE, TEXT, D, A, B, C, INPUTS)                                                 \
    { .name = NAME, .run = RUN, .shape = SHAPE, .lane = TEXT, .inputs = INPUTS,                         \
      .type = { TYPE_##D, TYPE_##A, TYPE_##B, TYPE_##C } },
#define TYPE_ TYPE_NONE
#define UNARY(n, D, A, lane)            ROW(#n, run_##n, UNARY, #lane, D, A, , , 1)
#define BINARY(n, D, A, B, lane)        ROW(#n, run_##n, BINARY, #lane, D, A, B, , 2)
#define TERNARY(n, D, A, B, C, lane)    ROW(#n, run_##n, TERNARY, #lane, D, A, B, C, 3)
#define CONVERT(n, D, A, lane)          ROW(#n, run_##n, CONVERT, #lane, D, A, , , 1)
#define COMPARE(n, A, B, lane)          ROW(#n, run_##n, COMPARE, #lane, pred, A, B, , 2)
#define TEST(n, A, lane)                ROW(#n, run_##n, TEST, #lane, pred, A, , , 1)
#define SELECT(n, D)                    ROW(#n, run_##n, SELECT, "p ? a : b", D, D, D, pred, 3)
#define LOGIC(n, inputs, warp)          ROW(#n, run_##n, LOGIC, #warp, pred, pred, pred, , inputs)
#define PACK(n, D, A)                   ROW(#n, run_pack_##n, PACK, "b << width | a", D, A, A, , 2)
#define UNPACK(n, D, A)                 ROW(#n, run_unpack_##n, UNPACK, "low half, high half", D, A, D, , 1)
#define PACK_4(n, D, A)                 ROW(#n, run_pack_4_##n, PACK_4, "the first lowest", D, A, , , 1)
#define UNPACK_4(n, D, A)               ROW(#n, run_unpack_4_##n, UNPACK_4, "the lowest first", D, A, , , 1)
#define CARRY(n, T, count, kept, text)                                                                  \
    { .name = #n, .run = run_##n, .shape = CARRY, .lane = #text, .inputs = count, .keeps = kept,         \
      .type = { TYPE_##T, TYPE_##T, TYPE_##T, TYPE_##T } },
#define MEMORY(n, SPACE, kind)                                                                          \
    { .name = #n, .run = run_##kind, .shape = MEMORY, .lane = #kind, .space = SPACE, .store = #kind[0] == 's' },
#define FENCE(n)                        ROW(#n, run_fence, FENCE, "memory order", , , , , 0)
#define FLOW(n, operands)               ROW(#n, run_##n, FLOW, operands, , , , , 0)

#define INSERT(n, T)                    ROW(#n, run_##n, INSERT, "a's low bits in b at bit c", T, T, T, u32, 3)
#define EXCHANGE(n, D, A, operands)     ROW(#n, run_##n, EXCHANGE, operands, D, A, , , 1)
#define ATOMIC(n, T, after)                                                                             \
    { .name = #n, .run = run_atomic, .shape = ATOMIC, .lane = #after, .inputs = 2, .store = true,        \
      .type = { TYPE_##T, TYPE_NONE, TYPE_##T, TYPE_##T }, .atomic = after_##n },
#define TYPE_none TYPE_NONE

const IsaRow isa_rows[] = {
#include "isa.def"
};
const u32 isa_count = sizeof isa_rows / sizeof *isa_rows;
