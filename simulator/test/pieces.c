// Words that are pieces of known text, and words that are not; and what the order of pieces says.
#include "memory/choices.h"
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

static u8 from[4 * COUNT];

static u64 unknown_words(const u32 *words, u64 count)
{
    u64 sum = 0;
    pieces_find(&pieces, words, count, from);
    for (u64 n = 0; n < count; n++) sum += from[n] == PIECE_NONE;
    return sum;
}

static u64 choices_in(Choices *c, const u32 *words, u64 count)
{
    cr_expect_eq(unknown_words(words, count), 0);
    return choices_count(c, from, count);
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

// ---- What the order says ----

enum { FEW = 8 }; // choices until a period is recognised

Test(pieces, an_order_that_goes_on_is_no_choice)
{
    Choices c = { 0 };
    cr_expect_leq(choices_in(&c, text[0], 2 * COUNT), 1);
    for (u32 n = 0; n + 100 <= COUNT; n += 100)
        cr_expect_leq(choices_in(&c, text[0] + n, 100), n == 0);
    c = (Choices){ 0 };
    u64 sum = 0;
    for (u32 n = 0; n < COUNT; n++) sum += choices_in(&c, text[1] + n, 1);
    cr_expect_leq(sum, FEW);
}

// Of each text so many words at a time; the last ones may fall short of that.
Test(pieces, arrays_that_are_interleaved_are_no_choice)
{
    for (u32 each = 1; each < PIECE_WORDS; each++) {
        u32 words[2 * COUNT], at = 0;
        Choices c = { 0 };
        for (u32 n = 0; n + each <= COUNT; n += each)
            for (u32 t = 0; t < 2; t++, at += each) memcpy(words + at, text[t] + n, 4 * each);
        pieces_forget(&pieces);
        add_texts();
        cr_expect_leq(choices_in(&c, words, at), FEW, "%u words at a time", each);
    }
}

Test(pieces, long_pieces_in_any_order_are_a_choice_each)
{
    u32 words[COUNT / 2];
    Choices c = { 0 };
    for (u32 n = 0; n + 50 <= COUNT / 2; n += 50)
        memcpy(words + n, text[n / 50 % 2] + (COUNT - 100 - n), 4 * 50);
    cr_expect_eq(choices_in(&c, words, COUNT / 2), 10);
}

// A bit is one word of this array, or of that one.
Test(pieces, words_in_an_order_of_their_own_are_choices)
{
    u32 words[2 * COUNT], next[2] = { 0, 0 };
    Choices c = { 0 };
    for (u32 n = 0; n < COUNT; n++) {
        u32 bit = scattered(scattered(n)) >> 31;
        words[n] = text[bit][next[bit]++];
    }
    cr_expect_gt(choices_in(&c, words, COUNT), COUNT / 4);
}

Test(pieces, lengths_of_paddings_are_choices)
{
    u32 words[4 * COUNT] = { 0 }, at = 0;
    Choices c = { 0 };
    for (u32 n = 0; n < 20; n++, at += 50) memcpy(words + at, text[0] + 20 * n, 4 * 20);
    cr_expect_leq(choices_in(&c, words, at), 20 + FEW, "the same each time: the pieces alone");
    memset(words, at = 0, sizeof words);
    for (u32 n = 0; n < 20; n++, at += 50 + n) memcpy(words + at, text[0] + 20 * n, 4 * 20);
    cr_expect_geq(choices_in(&c, words, at), 20 + 18);
}
