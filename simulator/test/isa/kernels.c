// Writes a row's kernel. Each lane takes the operands of one case from memory, and runs the
// instruction
//
//     WHOLE       in all lanes
//     GUARDED     in some lanes, behind a predicate; the others keep the destination's old value
//     BRANCHED    in some lanes, the others having branched around it
//     WIDE        (CONVERT, integers) from and to registers of 64 bits
//     IMMEDIATE   with operands written into the instruction, case by case
//
// in[lane][SLOT_WORDS] -> out[variant][lane][RESULT_WORDS], words of 64 bits.
#include <stdlib.h>
#include <string.h>

#include "rows.h"

static const char operand_name[] = "dabc";

void kernel_header(FILE *to) { fputs(".version 8.0\n.target sm_90\n.address_size 64\n\n", to); }

static bool is_float(enum type type) { return type == f32 || type == f64; }

bool kernel_has(const Row *row, enum variant variant)
{
    switch (variant) {
    case WIDE:
        return row->shape == CONVERT && !strstr(row->name, "f16") && !strstr(row->name, "tf32")
            && !(is_float(row->type[0]) && is_float(row->type[1]));
    case IMMEDIATE:
        return !strstr(row->name, "f16") && !strstr(row->name, "x2") && row->shape != LOGIC
            && row->shape != UNPACK && row->shape != TEST;
    case GUARDED:
        return row->shape
            != TEST; // ptxas 13.0 leaves testp's guard out, with any -O: an H200 sets all lanes
    default: return true;
    }
}

// bfe's bit number and count have only 8 bits where they are written into it.
bool kernel_has_immediate(const Row *row, int number)
{
    const Case *c = &row->cases[number];
    return kernel_has(row, IMMEDIATE)
        && (strncmp(row->name, "bfe_", 4) || (c->in[1] < 256 && c->in[2] < 256));
}

// There are registers of 8 bits for lists alone, and for what is converted from bfloat16.
int kernel_register_bits(const Row *row, enum variant variant, int operand)
{
    enum type type = row->type[operand];
    if (variant == WIDE && !is_float(type)) return 64;
    return type_bits(type) == 8 && !strstr(row->name, "bf16") ? 16 : type_bits(type);
}

static void declare(FILE *to, const Row *row, int operand, char name)
{
    int bits = kernel_register_bits(row, WHOLE, operand);
    if (row->type[operand] == pred) fprintf(to, "    .reg .pred %%%c;\n", name);
    else fprintf(to, "    .reg .b%d %%%c;\n", bits, name);
    fprintf(to, "    .reg .b64 %%wide_%c;\n", name);
}

static const char *register_name(const Row *row, enum variant variant, int operand, char name)
{
    static char text[4][16];
    static unsigned next;
    bool wide = variant == WIDE && !is_float(row->type[operand]);
    char *to = text[next++ % 4];
    snprintf(to, sizeof *text, "%%%s%c", wide ? "wide_" : "", name);
    return to;
}

// Loads a register from word `word` of the slot that %`base` points to, `offset` bytes on.
static void load(FILE *to, const Row *row, enum variant variant, int operand, char name,
                 const char *base, int offset)
{
    if (row->type[operand] == pred) {
        fprintf(to, "    ld.global.b32 %%word, [%%%s+%d];\n    setp.ne.b32 %%%c, %%word, 0;\n",
                base, offset, name);
        return;
    }
    fprintf(to, "    ld.global.b%d %s, [%%%s+%d];\n", kernel_register_bits(row, variant, operand),
            register_name(row, variant, operand, name), base, offset);
}

static void load_old(FILE *to, const Row *row, enum variant variant)
{
    load(to, row, variant, 0, 'd', "slot", 24);
    if (row->outputs > 1) load(to, row, variant, 0, 'e', "slot", 32);
}

static void store_one(FILE *to, const Row *row, enum variant variant, char name, int offset)
{
    const char *guard = variant == IMMEDIATE ? "@%mine " : "";
    offset += variant * LANES * RESULT_WORDS * 8;
    if (row->type[0] == pred)
        fprintf(to,
                "    selp.b32 %%word, 1, 0, %%%c;\n    %sst.global.b32 [%%result+%d], %%word;\n",
                name, guard, offset);
    else
        fprintf(to, "    %sst.global.b%d [%%result+%d], %s;\n", guard,
                kernel_register_bits(row, variant, 0), offset,
                register_name(row, variant, 0, name));
}

static void store(FILE *to, const Row *row, enum variant variant)
{
    store_one(to, row, variant, 'd', 0);
    if (row->outputs > 1) store_one(to, row, variant, 'e', 8);
}

// slct picks by its third operand. Where that is a number, ptxas 13.0 with -O1 and more takes a for
// -2147483648 and b for 2147483647; with -O0, and from a register (also on an H200), it is the
// other way round, as PTX has it.
static bool row_selects(const Row *row) { return !strncmp(row->name, "slct_", 5); }

// The instruction. `immediate`: the case whose last operands are written as numbers, or NULL.
static void instruction(FILE *to, const Row *row, enum variant variant, const char *guard,
                        const Case *immediate)
{
    fprintf(to, "    %s%s ", guard, row->opcode);
    fprintf(to, row->shape == UNPACK ? "{%%d, %%e}" : "%s", register_name(row, variant, 0, 'd'));
    for (int n = 1; n <= row->inputs; n++) {
        bool written = immediate && (n > 1 || row->inputs == 1) && row->type[n] != pred
                    && !(n == 3 && row_selects(row));
        fprintf(to, row->shape == PACK && n == 1 ? ", {" : ", ");
        fputs(written ? value_immediate(immediate->in[n - 1], row->type[n])
                      : register_name(row, variant, n, operand_name[n]),
              to);
    }
    fprintf(to, row->shape == PACK ? "};\n" : ";\n");
}

static void begin(FILE *to, const Row *row)
{
    fprintf(to, ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n", row->name);
    fputs("    .reg .pred %some, %mine;\n    .reg .b32 %lane, %word;\n    .reg .b64 %first, %slot, "
          "%result, %at;\n",
          to);
    for (int n = 0; n <= row->inputs; n++) declare(to, row, n, operand_name[n]);
    if (row->outputs > 1) declare(to, row, 0, 'e');
    fprintf(to,
            "    ld.param.u64 %%first, [in];\n    ld.param.u64 %%result, [out];\n    mov.u32 "
            "%%lane, %%tid.x;\n"
            "    mul.wide.u32 %%at, %%lane, %d;\n    add.u64 %%slot, %%first, %%at;\n"
            "    mul.wide.u32 %%at, %%lane, %d;\n    add.u64 %%result, %%result, %%at;\n"
            "    mov.u32 %%word, 0x%x;\n    shr.u32 %%word, %%word, %%lane;\n    and.b32 %%word, "
            "%%word, 1;\n"
            "    setp.ne.b32 %%some, %%word, 0;\n",
            SLOT_WORDS * 8, RESULT_WORDS * 8, (unsigned)SOME_LANES);
    for (int n = 1; n <= row->inputs; n++)
        load(to, row, WHOLE, n, operand_name[n], "slot", 8 * (n - 1));
}

static void plain_variants(FILE *to, const Row *row)
{
    load_old(to, row, WHOLE);
    instruction(to, row, WHOLE, "", NULL);
    store(to, row, WHOLE);
    if (kernel_has(row, GUARDED)) {
        load_old(to, row, GUARDED);
        instruction(to, row, GUARDED, "@%some ", NULL);
        store(to, row, GUARDED);
    }
    load_old(to, row, BRANCHED);
    fputs("    @!%some bra around;\n", to);
    instruction(to, row, BRANCHED, "", NULL);
    fputs("around:\n", to);
    store(to, row, BRANCHED);
}

static void wide_variant(FILE *to, const Row *row)
{
    load(to, row, WIDE, 1, 'a', "slot", 0);
    instruction(to, row, WIDE, "", NULL);
    store(to, row, WIDE);
}

// All lanes compute the case; its own lane stores.
static void immediate_case(FILE *to, const Row *row, int number)
{
    int slot = number * SLOT_WORDS * 8;
    load(to, row, IMMEDIATE, 1, 'a', "first", slot);
    if (row->shape == SELECT || row_selects(row))
        load(to, row, IMMEDIATE, 3, 'c', "first", slot + 16);
    instruction(to, row, IMMEDIATE, "", &row->cases[number]);
    fprintf(to, "    setp.eq.u32 %%mine, %%lane, %d;\n", number);
    store(to, row, IMMEDIATE);
}

void kernel_write(FILE *to, const Row *row)
{
    begin(to, row);
    plain_variants(to, row);
    if (kernel_has(row, WIDE)) wide_variant(to, row);
    for (int n = 0; n < row->count; n++)
        if (kernel_has_immediate(row, n)) immediate_case(to, row, n);
    fputs("    ret;\n}\n\n", to);
}
