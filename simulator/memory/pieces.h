// Do words consist of pieces of known text? For telling what a program has only moved from what it
// has worked out. A piece is a run of at least 2 * PIECE_WORDS - 1 words that stand in the text,
// anywhere, in that order (or of fewer, from PIECE_WORDS on, if they hold a window of the table);
// or a run of any length that goes on where a recent piece has ended, or begins where a text
// begins: so a copy may be cut into single words, and a few arrays may be interleaved. A run of
// PIECE_WORDS or more equal words says no more than its first, and one of zeros says nothing.
#pragma once
#include "base/base.h"

enum { PIECE_WORDS = 16, PIECE_CURSORS = 8 };

// Where a word comes from: PIECE_NONE: it is in no piece. Else the number, from 1 on, of the cursor
// at which its piece goes on; or PIECE_SAME: it is in a run of equal words.
enum {
    PIECE_NONE = 0,
    PIECE_SAME = 0x40,
    PIECE_LONG = 0x80 // is added if the piece has PIECE_WORDS words or more
};

typedef struct Pieces {
    u32 *text;
    u64 count, room;            // words
    u64 *table, slots, indexed; // where windows of PIECE_WORDS words begin, plus 1, by their hash;
                                // and how many words the table covers
    u64 cursor[PIECE_CURSORS];  // where the latest pieces have ended
    u32 oldest;                 // of these
} Pieces;

// Adds a text: `bytes` bytes, of which a last part of a word is left out.
void pieces_add(Pieces *, const void *text, u64 bytes);

void pieces_forget(Pieces *);

// Sets from[n] for each of the words.
void pieces_find(Pieces *, const u32 *words, u64 count, u8 *from);
