// Properties of rows that follow from others, and finding rows by what a program writes.
#define _GNU_SOURCE
#include "isa.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    u32 width;
} types[TYPES] = {
    [TYPE_pred] = { "pred", 4 },  [TYPE_u8] = { "u8", 1 },       [TYPE_s8] = { "s8", 1 },
    [TYPE_u16] = { "u16", 2 },    [TYPE_s16] = { "s16", 2 },     [TYPE_u32] = { "u32", 4 },
    [TYPE_s32] = { "s32", 4 },    [TYPE_u64] = { "u64", 8 },     [TYPE_s64] = { "s64", 8 },
    [TYPE_f32] = { "f32", 4 },    [TYPE_f64] = { "f64", 8 },     [TYPE_f16] = { "f16", 2 },
    [TYPE_bf16] = { "bf16", 2 },  [TYPE_f16x2] = { "f16x2", 4 }, [TYPE_bf16x2] = { "bf16x2", 4 },
    [TYPE_u128] = { "b128", 16 }, [TYPE_tf32] = { "tf32", 4 },   [TYPE_e4m3] = { "e4m3", 1 },
    [TYPE_e5m2] = { "e5m2", 1 },  [TYPE_s4] = { "s4", 1 },       [TYPE_u4] = { "u4", 1 },
};

u32 isa_type_width(enum type type) { return types[type].width; }
const char *isa_type_name(enum type type) { return types[type].name; }

// ---- pipes ----

static bool is_floating(enum type t)
{
    return t == TYPE_f32 || t == TYPE_f64 || (t >= TYPE_f16 && t <= TYPE_bf16x2);
}

// Between integers a conversion is a choice of bytes; to, from and among floats it takes the XU,
// halves aside.
static enum pipe conversion(const IsaRow *row)
{
    bool from = is_floating(row->type[1]), to = is_floating(row->type[0]);
    if (!from && !to) return PIPE_ALU;
    return from && to && row->type[0] != TYPE_f64 && row->type[1] != TYPE_f64 ? PIPE_ALU : PIPE_XU;
}

enum pipe isa_pipe(const IsaRow *row)
{
    static const u8 pipes[ISA_OPS] = {
#define OP(name, pipe) [ISA_##name] = PIPE_##pipe,
#define DECODED(name)
#include "ops.def"
    };
    enum type type = row->type[0] == TYPE_pred ? row->type[1] : row->type[0];
    enum pipe pipe = pipes[row->op];
    if (row->shape == CONVERT) return conversion(row);
    if (pipe < PIPES) return pipe;
    if (type == TYPE_f64) return PIPE_FP64;
    return pipe == PIPE_PRODUCT || (pipe == PIPE_ARITHMETIC && is_floating(type)) ? PIPE_FMA
                                                                                  : PIPE_ALU;
}

// ---- rows by their names ----

// Rows by their names, in which '.' and ':' are '_'. A bucket is a chain of rows, numbered from 1,
// in the table's order.
enum { BUCKETS = 4096 };
static u16 bucket[BUCKETS], following[ISA_ROWS];

static u32 hash(const char *name)
{
    u32 h = 2166136261u;
    for (; *name; name++) h = (h ^ (u8)(*name == '.' || *name == ':' ? '_' : *name)) * 16777619u;
    return h % BUCKETS;
}

static void fill_buckets(void)
{
    for (u32 i = ISA_ROWS; i > 0; i--) {
        u16 *first = &bucket[hash(isa_rows[i - 1].opcode)];
        following[i - 1] = *first;
        *first = i;
    }
}

// Is `opcode` the row's name, with '.' (or ':') for '_'?
static bool spells(const char *opcode, const char *name)
{
    for (; *opcode && *name; opcode++, name++)
        if (*opcode != *name && !((*opcode == '.' || *opcode == ':') && *name == '_')) return false;
    return *opcode == *name;
}

static bool is_list(enum shape shape)
{
    return shape == PACK || shape == UNPACK || shape == PACK_4 || shape == UNPACK_4;
}

static const IsaRow *meant(const IsaRow *row)
{
    while (row->shape == SAME) row = &isa_rows[row->same];
    return row;
}

const IsaRow *isa_find(const char *opcode, enum shape shape)
{
    if (!bucket[hash("ret")]) fill_buckets();
    for (u32 i = bucket[hash(opcode)]; i; i = following[i - 1]) {
        const IsaRow *row = &isa_rows[i - 1];
        bool fits = shape == UNARY ? !is_list(row->shape) : row->shape == shape;
        if (fits && spells(opcode, row->opcode)) return meant(row);
    }
    return NULL;
}

// ---- what comes nearest ----

// Splits an opcode, or a row's name, at its dots, colons and underscores.
static u32 split(char *text, char *parts[], u32 room)
{
    u32 count = 0;
    for (char *part; count < room && (part = strsep(&text, ".:_"));)
        if (*part) parts[count++] = part;
    return count;
}

static bool has_part(char *const parts[], u32 count, const char *part)
{
    while (count)
        if (!strcmp(parts[--count], part)) return true;
    return false;
}

// Parts that one has and the other lacks; ~0u: they begin with different words.
static u32 distance(const char *opcode, const char *name)
{
    enum { MOST_PARTS = 24 };
    char one[128], other[128], *a[MOST_PARTS], *b[MOST_PARTS];
    snprintf(one, sizeof one, "%s", opcode);
    snprintf(other, sizeof other, "%s", name);
    u32 a_count = split(one, a, MOST_PARTS), b_count = split(other, b, MOST_PARTS), missing = 0;
    if (!a_count || !b_count || strcmp(a[0], b[0])) return ~0u;
    for (u32 n = 1; n < a_count; n++) missing += !has_part(b, b_count, a[n]);
    for (u32 n = 1; n < b_count; n++) missing += !has_part(a, a_count, b[n]);
    return missing;
}

const IsaRow *isa_nearest(const char *opcode)
{
    const IsaRow *nearest = NULL;
    u32 least = ~0u;
    for (u32 n = 0; n < ISA_ROWS; n++) {
        u32 far = distance(opcode, isa_rows[n].opcode);
        if (far < least) least = far, nearest = &isa_rows[n];
    }
    return nearest;
}

void isa_spell(const IsaRow *row, char *text, size_t size)
{
    static const char *const words[] = { "acq_rel",           "evict_last",   "evict_normal",
                                         "launch_dependents", "commit_group", "wait_group",
                                         "wait_all",          "arrive_drop",  "expect_tx",
                                         "complete_tx",       "test_wait",    "try_wait",
                                         "pending_count",     "mbarrier_init" };
    snprintf(text, size, "%s", row->opcode);
    for (char *at = text; *at; at++) {
        size_t own = 0; // letters of a word that has a '_' of its own
        for (u32 n = 0; n < sizeof words / sizeof *words; n++)
            if (at > text && !strncmp(at, words[n], strlen(words[n]))) own = strlen(words[n]);
        if (own) at += own - 1;
        else if (at[0] == '_' && at[1] == '_') at[0] = at[1] = ':', at++;
        else if (*at == '_') *at = '.';
    }
}
