// What the rooms that decode a kernel's body share: the body as far as it has been read, its
// registers and constants, and how its operands are read. decode.c walks over its statements;
// decode_instruction.c, decode_memory.c and decode_calls.c read its instructions.
#pragma once
#include "decoder.h"

// A branch to a label that has not been seen, in the scope of that depth or one around it; or
// (`to`) a list of targets'.
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
    Function *function; // that is being read; NULL: the kernel
    u32 call_room;
    bool indirect; // it calls through pointers
    u32 rows;      // bytes of the register file given away
    u32 code_room, constant_room;
    u32 location;          // of the next instruction
    const char *statement; // where the one that is being read begins
    u32 granule;
    Fixup *branches;    // whose labels have not been seen
    Declared *declared; // the latest first
    Placed *placed;
    int depth;         // of braces
    u32 dynamic_align; // of dynamic shared memory, which lies behind the static
    u32 carry;         // row of the carry; 0: nobody has used it yet
} Body;

// Bytes of a row of values of that width; a predicate (0) has one word.
static inline u32 body_row_bytes(u32 width) { return width ? align_up(width * LANES, 64) : 64; }

// ---- decode_operands.c ----

u32 body_rows(Body *b, u32 width, u32 count); // `count` new registers: the first one's row
u32 body_constant(Body *b, u32 width, u64 value,
                  u32 special); // the row of a value, or of a special register
Symbol *body_declare(Body *b, const char *name, enum symbol_kind kind, u64 value);
const Symbol *body_symbol(Body *b, const char *name); // of the function or the module; NULL: none

// A register by name: one of its own, or number N of the family before its digits. False: there is
// none.
bool body_register(Body *b, const char *name, u32 *row, u32 *width);
u32 body_special(const char *name); // "%tid.x"; SPECIAL_NONE: it is none
bool body_is_clock(u32 special);
u32 body_address(Body *b, const char *name, u32 width); // the row that holds a variable's address

// Operands, as rows. *width: the register's own, which CONVERT allows to be another; NULL: it must
// be the type's.
u32 body_source(Body *b, enum type type, u8 *width);
u32 body_destination(Body *b, enum type type, u8 *width); // '_' is one that nobody reads
u64 body_immediate(Body *b, u32 width, bool is_float);    // a number's bits

// The kernel cannot run, for "the instruction" (what) "foo.u32" (name): the first such thing is
// kept.
void body_unsupported(Body *b, const char *what, const char *name);
void body_unread(Body *b); // nor for the statement that ptx_fail() stopped at

// ---- the instructions: the text stands at their operands, and then behind them ----

void body_instruction(Body *b); // a whole statement, guard to ';'
Insn *body_insn(Body *b);       // a new one, at the end of the code
static inline void body_set_row(Insn *i, const IsaRow *row)
{
    i->row = row - isa_rows, i->op = row->op;
}
void body_skip(Body *b);                                // to the ';'
bool body_memory(Body *b, const char *opcode, Insn *i); // false: it is none of memory that is known
bool body_atomic(Body *b, const char *opcode, Insn *i); // the same
bool body_video(Body *b, const char *opcode, Insn *i);  // the same, of the video instructions
bool body_mbarrier(Body *b, const char *opcode, Insn *i); // the same, of mbarriers
bool body_bulk(Body *b, const char *opcode, Insn *i);     // the same, of copies in bulk
bool body_tensor(Body *b, const char *opcode,
                 Insn *i); // the same, of matrices and asynchronous copies
void body_address_operand(Body *b,
                          Insn *i); // [register+number] and the like: its row, offset and width
bool body_compare(Body *b, const char *opcode, Insn *i); // the same, of comparisons
void body_order(const char *opcode, Insn *i);            // a fence's order and scope
bool body_order_part(const char *part,
                     Insn *i); // of an opcode. False: it names neither order nor scope
bool body_is_shared(const char *part, Insn *i);                 // does it name shared memory?
bool body_is_one_of(const char *word, const char *const *list); // which ends with NULL

void body_find_aggregation(
    Body *b); // fills in Insn.aggregation and .parts, once all have been read

// ---- functions ----

void body_call(Body *b, Insn *i);
void body_read(Body *b);      // the statements from '{' to '}'
void body_functions(Body *b); // reads all that the kernel calls
void body_frames(Kernel *k);  // sizes its local memory
