// Which registers an instruction reads and writes.
#pragma once
#include "instruction.h"

enum { OPERANDS_READ = 28, OPERANDS_WRITTEN = 10, REGISTER_ROW = 64 };

// Numbers of rows of the register file: offsets in bytes / REGISTER_ROW. Without those that only
// say which lanes take part.
typedef struct Operands {
    u32 read[OPERANDS_READ], written[OPERANDS_WRITTEN];
    u8 read_count, written_count;
} Operands;

Operands operands_of(const Insn *);
