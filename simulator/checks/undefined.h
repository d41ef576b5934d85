// What kernels have shown of bytes that nothing wrote, for the copies that read them.
#pragma once
#include "base/base.h"

// The padding of structures, as far as kernels have shown it: the most bytes that their stores left
// out in front of a member of 1, 2, 4, 8 or 16 bytes.
extern u8 undefined_padding[ALIGNMENTS];

// What made the latest of such bytes undefined: a load of what nothing wrote, or a shuffle that
// read a lane that took no part.
typedef struct UndefinedOrigin {
    char file[128];
    u32 line; // 0: not known
    bool shuffled;
    bool several; // lines did so, one after another
} UndefinedOrigin;

extern UndefinedOrigin undefined_origin;
