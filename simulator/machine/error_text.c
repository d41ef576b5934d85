// The names and descriptions of errors that kernels ask for: the host's (client/error.c), in memory
// that kernels can read.
#include <string.h>

#include "dynamic_launch.h"
#include "grid_state.h"
#include "memory/memory.h"
#include "base/need.h"

// The last row is for numbers that are no error.
static const struct {
    int code;
    const char *name, *words;
} table[] = {
#include "errors.inc"
};
enum { ROWS = sizeof table / sizeof *table };

typedef struct Strings {
    u64 name[ROWS], words[ROWS];
} Strings;

static Strings
    *made[MOST_DEVICES]; // where the strings are; NULL: no kernel of the device has asked

static u64 put(u64 *end, const char *string)
{
    u64 at = *end, bytes = strlen(string) + 1;
    memcpy((void *)at, string, bytes);
    *end += bytes;
    return at;
}

static const Strings *strings_on(u32 device)
{
    Strings *s = made[device];
    if (s) return s;
    u64 bytes = 0;
    for (u32 n = 0; n < ROWS; n++) bytes += strlen(table[n].name) + 1 + strlen(table[n].words) + 1;
    const Allocation *a = need(memory_alloc(bytes, 1, MEMORY_STRING, device, NULL));
    s = made[device] = need(malloc(sizeof *s));
    u64 end = a->base;
    for (u32 n = 0; n < ROWS; n++)
        s->name[n] = put(&end, table[n].name), s->words[n] = put(&end, table[n].words);
    memory_define(a->base, a->size);
    return s;
}

static u32 row_of_code(int code)
{
    u32 n = 0;
    while (n < ROWS - 1 && table[n].code != code) n++;
    return n;
}

const char *error_name(int code) { return table[row_of_code(code)].name; }

static void answer(Warp *w, const Insn *i, u32 mask, const u64 row[ROWS])
{
    const int *code = row_of(w, i->a);
    u64 *result = row_of(w, i->d);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        result[lane] = row[row_of_code(code[lane])];
    }
}

// __cudaCDP2GetErrorName(error), __cudaCDP2GetErrorString(error)
void run_error_name(Warp *w, const Insn *i, u32 mask)
{
    answer(w, i, mask, strings_on(w->block->grid->launch->device)->name);
}
void run_error_string(Warp *w, const Insn *i, u32 mask)
{
    answer(w, i, mask, strings_on(w->block->grid->launch->device)->words);
}
