// Makes the forms from isa.def. Memory, barriers and branches have none: their tests are
// ../isa/*.ptx.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "forms.h"

Form forms[MOST_FORMS];
int form_count;

int type_bits(enum type type)
{
    static const int bits[TYPES] = {
        [pred] = 32, [u8] = 8,     [s8] = 8,      [u16] = 16,  [s16] = 16, [u32] = 32,
        [s32] = 32,  [u64] = 64,   [s64] = 64,    [f32] = 32,  [f64] = 64, [f16] = 16,
        [bf16] = 16, [f16x2] = 32, [bf16x2] = 32, [u128] = 128
    };
    return bits[type];
}

// ---- names ----

static const char *opcode_of(const char *name)
{
    static char text[64];
    snprintf(text, sizeof text, "%s", name);
    for (char *at = text; *at; at++)
        if (*at == '_') *at = '.';
    return text;
}

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static Form *add(const char *name, const char *variant)
{
    if (form_count == MOST_FORMS) abort();
    Form *f = &forms[form_count++];
    *f = (Form){ .approximate = strstr(name, "approx") || strstr(name, "full") };
    snprintf(f->name, sizeof f->name, "%s%s%s", opcode_of(name), *variant ? " " : "", variant);
    return f;
}

static void types(Form *f, int out_count, const enum type *out, int in_count, const enum type *in)
{
    f->out_count = out_count, f->in_count = in_count;
    memcpy(f->out, out, (size_t)out_count * sizeof *out);
    memcpy(f->in, in, (size_t)in_count * sizeof *in);
}
#define TYPES_OF(f, outs, ...)                                                                     \
    types(f, (int)(sizeof(enum type[]) outs / sizeof(enum type)), (enum type[])outs,               \
          (int)(sizeof(enum type[]) __VA_ARGS__ / sizeof(enum type)), (enum type[])__VA_ARGS__)
#define OUT(...)                                                                                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void text(Form *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void text(Form *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
}

// ---- rows ----

// Addresses of the device's own, matrices and 16-byte values are the .ptx files' business.
static bool left_out(const char *name)
{
    static const char *const beginnings[] = { "cvta_",       "isspacep_", "mapa_",
                                              "getctarank_", "ldmatrix_", "stmatrix_" };
    for (size_t n = 0; n < sizeof beginnings / sizeof *beginnings; n++)
        if (starts(name, beginnings[n])) return true;
    return strstr(name, "b128");
}

static void plain(const char *name, enum type d, enum type a, enum type b, enum type c)
{
    if (left_out(name)) return;
    Form *f = add(name, "");
    int count = (a != NONE) + (b != NONE) + (c != NONE);
    types(f, 1, &d, count, (enum type[]){ a, b, c });
    text(f, "%s %%d0, %%a0%s%s", opcode_of(name), count > 1 ? ", %a1" : "",
         count > 2 ? ", %a2" : "");
}

// "setp_lt_ftz_f32" with .and in front of what follows the comparison, or as set with a type:
// "set.lt.ftz.u32.f32".
static void compare_opcode(char *to, size_t size, const char *name, const char *combine,
                           const char *number)
{
    char copy[96], *rest = copy, *parts[8];
    int count = 0;
    snprintf(copy, sizeof copy, "%s", name);
    while (rest && count < 8) parts[count++] = strsep(&rest, "_");
    snprintf(to, size, "%s.%s%s%s", *number ? "set" : parts[0], parts[1], *combine ? "." : "",
             combine);
    for (int n = 2; n < count; n++) {
        if (n == count - 1 && *number) snprintf(to + strlen(to), size - strlen(to), ".%s", number);
        snprintf(to + strlen(to), size - strlen(to), ".%s", parts[n]);
    }
}

static bool is_half(enum type t) { return t == f16 || t == bf16 || t == f16x2 || t == bf16x2; }

static void set_form(const char *name, enum type a, const char *number, enum type d)
{
    char opcode[96];
    compare_opcode(opcode, sizeof opcode, name, "", number);
    Form *f = add(name, number);
    types(f, 1, &d, 2, (enum type[]){ a, a });
    text(f, "%s %%d0, %%a0, %%a1", opcode);
}

// The comparison alone, with a third operand and the contrary, and as set: the operation goes by
// the row's number.
static void compare(const char *name, enum type a, bool halves)
{
    static const char *const combines[] = { "and", "or", "xor" };
    static int turn;
    char opcode[96];
    const char *combine = combines[++turn % 3];
    Form *f = add(name, "");
    if (halves) TYPES_OF(f, OUT(pred, pred), { a, a });
    else TYPES_OF(f, OUT(pred), { a, a });
    text(f, "%s %%d0%s, %%a0, %%a1", opcode_of(name), halves ? "|%d1" : "");
    f = add(name, combine);
    bool one = is_half(a) && !halves; // there is no q
    if (one) TYPES_OF(f, OUT(pred), { a, a, pred });
    else TYPES_OF(f, OUT(pred, pred), { a, a, pred });
    compare_opcode(opcode, sizeof opcode, name, combine, "");
    text(f, "%s %%d0%s, %%a0, %%a1, %s%%a2", opcode, one ? "" : "|%d1", turn % 2 ? "!" : "");
    if (halves) set_form(name, a, a == f16x2 ? "f16x2" : "bf16x2", a);
    else if (turn % 2 || is_half(a)) set_form(name, a, "u32", u32);
    else set_form(name, a, "f32", f32);
}

static void logic(const char *name, int inputs)
{
    Form *f = add(name, "");
    if (inputs > 1) TYPES_OF(f, OUT(pred), { pred, pred });
    else TYPES_OF(f, OUT(pred), { pred });
    text(f, "%s %%d0, %%a0%s", opcode_of(name), inputs > 1 ? ", %a1" : "");
}

static void insert(const char *name, enum type t)
{
    Form *f = add(name, "");
    TYPES_OF(f, OUT(t), { t, t, u32, u32 });
    text(f, "%s %%d0, %%a0, %%a1, %%a2, %%a3", opcode_of(name));
}

static void lists(const char *name, enum type d, enum type a, int packed, int unpacked)
{
    if (left_out(name)) return;
    Form *f = add(name, packed          ? packed == 2 ? "pack" : "pack 4"
                        : unpacked == 2 ? "unpack"
                                        : "unpack 4");
    f->in_count = packed ? packed : 1, f->out_count = unpacked ? unpacked : 1;
    for (int n = 0; n < 4; n++) f->in[n] = a, f->out[n] = d;
    const char *two = "{%%%1$c0, %%%1$c1}", *four = "{%%%1$c0, %%%1$c1, %%%1$c2, %%%1$c3}";
    char list[64];
    snprintf(list, sizeof list, packed == 2 || unpacked == 2 ? two : four, packed ? 'a' : 'd');
    text(f, "%s %s, %s", opcode_of(name), packed ? "%d0" : list, packed ? list : "%a0");
}

// The carry comes from the last operand's low bit and is looked at behind the instruction.
static void carry(const char *name, enum type t, int inputs)
{
    Form *f = add(name, "");
    bool minus = starts(name, "sub");
    f->in_count = inputs + 1;
    for (int n = 0; n < inputs; n++) f->in[n] = t;
    f->in[inputs] = u32;
    f->out_count = 2, f->out[0] = t, f->out[1] = u32;
    char flag[128];
    snprintf(flag, sizeof flag, "and.b32 %%word, %%a%d, 1; add.cc.u32 %%word, %%word, 0xffffffff",
             inputs);
    text(f, "%s; %s %%d0, %%a0, %%a1%s; %s.u32 %%d1, 10, 0", flag, opcode_of(name),
         inputs > 2 ? ", %a2" : "", minus ? "subc" : "addc");
}

static void table(const char *name)
{
    static const int tables[] = { 0x96, 0xe8, 0xca, 0x01, 0x80, 0x3c, 0x5d, 0xf0 };
    for (unsigned n = 0; n < sizeof tables / sizeof *tables; n++) {
        char variant[16];
        snprintf(variant, sizeof variant, "0x%02x", tables[n]);
        Form *f = add(name, variant);
        bool predicate = strcmp(name, "lop3_b32");
        if (predicate) TYPES_OF(f, OUT(u32, pred), { u32, u32, u32, pred });
        else TYPES_OF(f, OUT(u32), { u32, u32, u32 });
        text(f, "%s %%d0%s, %%a0, %%a1, %%a2, %s%s", opcode_of(name), predicate ? "|%d1" : "",
             variant, predicate ? ", %a3" : "");
    }
}

// ---- video: every type, with and without saturation, each of the parts and second operations ----

static const char *const signs[] = { "u32", "s32" };

static void video_form(const char *name, const char *suffix, const char *operands)
{
    char variant[64], opcode[64];
    char *compares = strchr(name, '_');
    snprintf(opcode, sizeof opcode, "%.*s", (int)(compares ? compares - name : (long)strlen(name)),
             name);
    snprintf(variant, sizeof variant, "%s%s", suffix, operands);
    Form *f = add(opcode, "");
    snprintf(f->name, sizeof f->name, "%s%s %s", opcode, suffix, operands);
    TYPES_OF(f, OUT(u32), { u32, u32, u32 });
    text(f, "%s%s %s", opcode, suffix, operands);
}

static void video_suffix(char *to, size_t size, const char *name, int bits, const char *tail)
{
    const char *compares = strchr(name, '_');
    if (compares)
        snprintf(to, size, ".%s.%s.%s%s", signs[bits & 1], signs[bits >> 1 & 1], compares + 1,
                 tail);
    else
        snprintf(to, size, ".%s.%s.%s%s", signs[bits >> 2 & 1], signs[bits & 1],
                 signs[bits >> 1 & 1], tail);
}

static void video_simd(const char *name, int parts)
{
    static const char *const pair[] = { "%d0, %a0, %a1, %a2", "%d0.h1, %a0.h03, %a1.h12, %a2",
                                        "%d0.h0, %a0.h11, %a1, %a2" };
    static const char *const four[] = { "%d0, %a0, %a1, %a2", "%d0.b20, %a0.b7351, %a1.b0246, %a2",
                                        "%d0.b3, %a0.b3333, %a1, %a2" };
    static const char *const tails[] = { "", ".sat", ".add" };
    bool compares = strchr(name, '_');
    for (int bits = 0; bits < (compares ? 4 : 8); bits++) {
        for (int tail = 0; tail < 3; tail++) {
            char suffix[64];
            if (compares && tail == 1) continue;
            video_suffix(suffix, sizeof suffix, name, bits, tails[tail]);
            video_form(name, suffix, (parts == 2 ? pair : four)[(bits + tail) % 3]);
        }
    }
}

static void video_scalar(const char *name, bool shifts, bool multiplies)
{
    static const char *const operands[] = { "%d0, %a0, %a1", "%d0, %a0.b3, %a1.h1",
                                            "%d0, %a0.h0, %a1.b2" };
    static const char *const merged[] = { "%d0.h1, %a0, %a1.b1, %a2", "%d0.b2, %a0.h1, %a1, %a2",
                                          "%d0.h0, %a0.b0, %a1.h0, %a2" };
    static const char *const thens[] = { ".add", ".min", ".max" };
    static const char *const products[] = { "%d0, %a0, %a1, %a2", "%d0, -%a0.h1, %a1.b2, %a2",
                                            "%d0, %a0, %a1, -%a2" };
    static const char *const scales[] = { "", ".shr7", ".shr15" };
    bool compares = strchr(name, '_');
    for (int bits = 0; bits < (compares ? 4 : 8); bits++) {
        for (int way = 0; way < 4; way++) {
            char suffix[64], tail[32];
            if (shifts && bits & 2) continue; // the second operand is always u32
            const char *sat = way & 1 && !compares ? ".sat" : "",
                       *mode = shifts ? bits & 1 ? ".clamp" : ".wrap" : "";
            snprintf(tail, sizeof tail, "%s%s", sat, multiplies ? scales[(bits + way) % 3] : mode);
            video_suffix(suffix, sizeof suffix, name, bits, tail);
            if (multiplies) {
                video_form(name, suffix, products[way % 3]);
                continue;
            }
            if (way < 2) video_form(name, suffix, operands[(bits + way) % 3]);
            else if (way == 2) video_form(name, suffix, merged[bits % 3]);
            else strcat(suffix, thens[bits % 3]), video_form(name, suffix, "%d0, %a0, %a1.h0, %a2");
        }
    }
    if (!multiplies) return;
    for (int bits = 0; bits < 4; bits++) {
        char suffix[64];
        video_suffix(suffix, sizeof suffix, name, bits, bits & 1 ? ".po.sat" : ".po.shr7");
        video_form(name, suffix, "%d0, %a0.b1, %a1, %a2");
    }
}

// ---- lanes together: all 32 of a warp ----

static void exchange(const char *name, enum type d, enum type a)
{
    Form *f = add(name, "");
    const char *opcode = opcode_of(name);
    f->together = true;
    f->few = starts(name, "match");
    if (starts(name, "shfl")) {
        TYPES_OF(f, OUT(d, pred), { a, u32, u32 });
        text(f, "%s %%d0|%%d1, %%a0, %%a1, %%a2, -1", opcode);
    } else if (starts(name, "match_all")) {
        TYPES_OF(f, OUT(d, pred), { a });
        text(f, "%s %%d0|%%d1, %%a0, -1", opcode);
    } else if (starts(name, "elect")) {
        TYPES_OF(f, OUT(d, pred), { u32 });
        text(f, "%s %%d0|%%d1, -1", opcode);
    } else if (starts(name, "activemask") || starts(name, "bar_")) {
        form_count--;
    } else {
        TYPES_OF(f, OUT(d), { a });
        text(f, "%s %%d0, %%a0, -1", opcode);
    }
}

// Two cells side by side, a0 and a1, and an atomic of vectors on both.
static void atomic_vector(const char *name, enum type t)
{
    Form *f = add(name, "v2");
    char opcode[96];
    snprintf(opcode, sizeof opcode, "%s", opcode_of(name));
    *strrchr(opcode, '.') = 0;
    f->memory = 'v';
    TYPES_OF(f, OUT(t, t, t, t), { t, t, t, t });
    text(f, "atom.global%s.v2%s {%%d0, %%d1}, [%%cell], {%%a2, %%a3}", opcode + 4,
         strrchr(opcode_of(name), '.'));
}

// Each lane has a cell of its own, a0, and gives what it held before and what it holds then.
static void atomic(const char *name, enum type t)
{
    bool adds = starts(name, "atom_add_");
    if (left_out(name)) return;
    if (strstr(name, "noftz") || (adds && t == f32)) atomic_vector(name, t);
    if (strstr(name, "noftz") && !adds) return; // there is no such of one number
    for (const char *where = t == u16 || t == f16 || t == bf16 ? "g" : "gs"; *where; where++) {
        Form *f = add(name, *where == 'g' ? "global" : "shared");
        char opcode[80];
        bool three = strstr(name, "_cas_");
        snprintf(opcode, sizeof opcode, "atom.%s%s", *where == 'g' ? "global" : "shared",
                 opcode_of(name) + 4);
        f->memory = *where;
        f->few = three;
        if (three) TYPES_OF(f, OUT(t, t), { t, t, t });
        else TYPES_OF(f, OUT(t, t), { t, t });
        text(f, "%s %%d0, [%%cell], %%a1%s", opcode, three ? ", %a2" : "");
    }
}

// ---- another name for a row: the same types ----

static const char *find_same(const char *name, const char *const (*pairs)[2], int count)
{
    for (int n = 0; n < count; n++)
        if (!strcmp(pairs[n][0], name)) return find_same(pairs[n][1], pairs, count);
    return name;
}

static void same(const char *name, const char *as)
{
    if (left_out(name)) return;
    char wanted[96];
    snprintf(wanted, sizeof wanted, "%s", opcode_of(as));
    for (int n = 0; n < form_count; n++) {
        if (strcmp(forms[n].name, wanted)) continue;
        Form *f = add(name, "");
        char kept[96];
        memcpy(kept, f->name, sizeof kept);
        *f = forms[n];
        memcpy(f->name, kept, sizeof kept);
        snprintf(f->text, sizeof f->text, "%s%s", opcode_of(name), strchr(forms[n].text, ' '));
        return;
    }
    fprintf(stderr, "%s: there is no form of %s\n", name, as);
    exit(2);
}

void forms_make(void)
{
    static const char *const pairs[][2] = {
#define SAME(n, as) { #n, #as },
#include "../../isa/isa.def"
    };
    enum { VIDEO_SCALAR, VIDEO_SHIFT, VIDEO_MULTIPLY, VIDEO_PAIR, VIDEO_FOUR };
    const enum type none = NONE;
#define UNARY(n, op, D, A, lane) plain(#n, D, A, NONE, NONE);
#define BINARY(n, op, D, A, B, lane) plain(#n, D, A, B, NONE);
#define TERNARY(n, op, D, A, B, C, lane) plain(#n, D, A, B, C);
#define CONVERT(n, D, A, lane) plain(#n, D, A, NONE, NONE);
#define COMPARE(n, A, B, lane) compare(#n, A, false);
#define COMPARE_2(n, T, holds, of) compare(#n, T, true);
#define TEST(n, op, A, lane) plain(#n, pred, A, NONE, NONE);
#define SELECT(n, D) plain(#n, D, D, D, pred);
#define LOGIC(n, op, inputs, warp) logic(#n, inputs);
#define INSERT(n, T) insert(#n, T);
#define PACK(n, D, A) lists(#n, D, A, 2, 0);
#define UNPACK(n, D, A) lists(#n, D, A, 0, 2);
#define PACK_4(n, D, A) lists(#n, D, A, 4, 0);
#define UNPACK_4(n, D, A) lists(#n, D, A, 0, 4);
#define CARRY(n, op, T, inputs, takes, keeps, lane) carry(#n, T, inputs);
#define TABLE(n, ...) table(#n);
#define VIDEO(n, kind, lane)                                                                       \
    if (kind >= VIDEO_PAIR) video_simd(#n, kind == VIDEO_PAIR ? 2 : 4);                            \
    else video_scalar(#n, kind == VIDEO_SHIFT, kind == VIDEO_MULTIPLY);
#define EXCHANGE(n, op, D, A, operands) exchange(#n, D, A);
#define ATOMIC(n, op, T, lane) atomic(#n, T);
#include "../../isa/isa.def"
    int count = sizeof pairs / sizeof *pairs;
    for (int n = 0; n < count; n++) same(pairs[n][0], find_same(pairs[n][0], pairs, count));
}
