// The instruction set as data: what isa.def's rows and ops.def say, for all who ask what an
// instruction is. Nothing here runs one.
#pragma once
#include "base/base.h"

// What it does (ops.def).
enum op {
#define OP(name, pipe) ISA_##name,
#define DECODED(name) ISA_##name,
#include "ops.def"
    ISA_OPS
};

// A row of the table: such an instruction of certain types, with certain modifiers.
enum row {
#define ROW(name, ...) ROW_##name,
#define LIST(kind, name) ROW_##kind##_##name,
#define UNARY ROW
#define BINARY ROW
#define TERNARY ROW
#define CONVERT ROW
#define COMPARE ROW
#define TEST ROW
#define SELECT ROW
#define LOGIC ROW
#define INSERT ROW
#define PACK(name, ...) LIST(pack, name)
#define UNPACK(name, ...) LIST(unpack, name)
#define PACK_4(name, ...) LIST(pack_4, name)
#define UNPACK_4(name, ...) LIST(unpack_4, name)
#define CARRY ROW
#define COMPARE_2 ROW
#define TABLE ROW
#define VIDEO ROW
#define MATRIX ROW
#define MEMORY ROW
#define FLOW ROW
#define FENCE ROW
#define EXCHANGE ROW
#define ATOMIC ROW
#define SAME ROW
#include "isa.def"
#undef ROW
#undef LIST
    ISA_ROWS
};

enum shape {
    UNARY,
    BINARY,
    TERNARY,
    CONVERT,
    COMPARE,
    TEST,
    SELECT,
    LOGIC,
    PACK,
    UNPACK,
    MEMORY,
    FLOW,
    EXCHANGE,
    ATOMIC,
    INSERT,
    CARRY,
    FENCE,
    PACK_4,
    UNPACK_4,
    COMPARE_2,
    TABLE,
    SAME,
    VIDEO,
    MATRIX
};

enum type {
    TYPE_NONE,
    TYPE_pred,
    TYPE_u8,
    TYPE_s8,
    TYPE_u16,
    TYPE_s16,
    TYPE_u32,
    TYPE_s32,
    TYPE_u64,
    TYPE_s64,
    TYPE_f32,
    TYPE_f64,
    TYPE_f16,
    TYPE_bf16,
    TYPE_f16x2,
    TYPE_bf16x2,
    TYPE_u128,
    TYPE_tf32,
    TYPE_e4m3,
    TYPE_e5m2,
    TYPE_s4,
    TYPE_u4,
    TYPES // those of four bits: two to a byte
};

enum video { VIDEO_SCALAR, VIDEO_SHIFT, VIDEO_MULTIPLY, VIDEO_PAIR, VIDEO_FOUR };

enum space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM, SPACE_CALL };

// Which of an SM's units executes it, in Nsight Compute's words.
enum pipe {
    PIPE_ALU, // integers but products, bits, comparisons, choices
    PIPE_FMA, // float and half arithmetic, products of integers
    PIPE_FP64,
    PIPE_XU,     // approximations, conversions between number formats, counting bits
    PIPE_LSU,    // memory, shuffles
    PIPE_ADU,    // barriers of a block, mbarriers, constants
    PIPE_TENSOR, // products of matrices
    PIPE_TMA,    // copies in bulk
    PIPE_CBU,    // branches, and what brings lanes together
    PIPES,
    // In ops.def, where the types decide: doubles go to PIPE_FP64, and
    PIPE_ARITHMETIC, // floats and halves to PIPE_FMA, all else to PIPE_ALU
    PIPE_PRODUCT,    // all else to PIPE_FMA
    PIPE_COMPARISON  // all else to PIPE_ALU
};

// Memory order as PTX's memory consistency model has it. Volatile is relaxed at system scope, and
// its accesses are all made; atomics are relaxed at the scope of the GPU unless they say otherwise;
// membar and fence.sc are ORDER_SC.
enum order {
    ORDER_WEAK,
    ORDER_VOLATILE,
    ORDER_RELAXED,
    ORDER_ACQUIRE,
    ORDER_RELEASE,
    ORDER_ACQ_REL,
    ORDER_SC
};
enum scope { SCOPE_NONE, SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };

enum combine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };

// bar.red: whether all, or any, of the threads that come bring a true predicate, or how many.
enum vote { VOTE_NONE, VOTE_ALL, VOTE_ANY, VOTE_COUNT };

// What an instruction tells an mbarrier: bits.
enum arrival {
    ARRIVES = 1,
    DROPS = 2,         // and later phases do not wait for it
    EXPECTS = 4,       // bytes
    BRINGS = 8,        // bytes
    COMPLETES_NOT = 16 // the phase must not end by it
};

enum bulk_way { WAY_NONE, TO_SHARED, FROM_SHARED, WITHIN_SHARED }; // of a copy in bulk

typedef struct IsaRow {
    const char *opcode;   // '_' for '.': for the decoder and for messages
    const char *operands; // of EXCHANGE and TABLE, as the decoder reads them
    enum shape shape;
    enum op op;
    u8 type[4];        // enum type of d, a, b, c
    u8 inputs;         // registers read: a, b, c
    u8 space;          // MEMORY
    bool store;        // MEMORY, ATOMIC, MATRIX: it writes to memory
    bool takes, keeps; // CARRY: it adds the carry, and makes one
    u64 (*atomic)(u64 a, u64 b,
                  u64 c); // ATOMIC: what memory holds afterwards, of the type's low bits
    u64 (*each)(u64 a, u64 b, u64 c); // RARE...: what a lane computes, in the types' low bits
    u8 video;                         // VIDEO: enum video
    s64 (*two)(s64 a, s64 b);         // VIDEO: what is computed from each two numbers
    u8 combine;                       // TABLE: enum combine
    u8 m, n, k;                       // MATRIX: sizes of its matrices
    bool fragments;                   // MATRIX: its operands are wmma's fragments
    bool transposed;                  // ldmatrix, stmatrix
    bool past_l1;                     // cp.async: .cg
    bool all;                         // cp.async.wait_all
    bool noinc;                       // cp.async.mbarrier.arrive.noinc
    u8 way;                           // copies in bulk: enum bulk_way
    bool read_only;                   // their wait: that sources have been read is enough
    bool aligned;                     // barriers: all lanes of a warp come to it together
    u8 vote;                          // bar.red: enum vote
    u8 order;                         // a cluster's barrier: enum order
    u8 arrival;                       // mbarriers: enum arrival
    bool parity;                      // mbarriers: it waits for the phase of a parity
    bool global;                      // fence.proxy: of global memory alone
    u16 same;                         // SAME: the row that it is another name for
} IsaRow;

extern const IsaRow isa_rows[ISA_ROWS];

enum pipe isa_pipe(const IsaRow *row);

// Bytes of a value of that type; a predicate's row is one word for all lanes.
u32 isa_type_width(enum type type);
const char *isa_type_name(enum type type);

// The row of the ALU or FLOW with that opcode, spelt with dots ("add.s32"), and, for the spellings
// of mov, that shape; `shape` is UNARY unless an operand is a {list}: then PACK or UNPACK, or those
// of four. NULL: not in the table.
const IsaRow *isa_find(const char *opcode, enum shape shape);

// The same, of an opcode as programs write it, which may be another spelling of the row's.
const IsaRow *isa_find_spelled(const char *opcode, enum shape shape);

// For an opcode that is not there: the row that begins with the same word and has the fewest other
// modifiers. NULL: none.
const IsaRow *isa_nearest(const char *opcode);
void isa_spell(const IsaRow *row, char *text, size_t size); // its opcode as PTX writes it
