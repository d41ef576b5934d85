// One sectored cache, line by line.
#include "model/cache.h"
#include <criterion/criterion.h>

enum { WAYS = 4, LINE = 4 * SECTOR_BYTES };

static Cache make(u64 bytes, u32 ways)
{
    Cache c;
    cr_assert(cache_make(&c, bytes, ways));
    return c;
}

static u32 present(Cache *c, u64 number)
{
    const CacheLine *line = cache_find(c, number);
    return line ? cache_present(*line) : 0;
}

// Puts a line there with these sectors, and returns what made room.
static CacheLine put(Cache *c, u64 number, u32 sectors)
{
    CacheLine evicted;
    *cache_take(c, cache_set(c, number), number, &evicted) |= sectors;
    return evicted;
}

Test(cache, holds_sectors_one_by_one)
{
    Cache c = make(64 * LINE, WAYS);
    put(&c, 7, 1);
    put(&c, 7, 4);
    cr_expect_eq(present(&c, 7), 5);
    cr_expect_eq(present(&c, 8), 0);
    cr_expect_null(cache_find(&c, 8));
    cache_clear(&c);
    cr_expect_eq(present(&c, 7), 0);
    cache_free(&c);
}

Test(cache, the_line_used_longest_ago_makes_room)
{
    Cache c = make(WAYS * LINE, WAYS);
    cr_assert_eq(c.sets, 1);
    for (u64 n = 1; n <= WAYS; n++) cr_expect_eq(put(&c, n, 15), 0);
    cr_expect_eq(present(&c, 1), 15); // now 2 is the oldest
    cr_expect_neq(put(&c, 9, 15), 0);
    cr_expect_eq(present(&c, 2), 0);
    for (u64 n = 1; n <= WAYS; n++)
        if (n != 2) cr_expect_eq(present(&c, n), 15);
    cache_free(&c);
}

Test(cache, says_what_was_dirty_in_the_line_that_went)
{
    Cache c = make(WAYS * LINE, WAYS);
    for (u64 n = 1; n <= WAYS; n++) put(&c, n, 15);
    *cache_find(&c, 1) |= cache_dirt(6);
    for (u64 n = 2; n <= WAYS; n++) cache_find(&c, n);
    cr_expect_eq(cache_dirty(put(&c, 9, 15)), 6);
    cr_expect_eq(cache_dirty(put(&c, 10, 15)), 0);
    cache_free(&c);
}

Test(cache, tells_lines_apart_by_all_34_bits)
{
    Cache c = make(WAYS * LINE, WAYS);
    for (u64 n = 0; n < WAYS; n++) put(&c, n << 32 | 7, 1 << n);
    for (u64 n = 0; n < WAYS; n++) cr_expect_eq(present(&c, n << 32 | 7), 1u << n);
    cache_free(&c);
}

Test(cache, finds_a_line_with_a_mark)
{
    Cache c = make(WAYS * LINE, WAYS);
    put(&c, 3ull << 32 | 7, 15);
    *cache_find(&c, 3ull << 32 | 7) |= CACHE_MARK;
    cr_expect_eq(present(&c, 3ull << 32 | 7), 15);
    cr_expect(*cache_find(&c, 3ull << 32 | 7) & CACHE_MARK);
    cr_expect_eq(put(&c, 7, 1), 0);
    cache_free(&c);
}

Test(cache, is_empty_after_each_clearing)
{
    Cache c = make(64 * LINE, 16);
    for (u32 k = 0; k < 3; k++) {
        c.clearings = k == 1 ? UINT32_MAX : c.clearings; // the count begins again
        for (u64 n = 1; n <= 32; n++) cr_expect_null(cache_find(&c, n));
        for (u64 n = 1; n <= 32; n++) cr_expect_eq(put(&c, n, 15), 0);
        cache_clear(&c);
    }
    cache_free(&c);
}

// What is read round and round in order finds nothing, if it is one line too large.
Test(cache, a_circle_one_line_too_large_misses_always)
{
    for (u32 lines = WAYS; lines <= WAYS + 1; lines++) {
        Cache c = make(WAYS * LINE, WAYS);
        u32 hits = 0;
        for (u32 k = 0; k < 10 * lines; k++) {
            hits += present(&c, 1 + k % lines) != 0;
            put(&c, 1 + k % lines, 15);
        }
        cr_expect_eq(hits, lines == WAYS ? 9 * WAYS : 0);
        cache_free(&c);
    }
}

Test(cache, lines_a_power_of_two_apart_are_not_all_in_one_set)
{
    for (u64 apart = 1; apart <= 1 << 16; apart *= 2) {
        Cache c = make((u64)20480 * 16 * LINE, 16);
        u32 gone = 0;
        for (u64 n = 1; n <= 4096; n++) gone += put(&c, n * apart, 15) != 0;
        cr_expect_leq(gone, 400, "of 4096 lines %llu apart, %u had to go",
                      (unsigned long long)apart, gone);
        cache_free(&c);
    }
}

Test(cache, holds_what_it_has_room_for)
{
    Cache c = make(20480 * LINE, 16);
    u32 kept = 0;
    for (u64 n = 1 << 20; n < (1 << 20) + 20480; n++) put(&c, n, 15);
    for (u64 n = 1 << 20; n < (1 << 20) + 20480; n++) kept += present(&c, n) == 15;
    cr_expect_geq(kept, 19000);
    cache_free(&c);
}

Test(cache, uses_a_part_of_itself)
{
    Cache c = make(16 * WAYS * LINE, WAYS);
    cr_assert_eq(c.sets, 16);
    cache_use(&c, 0.25);
    u32 kept = 0;
    for (u64 n = 1; n <= 16 * WAYS; n++) put(&c, n, 15);
    for (u64 n = 1; n <= 16 * WAYS; n++) kept += present(&c, n) == 15;
    cr_expect_eq(kept, 4 * WAYS);
    cache_use(&c, 0);
    cr_expect_eq(c.sets, 1);
    cache_free(&c);
}

// Four lines of one set, the first put there first, each with these dirty sectors.
static CacheSet *dirty_set(Cache *c, const u32 dirty[4])
{
    *c = make(LINE * WAYS, WAYS);
    for (u64 n = 0; n < 4; n++) put(c, n + 1, dirty[n] | cache_dirt(dirty[n]));
    return cache_set(c, 1);
}

static u32 dirt(Cache *c, u64 number) { return cache_dirty(*cache_find(c, number)); }

Test(cache, cleans_lines_used_longest_ago)
{
    Cache c;
    CacheSet *set = dirty_set(&c, (u32[]){ 3, 15, 1, 2 });
    cr_expect_eq(cache_clean(set, 4, 16), 0);
    cr_expect_eq(cache_clean(set, 2, 16), 2 + 4); // the first two lines whole
    cr_expect_eq(dirt(&c, 1), 0);
    cr_expect_eq(dirt(&c, 2), 0);
    cr_expect_eq(dirt(&c, 3), 1);
    cr_expect_eq(present(&c, 2), 15); // they stay there
    cache_free(&c);
}

Test(cache, cleans_no_more_sectors_than_it_must)
{
    Cache c;
    CacheSet *set = dirty_set(&c, (u32[]){ 3, 15, 1, 2 });
    cr_expect_eq(cache_clean(set, 4, 5), 3); // two of the first, one of the second
    cr_expect_eq(dirt(&c, 1), 0);
    cr_expect_eq(dirt(&c, 2), 14);
    cache_find(&c, 2); // now the third is the one used longest ago
    cr_expect_eq(cache_clean(set, 4, 4), 1);
    cr_expect_eq(dirt(&c, 3), 0);
    cr_expect_eq(dirt(&c, 2), 14);
    cache_free(&c);
}

Test(cache, says_which_line_has_waited_longest)
{
    Cache c = make(WAYS * LINE, WAYS);
    for (u64 n = 1; n < WAYS; n++) put(&c, n, (u32)n);
    cr_expect_eq(cache_present(*cache_used_before(cache_set(&c, 1), 0)), WAYS - 1);
    cr_expect_eq(cache_present(*cache_used_before(cache_set(&c, 1), WAYS - 2)), 1);
    cr_expect_null(cache_used_before(cache_set(&c, 1), WAYS - 1));
    cache_free(&c);
}

// Of 1024 lines for 1024 sets, each has its own, or, where chance decides about two in 16, some 900
// are taken.
Test(cache, chance_decides_about_some_lines)
{
    for (u32 uneven = 0; uneven <= UNEVEN; uneven += UNEVEN) {
        Cache c = make(1024 * LINE, 1);
        u32 left = 0;
        c.uneven = uneven;
        for (u64 n = 0; n < 1024; n++) put(&c, n, 15);
        for (u64 n = 0; n < 1024; n++) left += present(&c, n) == 15;
        if (!uneven) cr_expect_eq(left, 1024);
        else cr_expect(left > 850 && left < 960, "%u", left);
        cache_free(&c);
    }
}
