// What is run on the simulated device and on a GPU alike: for each row of the instruction table one
// or more forms, an instruction that takes its operands from memory and puts its results there.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
    f16,
    bf16,
    f16x2,
    bf16x2,
    u128,
    TYPES
};

enum { MOST_IN = 4, MOST_OUT = 4, MOST_FORMS = 8192, MOST_WORDS = 8 };

typedef struct {
    char name[96];  // its opcode, and what tells it from others of the same row
    char text[256]; // the instruction, or a few: results %d0.., operands %a0..
    enum type in[MOST_IN], out[MOST_OUT];
    int in_count, out_count;
    bool few;         // operands are small numbers: for lanes that are to agree
    bool approximate; // outputs are kept themselves, and compared with a bound
    bool together;    // of all lanes of a warp
    char memory; // atomics: 'g' or 's', where the cell lies whose new value is the last result;
                 // 'v': two; else 0
} Form;

extern Form forms[MOST_FORMS];
extern int form_count;

void forms_make(void); // from isa.def

// kernel.c: the PTX of its kernel, k<number>. out[0..MOST_OUT) are a case's results, and
// out[MOST_OUT..2 * MOST_OUT) those of a second time, when a predicate or a branch keeps the lanes
// that are not in SOME_LANES from it, whose destinations hold OLD_VALUE. There is none where lanes
// or memory would notice.
enum { SOME_LANES = (int)0x9b36c5a1, OLD_VALUE = 0x5a };
bool form_has_second(const Form *form);
void form_write(FILE *to, const Form *form, int number);
int type_bits(enum type type);

// inputs.c: the cases of a form, always the same: case n's operands are in[n][0..].
enum { CASES = 4096, CHUNKS = 16 };
void inputs_make(const Form *form, uint64_t in[CASES][MOST_IN]);

// bounds.c: is a result of an approximate form as near to the exact one as NVIDIA's documents
// promise? *error: how far it is, in units of that promise.
bool bound_holds(const Form *form, const uint64_t in[MOST_IN], uint64_t result, double *error);
