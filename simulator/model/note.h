// One line that one access touches, as it is noted down to be replayed: from bit 0 on its number, its sectors, the kind of
// access, of atomics the passes over the sectors beyond the first, of stores that write less than the sectors how many bytes
// of each (0: all), and the instruction.
#pragma once
#include "base.h"

typedef u64 Note;
enum { AT_SECTORS = 34, AT_KIND = 38, AT_MORE = 41, AT_PC = 46 };

static inline u64 note_number(Note n) { return n & ((1ull << AT_SECTORS) - 1); }
static inline u32 note_sectors(Note n) { return n >> AT_SECTORS & 15; }
static inline u32 note_kind(Note n) { return n >> AT_KIND & 7; }
static inline u32 note_more(Note n) { return n >> AT_MORE & 31; }
static inline u32 note_pc(Note n) { return n >> AT_PC; }

enum kind { LOAD, LOAD_PAST_L1, STORE, ATOMIC_KIND, REDUCTION };
