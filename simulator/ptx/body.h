// Shared by the files that decode a kernel's body: what has been read of it, its registers and
// constants, and the readers of operands. decode.c walks over the statements; decode_instruction.c,
// decode_memory.c and decode_calls.c read the instructions.
#pragma once
#include "decoder.h"

// A branch to a label that was not seen yet, in the scope of that depth or one around it; or (`to`)
// an entry of a list of targets.
typedef struct Fixup {
    u32 insn;
    u32 *to;
    const char *label;
    int depth;
    struct Fixup *next;
} Fixup;

// A name that goes out of scope at the '}' of its depth.
typedef struct Declared {
    Symbol *symbol;
    int depth;
    struct Declared *next;
} Declared;

// A shared variable of the module, in this kernel.
typedef struct Placed {
    const Symbol *variable;
    u64 offset;
    struct Placed *next;
} Placed;

typedef struct Body {
    Decoder *d;
    Ptx *p;
    Kernel *k;
    Symbols *names;     // of this function
    Function *function; // being read; NULL: the kernel
    u32 call_room;
    bool indirect; // it calls through pointers
    u32 rows;      // bytes of the register file in use
    u32 code_room, constant_room;
    u32 location;          // of the next instruction
    const char *statement; // where the current statement begins
    u32 granule;
    Fixup *branches;    // to labels that were not seen yet
    Declared *declared; // the latest first
    Placed *placed;
    int depth;         // of braces
    u32 dynamic_align; // of dynamic shared memory, which follows static shared memory
    u32 carry;         // row of the carry; 0: not used yet
} Body;

// Bytes of a register row of values of that width; a predicate (0) has one word.
static inline u32 body_row_bytes(u32 width) { return width ? align_up(width * LANES, 64) : 64; }

// ---- decode_operands.c ----

u32 body_rows(Body *b, u32 width, u32 count); // `count` new registers; the row of the first
u32 body_constant(Body *b, u32 width, u64 value,
                  u32 special); // the row of a value, or of a special register
Symbol *body_declare(Body *b, const char *name, enum symbol_kind kind, u64 value);
const Symbol *body_symbol(Body *b, const char *name); // of the function or the module; NULL: none

// A register by name: a single one, or number N of a family. False: there is none.
bool body_register(Body *b, const char *name, u32 *row, u32 *width);
u32 body_special(const char *name); // "%tid.x"; SPECIAL_NONE: no such register
bool body_is_clock(u32 special);
u32 body_address(Body *b, const char *name, u32 width); // the row with a variable's address

// Operands, as rows. *width: the register's own width, which may differ for CONVERT; NULL: it must
// be the type's.
u32 body_source(Body *b, enum type type, u8 *width);
u32 body_destination(Body *b, enum type type, u8 *width); // '_' is a register that is not read
u64 body_immediate(Body *b, u32 width, bool is_float);    // a number's bits

// The kernel cannot run because of "the instruction" (what) "foo.u32" (name). The first cause is
// kept.
void body_unsupported(Body *b, const char *what, const char *name);
void body_unread(Body *b); // nor because of the statement at which ptx_fail() stopped

// ---- the instructions: the text stands at their operands, and then behind them ----

void body_instruction(Body *b); // a whole statement, from the guard to ';'
Insn *body_insn(Body *b);       // a new one at the end of the code
static inline void body_set_row(Insn *i, const IsaRow *row)
{
    i->row = row - isa_rows, i->op = row->op;
}
void body_skip(Body *b);                                  // skips to ';'
bool body_memory(Body *b, const char *opcode, Insn *i);   // false: no known memory instruction
bool body_atomic(Body *b, const char *opcode, Insn *i);   // likewise for atomics,
bool body_video(Body *b, const char *opcode, Insn *i);    // video instructions,
bool body_mbarrier(Body *b, const char *opcode, Insn *i); // mbarriers,
bool body_bulk(Body *b, const char *opcode, Insn *i);     // copies in bulk,
bool body_tensor(Body *b, const char *opcode,
                 Insn *i); // matrices and asynchronous copies
void body_address_operand(Body *b,
                          Insn *i); // [register+number] and the like: its row, offset and width
bool body_compare(Body *b, const char *opcode, Insn *i); // likewise for comparisons
void body_order(const char *opcode, Insn *i);            // a fence's order and scope
bool body_order_part(const char *part,
                     Insn *i);                  // of an opcode. False: it has neither
bool body_is_shared(const char *part, Insn *i); // does it name shared memory?
bool body_is_one_of(const char *word, const char *const *list); // a list that ends with NULL

void body_find_aggregation(
    Body *b); // fills in Insn.aggregation and .may_diverge, once all instructions were read

// ---- functions ----

void body_call(Body *b, Insn *i);
void body_read(Body *b);      // the statements from '{' to '}'
void body_functions(Body *b); // reads every function that the kernel calls
void body_frames(Kernel *k);  // sizes its local memory
