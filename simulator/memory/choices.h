// How much the order of known words (pieces.h) says. Pieces of known text can be used again and
// again, in any order: whoever chooses freely among them can say anything, though each word is
// known. So each choice counts that a program which only carries its arrays need not make.
#pragma once
#include "pieces.h"

// An id says where a word comes from: which text, and which piece of it goes on there. PIECE_LONG
// and PIECE_SAME (pieces.h) can be added to it.
enum {
    CHOICE_IDS = 3 * PIECE_CURSORS,
    CHOICE_KEPT,       // of a word that is left as it was
    CHOICE_PERIOD = 32 // words: the longest period that is recognised
};

typedef struct Choices {
    u8 latest[2 * CHOICE_PERIOD]; // ids of short pieces' words, the last one first
    u32 period;                   // of these, less 1
    u8 last;                      // of all words
    u64 equal, equal_before; // words of the run of equal words that lasts, and of the one before
} Choices;

// Counts the choices in words that come from these places (0: from none). A word of a short piece
// is one if it does not repeat what was a period before, as in arrays that are interleaved or
// copied word by word; a long piece is one if it does not go on where the words before it ended;
// and a run of equal words is one if it is not as long as the run before.
u64 choices_count(Choices *, const u8 *from, u64 count);
