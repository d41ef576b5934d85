// The marks of a warp's registers: for each row of the register file, the lanes that hold an
// undefined value (undefined.c).
#pragma once
#include "machine/warp.h"

static inline u32 *mark(const Warp *w, u32 row) { return &w->taint[row / 64]; }

// The marks of what a select and a logic operation on predicates give.
u32 marks_of_select(const Warp *, const Insn *);
u32 marks_of_logic(const Warp *, const Insn *, const IsaRow *);

// These set the marks of the results, in the lanes of the mask; `guard` are lanes whose predicate
// is undefined, which makes the results so.
void marks_compare(const Warp *, const Insn *, u32 mask, u32 guard);
void marks_four(const Warp *, const Insn *, u32 mask, u32 guard, bool pack);
void marks_param(const Warp *, const Insn *, u32 mask, bool store);
void marks_multiply(const Warp *, const Insn *);
