// Words that are pieces of known text, and words that are not.
#include "memory/pieces.h"
#include <criterion/criterion.h>
#include <string.h>

enum { COUNT = 1000, OTHERS = 500 };

static u32 text[2][COUNT];
static Pieces pieces;

static u32 scattered(u32 n) { return (n + 1) * 2654435761u ^ n << 7; }

static void add_texts(void)
{
    for (u32 n = 0; n < COUNT; n++) text[0][n] = scattered(n), text[1][n] = scattered(COUNT + n);
    for (u32 t = 0; t < 2; t++) pieces_add(&pieces, text[t], sizeof text[t]);
}

static void forget(void) { pieces_forget(&pieces); }

TestSuite(pieces, .init = add_texts, .fini = forget);

static u64 unknown_words(const u32 *words, u64 count)
{
    u8 unknown[4 * COUNT];
    u64 sum = 0;
    pieces_find(&pieces, words, count, unknown);
    for (u64 n = 0; n < count; n++) sum += unknown[n];
    return sum;
}

static void fill(u32 *words, u64 count)
{
    for (u64 n = 0; n < count; n++) words[n] = scattered((u32)(5 * COUNT + n));
}

Test(pieces, whole_text_is_known)
{
    cr_expect_eq(unknown_words(text[1], COUNT), 0);
    cr_expect_eq(unknown_words(text[0], COUNT), 0);
    cr_expect_eq(unknown_words(text[0], 2 * COUNT), 0);
}

Test(pieces, other_words_are_unknown)
{
    u32 words[COUNT];
    fill(words, COUNT);
    cr_expect_eq(unknown_words(words, COUNT), COUNT);
    for (u32 n = 0; n < COUNT; n++) words[n] = text[0][n] + 1;
    cr_expect_eq(unknown_words(words, COUNT), COUNT);
}

// From any place to any place, with other words around it. So long a piece contains a window of the
// table wherever it begins.
Test(pieces, a_piece_is_found_wherever_it_is)
{
    u32 words[OTHERS];
    for (u64 from = 1; from < 100; from++) {
        fill(words, OTHERS);
        memcpy(words + 2 * from, text[1] + from, 4 * (2 * PIECE_WORDS - 1));
        cr_assert_eq(unknown_words(words, OTHERS), OTHERS - (2 * PIECE_WORDS - 1), "from %lu on",
                     (unsigned long)from);
    }
}

// Else somebody could say anything with words that the text happens to have.
Test(pieces, words_that_only_occur_in_the_text_are_unknown)
{
    u32 words[COUNT];
    for (u32 n = 0; n < COUNT; n++) words[n] = text[0][(n * 77 + 5) % COUNT];
    cr_expect_gt(unknown_words(words, COUNT), COUNT * 9 / 10);
    for (u32 n = 0; n < COUNT; n++) words[n] = text[0][COUNT - 1 - n];
    cr_expect_gt(unknown_words(words, COUNT), COUNT * 9 / 10);
}

Test(pieces, a_copy_may_be_cut_into_single_words)
{
    for (u32 n = 0; n < COUNT; n++)
        for (u32 t = 0; t < 2; t++) cr_assert_eq(unknown_words(&text[t][n], 1), 0);
}

Test(pieces, texts_may_be_interleaved)
{
    u32 words[2 * COUNT];
    for (u32 n = 0; n < COUNT; n++) words[2 * n] = text[0][n], words[2 * n + 1] = text[1][n];
    cr_expect_eq(unknown_words(words, 2 * COUNT), 0);
}

// As padding is.
Test(pieces, a_run_of_equal_words_says_no_more_than_the_first)
{
    u32 words[OTHERS];
    fill(words, OTHERS);
    memset(words + 100, 0, 4 * 100);
    cr_expect_eq(unknown_words(words, OTHERS), OTHERS - 100);
    memset(words + 100, 1, 4 * 100);
    cr_expect_eq(unknown_words(words, OTHERS), OTHERS - 99);
    memset(words + 100, 0, 4 * 100);
    words[105] = words[115] = words[125] = 1; // short runs may be the host's flags
    cr_expect_eq(unknown_words(words, 130), 130);
}

Test(pieces, text_that_repeats_is_known)
{
    u32 words[3 * COUNT];
    for (u32 n = 0; n < 3 * COUNT; n++) words[n] = scattered(9 * COUNT + n % 37);
    cr_expect_eq(unknown_words(words, 3 * COUNT), 3 * COUNT);
    pieces_add(&pieces, words, sizeof words);
    cr_expect_eq(unknown_words(words + 5, 2 * COUNT), 0);
}

Test(pieces, without_text_all_is_unknown)
{
    pieces_forget(&pieces);
    cr_expect_eq(unknown_words(text[0], COUNT), COUNT);
    pieces_add(&pieces, text[0], 4 * 5); // too short for the table
    cr_expect_eq(unknown_words(text[0], COUNT), COUNT - 5);
}
