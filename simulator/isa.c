// Finding rows of the instruction table by what a program writes.
#include <stdlib.h>
#include <string.h>

#include "warp.h"

static const struct { const char *name; u32 width; } types[TYPES] = {
    [TYPE_pred] = { "pred", 4 }, [TYPE_u8] = { "u8", 1 }, [TYPE_s8] = { "s8", 1 },
    [TYPE_u16] = { "u16", 2 }, [TYPE_s16] = { "s16", 2 }, [TYPE_u32] = { "u32", 4 }, [TYPE_s32] = { "s32", 4 },
    [TYPE_u64] = { "u64", 8 }, [TYPE_s64] = { "s64", 8 }, [TYPE_f32] = { "f32", 4 }, [TYPE_f64] = { "f64", 8 },
    [TYPE_f16] = { "f16", 2 }, [TYPE_bf16] = { "bf16", 2 }, [TYPE_f16x2] = { "f16x2", 4 }, [TYPE_bf16x2] = { "bf16x2", 4 },
};

u32 isa_type_width(enum type type) { return types[type].width; }
const char *isa_type_name(enum type type) { return types[type].name; }

// Rows by their names, in which '.' is '_'. A bucket is a chain of rows, numbered from 1, in the table's order.
enum { BUCKETS = 4096, MOST_ROWS = 4096 };
static u16 bucket[BUCKETS], following[MOST_ROWS];

static u32 hash(const char *name)
{
    u32 h = 2166136261u;
    for (; *name; name++) h = (h ^ (u8)(*name == '.' ? '_' : *name)) * 16777619u;
    return h % BUCKETS;
}

static void fill_buckets(void)
{
    if (isa_count >= MOST_ROWS) abort();
    for (u32 i = isa_count; i > 0; i--) {
        u16 *first = &bucket[hash(isa_rows[i - 1].name)];
        following[i - 1] = *first;
        *first = i;
    }
}

// Is `opcode` the row's name, with '.' for '_'?
static bool spells(const char *opcode, const char *name)
{
    for (; *opcode && *name; opcode++, name++)
        if (*opcode != *name && !(*opcode == '.' && *name == '_')) return false;
    return *opcode == *name;
}

static bool is_list(enum shape shape) { return shape == PACK || shape == UNPACK || shape == PACK_4 || shape == UNPACK_4; }

const IsaRow *isa_find(const char *opcode, enum shape shape)
{
    if (!bucket[hash("ret")]) fill_buckets();
    for (u32 i = bucket[hash(opcode)]; i; i = following[i - 1]) {
        const IsaRow *row = &isa_rows[i - 1];
        bool fits = shape == UNARY ? !is_list(row->shape) : row->shape == shape;
        if (fits && spells(opcode, row->name)) return row;
    }
    return NULL;
}

// ---- comparisons that do more ----

void run_compare(Warp *w, const Insn *i, u32 mask)
{
    u32 *p = row_of(w, i->d), third = *(const u32 *)row_of(w, i->c) ^ i->flip;
    isa_rows[i->row].run(w, i, mask);
    u32 yes = *p, no = ~yes;
    switch (i->combine) {
    case COMBINE_AND: yes &= third, no &= third; break;
    case COMBINE_OR: yes |= third, no |= third; break;
    case COMBINE_XOR: yes ^= third, no ^= third; break;
    }
    *p = (*p & ~mask) | (yes & mask);
    if (i->predicate) {
        u32 *q = row_of(w, i->predicate);
        *q = (*q & ~mask) | (no & mask);
    }
    if (!i->as_number) return;
    u8 *number = row_of(w, i->vector[0]);
    for (u32 l = 0; l < LANES; l++) {
        u64 value = yes >> l & 1 ? (u64)i->offset : 0;
        if (mask >> l & 1) memcpy(number + l * i->register_width, &value, i->register_width);
    }
}
