// The instruction table as data: what isa.def's rows say, for the decoder, the tests and the book.
#pragma once
#include "program/instruction.h"

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

typedef struct IsaRow {
    const char *name; // the opcode, '_' for '.'
    const char *lane; // what a lane computes, or the operands of FLOW and EXCHANGE
    void (*run)(Warp *warp, const Insn *insn, u32 mask);
    enum shape shape;
    u8 type[4]; // enum type of d, a, b, c
    u8 inputs;  // registers read: a, b, c
    u8 space;   // MEMORY
    bool store; // MEMORY
    bool keeps; // CARRY
    u64 (*atomic)(u64 a, u64 b,
                  u64 c); // ATOMIC: what memory holds afterwards, of the type's low bits
    u64 (*each)(u64 a, u64 b, u64 c); // RARE...: what a lane computes, in the types' low bits
    u8 video;                         // VIDEO: enum video
    s64 (*two)(s64 a, s64 b);         // VIDEO: what is computed from each two numbers
    u8 m, n, k;                       // MATRIX: sizes of its matrices
    const char *same;                 // SAME: the row that it is another name for
} IsaRow;

extern const IsaRow isa_rows[];
extern const u32 isa_count;

// Bytes of a value of that type; a predicate's row is one word for all lanes.
u32 isa_type_width(enum type type);
const char *isa_type_name(enum type type);

// The row of the ALU or FLOW with that opcode, spelt with dots ("add.s32"), and, for the spellings
// of mov, that shape; `shape` is UNARY unless an operand is a {list}: then PACK or UNPACK, or those
// of four. NULL: not in the table.
const IsaRow *isa_find(const char *opcode, enum shape shape);

// For an opcode that is not there: the row that begins with the same word and has the fewest other
// modifiers. NULL: none.
const IsaRow *isa_nearest(const char *opcode);
void isa_spell(const IsaRow *row, char *text, size_t size); // its opcode as PTX writes it
