// Writes the kernel of a form: a thread for each case.
#include <string.h>

#include "forms.h"

// Registers of 8 bits are for lists, and for what is converted from bfloat16.
static int register_bits(const Form *f, enum type t)
{
    return type_bits(t) == 8 && !strchr(f->text, '{') && !strstr(f->text, ".bf16 ") ? 16
                                                                                    : type_bits(t);
}

static void load(FILE *to, const Form *f, int n)
{
    if (f->in[n] == pred)
        fprintf(to, "    ld.global.b32 %%word, [%%in+%d]; setp.ne.b32 %%a%d, %%word, 0;\n", 8 * n,
                n);
    else fprintf(to, "    ld.global.b%d %%a%d, [%%in+%d];\n", register_bits(f, f->in[n]), n, 8 * n);
}

static void declare(FILE *to, const Form *f, char name, int n, enum type t)
{
    if (t == pred) fprintf(to, "    .reg .pred %%%c%d;\n", name, n);
    else fprintf(to, "    .reg .b%d %%%c%d;\n", register_bits(f, t), name, n);
}

static void put(FILE *to, const Form *f, int n, int word)
{
    if (f->out[n] == pred)
        fprintf(to, "    selp.b32 %%word, 1, 0, %%d%d; st.global.b32 [%%out+%d], %%word;\n", n,
                8 * word);
    else
        fprintf(to, "    st.global.b%d [%%out+%d], %%d%d;\n", register_bits(f, f->out[n]), 8 * word,
                n);
}

// NVIDIA's assembler (13.0) loses the guard of testp and of set with a float's result: on an H200
// all lanes take part. Behind a guard it makes neg and abs a part of a move, which leaves a NaN as
// it is.
static bool guard_is_lost(const Form *f)
{
    return !strncmp(f->name, "testp", 5) || (!strncmp(f->text, "set.", 4) && f->out[0] == f32)
        || !strcmp(f->name, "neg.f32") || !strcmp(f->name, "abs.f32");
}

bool form_has_second(const Form *f) { return !f->memory && !f->together && !guard_is_lost(f); }

// With a predicate; or, where there are several instructions, a branch.
static void second(FILE *to, const Form *f)
{
    bool several = strchr(f->text, ';');
    fprintf(
        to,
        "    mov.u32 %%word, %%laneid; shr.u32 %%word, 0x%x, %%word; and.b32 %%word, %%word, 1;\n"
        "    setp.ne.u32 %%some, %%word, 0;\n",
        (unsigned)SOME_LANES);
    for (int n = 0; n < f->out_count; n++) {
        int bits = register_bits(f, f->out[n]);
        if (f->out[n] == pred) fprintf(to, "    setp.eq.u32 %%d%d, %%x, %%x;\n", n);
        else if (bits == 8) fprintf(to, "    cvt.u8.u32 %%d%d, %d;\n", n, OLD_VALUE);
        else fprintf(to, "    mov.b%d %%d%d, %d;\n", bits, n, OLD_VALUE);
    }
    if (several) fprintf(to, "    @!%%some bra over;\n    %s;\nover:\n", f->text);
    else fprintf(to, "    @%%some %s;\n", f->text);
    for (int n = 0; n < f->out_count; n++) put(to, f, n, MOST_OUT + n);
}

// The cell of an atomic: of the result's own second word, or of a word in shared memory.
static void cell(FILE *to, const Form *f)
{
    int bits = type_bits(f->in[0]);
    if (f->memory == 'v') {
        fprintf(to,
                "    add.u64 %%cell, %%out, 16;\n    st.global.v2.b%d [%%cell], {%%a0, %%a1};\n    "
                "%s;\n"
                "    ld.global.v2.b%d {%%d2, %%d3}, [%%cell];\n",
                bits, f->text, bits);
        return;
    }
    const char *space = f->memory == 's' ? "shared" : "global";
    if (f->memory == 's')
        fputs("    mov.u32 %word, %tid.x; mul.lo.u32 %word, %word, 8; cvt.u64.u32 %cell, %word;\n"
              "    mov.u64 %base, cells; add.u64 %cell, %cell, %base;\n",
              to);
    else fputs("    add.u64 %cell, %out, 8;\n", to);
    fprintf(to, "    st.%s.b%d [%%cell], %%a0;\n    %s;\n    ld.%s.b%d %%d1, [%%cell];\n", space,
            bits, f->text, space, bits);
}

void form_write(FILE *to, const Form *f, int number)
{
    fprintf(to,
            ".visible .entry k%d(.param .u64 p, .param .u64 q)\n{\n    .reg .pred %%some; .reg "
            ".b32 %%word, %%n, %%x;\n"
            "    .reg .b64 %%in, %%out, %%at, %%cell, %%base;\n",
            number);
    if (f->memory == 's') fputs("    .shared .align 8 .b8 cells[2048];\n", to);
    for (int n = 0; n < f->in_count; n++) declare(to, f, 'a', n, f->in[n]);
    for (int n = 0; n < f->out_count; n++) declare(to, f, 'd', n, f->out[n]);
    fprintf(to,
            "    ld.param.u64 %%in, [p]; ld.param.u64 %%out, [q];\n"
            "    mov.u32 %%n, %%ctaid.x; mov.u32 %%word, %%ntid.x; mov.u32 %%x, %%tid.x; "
            "mad.lo.u32 %%n, %%n, %%word, %%x;\n"
            "    mul.wide.u32 %%at, %%n, %d; add.u64 %%in, %%in, %%at;\n"
            "    mul.wide.u32 %%at, %%n, %d; add.u64 %%out, %%out, %%at;\n",
            8 * MOST_IN, 8 * 2 * MOST_OUT);
    for (int n = 0; n < f->in_count; n++) load(to, f, n);
    if (f->memory) cell(to, f);
    else fprintf(to, "    %s;\n", f->text);
    for (int n = 0; n < f->out_count; n++) put(to, f, n, n);
    if (form_has_second(f)) second(to, f);
    fputs("    ret;\n}\n\n", to);
}
