// Parts of sectors on their way from L1 to L2.
#include "model/stores.h"
#include <criterion/criterion.h>

enum { LINE = 7, OTHER = 9 };

static LineAccess store(u64 line, u32 sectors, u32 words)
{
    return line | (u64)sectors << AT_SECTORS | line_access_of_words(sectors, words);
}

static void wait_for(Stores *s, LineAccess n)
{
    s->count++;
    stores_wait(s, n);
}

static bool is_empty(const Stores *s) { return s->came == s->gone; }

Test(stores, two_halves_of_a_sector_leave_as_one)
{
    Stores s = { 0 };
    wait_for(&s, store(LINE, 2, 0x0f00));
    wait_for(&s, store(LINE, 2, 0xf000));
    LineAccess n = stores_next(&s);
    cr_expect_eq(line_access_number(n), LINE);
    cr_expect_eq(line_access_sectors(n), 2);
    cr_expect(line_access_is_store(n) && !line_access_more(n), "of all words");
    cr_expect(is_empty(&s));
}

Test(stores, a_line_waits_for_so_many_others)
{
    Stores s = { 0 };
    wait_for(&s, store(LINE, 1, 1));
    for (u64 n = 1; n <= 24; n++) {
        cr_expect_not(stores_is_due(&s, 24));
        wait_for(&s, store(100 + n, 1, 1));
    }
    s.count++;
    cr_expect(stores_is_due(&s, 24));
    cr_expect_eq(line_access_number(stores_next(&s)), LINE);
    wait_for(&s, store(LINE, 1, 2)); // too late: it waits by itself
    for (u64 n = 1; n <= 24; n++) cr_expect_eq(line_access_number(stores_next(&s)), 100 + n);
    cr_expect_eq(line_access_words(stores_next(&s), 0), 2);
}

Test(stores, no_more_wait_than_there_is_room_for)
{
    Stores s = { 0 };
    for (u64 n = 1; n <= MOST_WAITING; n++) {
        cr_expect_not(stores_is_due(&s, 1000));
        wait_for(&s, store(n, 1, 1));
    }
    cr_expect(stores_is_due(&s, 1000));
    while (!is_empty(&s)) stores_next(&s);
    cr_expect_not(stores_is_due(&s, 0));
}

// A note has words in a row: those of other sectors leave in others.
Test(stores, says_which_words)
{
    Stores s = { 0 };
    wait_for(&s, store(LINE, 1, 0x3));
    wait_for(&s, store(LINE, 4, 0x60000));
    wait_for(&s, store(LINE, 8, 0xff000000));
    LineAccess low = stores_next(&s), middle = stores_next(&s), high = stores_next(&s);
    cr_expect(is_empty(&s));
    cr_expect(line_access_sectors(low) == 1 && line_access_words(low, 0) == 3);
    cr_expect(line_access_sectors(middle) == 4 && line_access_words(middle, 2) == 6);
    cr_expect(line_access_sectors(high) == 8 && !line_access_more(high));
}

// A gap within a sector: what is behind it goes first, and is no write of its own.
Test(stores, says_which_words_are_beside_others)
{
    Stores s = { 0 };
    wait_for(&s, store(LINE, 1, 0x0f));
    wait_for(&s, store(LINE, 3, 0x03c0));
    wait_for(&s, store(LINE, 2, 0x8000));
    LineAccess low_beside = stores_next(&s), low = stores_next(&s), high = stores_next(&s),
               last = 0;
    cr_expect(line_access_kind(low_beside) == STORE_BESIDE && line_access_is_store(low_beside));
    cr_expect(line_access_sectors(low_beside) == 1 && line_access_words(low_beside, 0) == 0xc0);
    cr_expect(line_access_kind(low) == STORE && line_access_sectors(low) == 1
              && line_access_words(low, 0) == 0x0f);
    cr_expect(line_access_kind(high) == STORE_BESIDE && line_access_sectors(high) == 2
              && line_access_words(high, 1) == 0x80);
    cr_expect_not(is_empty(&s));
    last = stores_next(&s);
    cr_expect(is_empty(&s));
    cr_expect(line_access_kind(last) == STORE && line_access_sectors(last) == 2
              && line_access_words(last, 1) == 3);
}

// A word of each sector, twice: two words of each, in one note.
Test(stores, adds_up_what_nobody_knows)
{
    Stores s = { 0 };
    wait_for(&s, store(LINE, 15, 0x01010101));
    wait_for(&s, store(LINE, 15, 0x02020202));
    LineAccess n = stores_next(&s);
    cr_expect(is_empty(&s));
    cr_expect(line_access_sectors(n) == 15 && line_access_kind(n) == STORE_OF_EACH);
    cr_expect_eq(line_access_more(n), 2);
}

Test(stores, lines_do_not_mix)
{
    Stores s = { 0 };
    wait_for(&s, store(LINE, 1, 0x0f));
    wait_for(&s, store(OTHER, 1, 0xf0));
    cr_expect_eq(line_access_words(stores_next(&s), 0), 0x0f);
    cr_expect_eq(line_access_words(stores_next(&s), 0), 0xf0);
}
