// The rows of the instruction table as isa.def gives them, with the cases that the .txt files here
// have for them.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { LANES = 32, MOST_CASES = LANES, MOST_ROWS = 4096 };

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
    NONE,
    pred,
    u8,
    s8,
    u16,
    s16,
    u32,
    s32,
    u64,
    s64,
    f32,
    f64,
    u128,
    f16 = u16,
    bf16 = u16,
    f16x2 = u32,
    bf16x2 = u32
};

typedef struct {
    uint64_t in[3], out[2]; // bits
} Case;

typedef struct {
    char name[64];    // as in isa.def; "_pack" or "_unpack" added where one name has two shapes
    char opcode[64];  // as PTX writes it
    const char *same; // the row that it is another name for, or NULL
    enum shape shape;
    enum type type[4]; // d, a, b, c
    int inputs, outputs;
    Case cases[MOST_CASES];
    int count;
    double ulps, absolute; // what an approximation may be off by: either will do
    int first_line;        // of its kernel, in the file of all kernels
    bool recorded;         // the differential test has it
    bool ran, in_a_file;   // ran to its end; some .ptx has its opcode
    char failure[512];     // "": none so far
} Row;

extern Row *rows;
extern int row_count;

// Fills `rows` from isa.def, in memory that a child's writes are seen in.
void rows_make(void);

// Reads a file of cases. What is wrong with it is printed, and counted in the result.
int rows_read(const char *path);

// Only a .ptx can test it: it acts on memory or the warp's path, or its answer is an address of the
// device's own.
bool row_needs_file(const Row *row);

// Notes the first thing that is wrong with a row; later ones are dropped.
void row_fail(Row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

// values.c: bits of a type, to and from text. `nan` stands for a quiet NaN, and as an answer for
// any NaN.
int type_bits(enum type type); // of a value; 1 for a predicate
bool value_read(const char *text, enum type type, uint64_t *bits);
const char *value_text(uint64_t bits, enum type type);      // in one of a few static buffers
const char *value_immediate(uint64_t bits, enum type type); // as PTX writes it
bool value_agrees(const Row *row, uint64_t got, uint64_t due, enum type type);

// kernels.c: the PTX that runs a row's cases, and what it leaves behind.
enum variant { WHOLE, GUARDED, BRANCHED, WIDE, IMMEDIATE, VARIANTS };
enum { SLOT_WORDS = 5, RESULT_WORDS = 2 }; // a, b, c, d's and e's old values; d and e
enum { SOME_LANES = (int)0x9b36c5a1 };     // the partial mask
void kernel_write(FILE *to, const Row *row);
void kernel_header(FILE *to);
bool kernel_has(const Row *row, enum variant variant);
bool kernel_has_immediate(const Row *row, int number); // of the case of that number
int kernel_register_bits(const Row *row, enum variant variant, int operand);
