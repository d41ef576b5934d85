// Guesses how many registers ptxas would give a kernel, where no native image tells: as many as are
// alive at once in the PTX. A register is alive from its first to its last mention, and through a
// loop that it is carried around.
#include <stdlib.h>

#include "registers.h"
#include "program/constant.h"
#include "program/instruction.h"

typedef struct Life {
    u32 row, first, last;
} Life;

enum { MENTIONS = 11, PREDICATE_BYTES = 64, PAIR_BYTES = 256 };

static u32 mentions(const Insn *i, u32 rows[MENTIONS])
{
    const u32 all[MENTIONS] = { i->guard,     i->d,         i->a,        i->b,
                                i->c,         i->predicate, i->members,  i->vector[0],
                                i->vector[1], i->vector[2], i->vector[3] };
    u32 count = 0;
    for (u32 n = 0; n < MENTIONS; n++)
        if (all[n]) rows[count++] = all[n];
    return count;
}

// For each row of the register file: where it is first and last mentioned.
static void find_lives(const Kernel *k, Life *lives)
{
    u32 rows[MENTIONS];
    for (u32 pc = 0; pc < k->code_count; pc++) {
        for (u32 n = mentions(&k->code[pc], rows); n--;) {
            Life *life = &lives[rows[n] / PREDICATE_BYTES];
            if (!life->row) *life = (Life){ .row = rows[n], .first = pc };
            life->last = pc;
        }
    }
    for (u32 n = 0; n < k->constant_count; n++)
        if (k->constants[n].special == SPECIAL_NONE || k->constants[n].special == SPECIAL_SHARED)
            lives[k->constants[n].row / PREDICATE_BYTES].row = 0;
}

// What is used in a loop and comes from before it lives until the loop's end. Inner loops come
// first.
static void carry_around_loops(const Kernel *k, Life *lives, u32 count)
{
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const Insn *i = &k->code[pc];
        if (i->op != ISA_bra || i->target > pc) continue;
        for (u32 n = 0; n < count; n++)
            if (lives[n].first < i->target && lives[n].last >= i->target && lives[n].last < pc)
                lives[n].last = pc;
    }
}

// Registers of 32 bits that a row takes: its room in the register file tells, up to the next row.
static u32 size_of(const Life *lives, u32 at, u32 count)
{
    u32 next = at + 1;
    while (next < count && !lives[next].row && next - at < PAIR_BYTES / PREDICATE_BYTES) next++;
    return next - at >= PAIR_BYTES / PREDICATE_BYTES ? 2 : next - at > 1 ? 1 : 0;
}

u32 registers_guess(const Kernel *k)
{
    enum { ALWAYS = 3, LEAST = 16, MOST = 255, UNIT = 8 };
    u32 count = k->register_bytes / PREDICATE_BYTES + 1, alive = 0, most = 0;
    Life *lives = calloc(count, sizeof *lives);
    s32 *change = calloc(k->code_count + 2, sizeof *change);
    if (!lives || !change) abort();
    find_lives(k, lives);
    carry_around_loops(k, lives, count);
    for (u32 n = 0; n < count; n++) {
        if (!lives[n].row) continue;
        u32 size = size_of(lives, n, count);
        change[lives[n].first] += size;
        change[lives[n].last] -= size;
    }
    for (u32 pc = 0; pc < k->code_count; pc++) {
        alive += change[pc];
        if (alive > most) most = alive;
    }
    free(lives);
    free(change);
    most = (most + ALWAYS + UNIT - 1) / UNIT * UNIT;
    return most < LEAST ? LEAST : most > MOST ? MOST : most;
}
