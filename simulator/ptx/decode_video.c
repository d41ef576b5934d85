// Reads video instructions: the types, saturation and second operation in the opcode, the
// parts that are picked from operands.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "body.h"
#include "isa/video.h"

// The row of an opcode: its first word, and for vset its comparison. The rest goes into the form.
// NULL: none.
static const IsaRow *read_opcode(const char *opcode, VideoForm *f)
{
    static const char *const thens[] = {
        [THEN_ADD] = "add", [THEN_MIN] = "min", [THEN_MAX] = "max"
    };
    char parts[64], name[80];
    u32 types = 0, is_signed = 0;
    snprintf(parts, sizeof parts, "%s", opcode);
    char *rest = parts, *part;
    snprintf(name, sizeof name, "%s", strsep(&rest, "."));
    bool compares = !strncmp(name, "vset", 4);
    if (compares) types = 1; // it has none for d
    while ((part = strsep(&rest, "."))) {
        u32 then = THEN_MAX;
        while (then && strcmp(part, thens[then])) then--;
        if (!strcmp(part, "u32") || !strcmp(part, "s32"))
            is_signed |= (u32)(*part == 's') << types++;
        else if (!strcmp(part, "sat")) f->saturate = true;
        else if (!strcmp(part, "wrap")) f->wrap = true;
        else if (!strcmp(part, "po")) f->plus_one = true;
        else if (!strcmp(part, "shr7")) f->shift = 7;
        else if (!strcmp(part, "shr15")) f->shift = 15;
        else if (then) f->then = then;
        else if (compares) snprintf(name + strlen(name), sizeof name - strlen(name), ".%s", part);
        else if (strcmp(part, "clamp")) return NULL;
    }
    if (compares) is_signed |= is_signed >> 1 & 1; // its min and max are of a's kind
    f->signed_d = is_signed & 1, f->signed_a = is_signed >> 1 & 1, f->signed_b = is_signed >> 2 & 1;
    const IsaRow *row = isa_find(name, UNARY);
    return types == 3 && row && row->shape == VIDEO ? row : NULL;
}

// Splits "%r1.h10" behind the register's name; the suffix without its dot, or "".
static const char *split(char *word)
{
    char *dot = strchr(word, '.');
    if (!dot) return "";
    *dot = 0;
    return dot + 1;
}

static u32 scalar_pick(Body *b, const char *suffix)
{
    static const char *const names[] = { "", "b0", "b1", "b2", "b3", "h0", "h1" };
    for (u32 n = 0; n < sizeof names / sizeof *names; n++)
        if (!strcmp(suffix, names[n])) return n;
    ptx_fail(b->p, "'.%s' names no part of a register", suffix);
}

// ".h10": the last digit is the lowest part's. Without a suffix, a's own parts, or b's.
static u32 simd_picks(Body *b, const char *suffix, u32 parts, bool second)
{
    u32 picks = 0;
    if (*suffix && strlen(suffix) != parts + 1)
        ptx_fail(b->p, "'.%s' does not pick %u parts", suffix, parts);
    for (u32 n = 0; n < parts; n++) {
        u32 pick = *suffix ? (u32)(suffix[parts - n] - '0') : n + (second ? parts : 0);
        if (pick >= 2 * parts) ptx_fail(b->p, "'.%s' picks a part that is not there", suffix);
        picks |= pick << 3 * n;
    }
    return picks;
}

// ".h0", ".b310": the parts that are written; all without a suffix.
static u32 simd_mask(const char *suffix, u32 parts)
{
    u32 mask = 0;
    for (const char *at = *suffix ? suffix + 1 : ""; *at; at++) mask |= 1u << (*at - '0') % parts;
    return mask ? mask : (1u << parts) - 1;
}

// A source with its minus and the part that is picked; numbers are whole words.
static u32 operand(Body *b, char *suffix, size_t size, bool *minus)
{
    Ptx *p = b->p;
    *suffix = 0;
    *minus = p->token == TOKEN_PUNCT && ptx_accept(p, "-");
    if (p->token != TOKEN_WORD) {
        u32 value = (u32)body_immediate(b, 4, false);
        bool negate = *minus;
        *minus = false;
        return body_constant(b, 4, negate ? 0 - value : value, SPECIAL_NONE);
    }
    char *word = ptx_word(p);
    snprintf(suffix, size, "%s", split(word));
    u32 row, width;
    if (!body_register(b, word, &row, &width) || width != 4)
        ptx_fail(p, "%s is not a 32-bit register", word);
    return row;
}

bool body_video(Body *b, const char *opcode, Insn *i)
{
    Ptx *p = b->p;
    VideoForm f = { 0 };
    if (*opcode != 'v') return false;
    const IsaRow *row = read_opcode(opcode, &f);
    if (!row) return false;
    u32 parts = row->video == VIDEO_PAIR ? 2 : row->video == VIDEO_FOUR ? 4 : 1;
    bool minus_a, minus_b, minus_c = false;
    char suffix[16];
    body_set_row(i, row);
    i->d = operand(b, suffix, sizeof suffix, &minus_a);
    f.into = parts > 1 ? simd_mask(suffix, parts) : scalar_pick(b, suffix);
    ptx_expect(p, ",");
    i->a = operand(b, suffix, sizeof suffix, &minus_a);
    f.pick_a = parts > 1 ? simd_picks(b, suffix, parts, false) : scalar_pick(b, suffix);
    ptx_expect(p, ",");
    i->b = operand(b, suffix, sizeof suffix, &minus_b);
    f.pick_b = parts > 1 ? simd_picks(b, suffix, parts, true) : scalar_pick(b, suffix);
    i->c = body_constant(b, 4, 0, SPECIAL_NONE);
    if (ptx_accept(p, ",")) i->c = operand(b, suffix, sizeof suffix, &minus_c);
    f.minus_product = minus_a != minus_b;
    f.minus_c = minus_c;
    i->offset = f.bits;
    return true;
}
