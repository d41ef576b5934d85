// The instruction table, made from isa.def, and what its rows compute of numbers: what an atomic
// leaves in memory, the lanes of RARE rows, the parts of video instructions.
#include "isa.h"

#include "small_floats.h"

#define ATOMIC(name, op, T, lane)                                                                  \
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
#define RARE_1(name, op, D, A, lane) RARE(name, D, A, u32, u32, lane)
#define RARE_2(name, op, D, A, B, lane) RARE(name, D, A, B, u32, lane)
#define RARE_3(name, op, D, A, B, C, lane) RARE(name, D, A, B, C, lane)
#define RARE_CONVERT(name, D, A, lane) RARE(name, D, A, u32, u32, lane)
#define VIDEO(name, kind, lane)                                                                    \
    static s64 two_##name(s64 a, s64 b) { return (lane); }

#include "isa.def"
#undef RARE

// ---- the table ----

#define DATA(number, text, does, kind, D, A, B, C, count, ...)                                     \
    [ROW_##number] = { .opcode = #text,                                                            \
                       .op = ISA_##does,                                                           \
                       .shape = kind,                                                              \
                       .inputs = count,                                                            \
                       .type = { TYPE_##D, TYPE_##A, TYPE_##B, TYPE_##C },                         \
                       __VA_ARGS__ },
#define TYPE_ TYPE_NONE
#define TYPE_none TYPE_NONE
#define UNARY(n, op, D, A, lane) DATA(n, n, op, UNARY, D, A, , , 1)
#define BINARY(n, op, D, A, B, lane) DATA(n, n, op, BINARY, D, A, B, , 2)
#define TERNARY(n, op, D, A, B, C, lane) DATA(n, n, op, TERNARY, D, A, B, C, 3)
#define CONVERT(n, D, A, lane) DATA(n, n, cvt, CONVERT, D, A, , , 1)
#define RARE_1(n, op, D, A, lane) DATA(n, n, op, UNARY, D, A, , , 1, .each = each_##n)
#define RARE_2(n, op, D, A, B, lane) DATA(n, n, op, BINARY, D, A, B, , 2, .each = each_##n)
#define RARE_3(n, op, D, A, B, C, lane) DATA(n, n, op, TERNARY, D, A, B, C, 3, .each = each_##n)
#define RARE_CONVERT(n, D, A, lane) DATA(n, n, cvt, CONVERT, D, A, , , 1, .each = each_##n)
#define COMPARE(n, A, B, lane) DATA(n, n, setp, COMPARE, pred, A, B, , 2)
#define COMPARE_2(n, T, relations, f) DATA(n, n, setp, COMPARE_2, pred, T, T, , 2)
#define TEST(n, op, A, lane) DATA(n, n, op, TEST, pred, A, , , 1)
#define SELECT(n, D) DATA(n, n, selp, SELECT, D, D, D, pred, 3)
#define LOGIC(n, op, inputs, warp) DATA(n, n, op, LOGIC, pred, pred, pred, , inputs)
#define INSERT(n, T) DATA(n, n, bfi, INSERT, T, T, T, u32, 3)
#define PACK(n, D, A) DATA(pack_##n, n, mov, PACK, D, A, A, , 2)
#define UNPACK(n, D, A) DATA(unpack_##n, n, mov, UNPACK, D, A, D, , 1)
#define PACK_4(n, D, A) DATA(pack_4_##n, n, mov, PACK_4, D, A, , , 1)
#define UNPACK_4(n, D, A) DATA(unpack_4_##n, n, mov, UNPACK_4, D, A, , , 1)
#define CARRY(n, op, T, inputs, taken, kept, lane)                                                 \
    DATA(n, n, op, CARRY, T, T, T, T, inputs, .takes = taken, .keeps = kept)
#define TABLE(n, text, ...)                                                                        \
    DATA(n, n, lop3, TABLE, u32, u32, u32, u32, 3, .operands = text, __VA_ARGS__)
#define VIDEO(n, kind, lane)                                                                       \
    DATA(n, n, video, VIDEO, u32, u32, u32, u32, 3, .video = kind, .two = two_##n)
#define MATRIX(id, op, M, N, K, D, A, B, C, text, ...)                                             \
    DATA(id, id, op, MATRIX, D, A, B, C, 0, .m = M + 0, .n = N + 0, .k = K + 0, __VA_ARGS__)
#define MEMORY(n, op, in, ...) DATA(n, n, op, MEMORY, , , , , 0, .space = in, __VA_ARGS__)
#define FLOW(n, op, text, ...) DATA(n, n, op, FLOW, , , , , 0, __VA_ARGS__)
#define FENCE(n) DATA(n, n, fence, FENCE, , , , , 0)
#define EXCHANGE(n, op, D, A, text) DATA(n, n, op, EXCHANGE, D, A, , , 1, .operands = text)
#define ATOMIC(n, op, T, lane)                                                                     \
    DATA(n, n, op, ATOMIC, T, , T, T, 2, .store = true, .atomic = after_##n)
#define SAME(n, as) [ROW_##n] = { .opcode = #n, .shape = SAME, .same = ROW_##as },

const IsaRow isa_rows[ISA_ROWS] = {
#include "isa.def"
};
