// The video instructions' forms: what a row of the table leaves open. vadd.s32.u32.s32.sat.add d,
// a.h0, b, c and its like are one row, `vadd`; the form is read by decode_video.c, kept in
// Insn.offset, and followed by video.c.
#pragma once
#include "isa.h"

enum video_then { THEN_NOTHING, THEN_ADD, THEN_MIN, THEN_MAX };
enum video_pick {
    PICK_WORD,
    PICK_B0,
    PICK_B1,
    PICK_B2,
    PICK_B3,
    PICK_H0,
    PICK_H1
}; // of scalar instructions

typedef union VideoForm {
    s64 bits;
    struct {
        u64 signed_d : 1, signed_a : 1, signed_b : 1;
        u64 saturate : 1;
        u64 then : 2;  // enum video_then: what is done with the result and c
        u64 wrap : 1;  // shifts: by b modulo 32
        u64 shift : 4; // vmad: the result is shifted right by so many bits
        u64 plus_one : 1, minus_product : 1, minus_c : 1; // vmad
        u64 pick_a : 12; // scalar: enum video_pick; SIMD: for each part, 3 bits: which of a's and
                         // then b's parts
        u64 pick_b : 12;
        u64 into : 4; // scalar: enum video_pick: where in d; SIMD: a bit for each part that is
                      // written
    };
} VideoForm;

// What an instruction of that row and form makes of its operands.
u32 video_compute(const IsaRow *row, VideoForm form, u32 a, u32 b, u32 c);
