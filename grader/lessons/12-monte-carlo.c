// Lesson 12: Philox against its authors' known answers and against the CPU, and counts of hits,
// which the contract settles to the last point, but for the few that a float's rounding moves over
// the line.
#include "grader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Philox 4x32, J. K. Salmon and others, "Parallel Random Numbers: As Easy as 1, 2, 3" (2011), and
// what becomes of it when one thing is changed.
enum variant {
    AS_ASKED,
    NINE_ROUNDS,
    ELEVEN_ROUNDS,
    KEY_FIRST,
    KEY_STANDS,
    HALVES_SWAPPED,
    MULTIPLIERS_SWAPPED,
    OWN_PRODUCT,
    IN_PLACE,
    KEYS_EXCHANGED,
    LOWS_EXCHANGED,
    SIGNED_HALVES,
    NO_KEY,
    VARIANTS
};

static const char *const philox_words[VARIANTS] = {
    [NINE_ROUNDS] = "That is what nine rounds give; it has ten.",
    [ELEVEN_ROUNDS] = "That is what eleven rounds give; it has ten.",
    [KEY_FIRST] =
        "These are the words when the key is raised before the first round, and not after it.",
    [KEY_STANDS] = "These are the words when the key stays the same from round to round.",
    [HALVES_SWAPPED] =
        "These are the words when the high and the low halves of the products change their roles.",
    [MULTIPLIERS_SWAPPED] = "These are the words when the two multipliers are swapped.",
    [OWN_PRODUCT] =
        "These are the words when x and y come from x's product; they come from z's, and z and w "
        "from x's.",
    [IN_PLACE] =
        "These are the words when x is changed before it is multiplied: a round's products "
        "are of the old x and z.",
    [KEYS_EXCHANGED] = "These are the words when the key's two words are exchanged: x takes the "
                       "key's x, and z its y.",
    [LOWS_EXCHANGED] = "These are the words when the two low halves are exchanged: y is the low "
                       "half of z's product, "
                       "and w that of x's.",
    [SIGNED_HALVES] =
        "These are the words when the high halves are of signed products; __umulhi takes words "
        "without a sign.",
    [NO_KEY] = "These are the words when the key is left out of the round.",
};

// The high half of a product of signed words, as __mulhi has it.
static uint32_t signed_high(uint64_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
}

static void philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2],
                   enum variant v)
{
    uint32_t c[4] = { counter[0], counter[1], counter[2], counter[3] }, k[2] = { key[0], key[1] };
    int rounds = v == NINE_ROUNDS ? 9 : v == ELEVEN_ROUNDS ? 11 : 10;

    for (int r = 0; r < rounds; r++) {
        uint64_t m = v == MULTIPLIERS_SWAPPED ? 0xCD9E8D57 : 0xD2511F53,
                 n = m ^ 0xD2511F53 ^ 0xCD9E8D57;
        uint64_t p = m * c[0], q = n * c[2];
        uint32_t high[2] = { (uint32_t)(p >> 32), (uint32_t)(q >> 32) },
                 low[2] = { (uint32_t)p, (uint32_t)q };
        if (v == SIGNED_HALVES) high[0] = signed_high(m, c[0]), high[1] = signed_high(n, c[2]);
        const uint32_t *up = v == HALVES_SWAPPED ? low : high,
                       *down = v == HALVES_SWAPPED ? high : low;
        if (v == KEY_FIRST) k[0] += 0x9E3779B9, k[1] += 0xBB67AE85;
        int other = v != OWN_PRODUCT; // x and y are made of the other one's product
        int lows = v == LOWS_EXCHANGED ? !other : other;
        uint32_t kx = v == NO_KEY ? 0 : k[v == KEYS_EXCHANGED],
                 ky = v == NO_KEY ? 0 : k[v != KEYS_EXCHANGED];
        uint32_t next[4] = { up[other] ^ c[1] ^ kx, down[lows], up[!other] ^ c[3] ^ ky,
                             down[!lows] };
        if (v == IN_PLACE) {
            uint64_t late = m * next[0];
            next[2] = (uint32_t)(late >> 32) ^ c[3] ^ k[1], next[3] = (uint32_t)late;
        }
        memcpy(c, next, sizeof c);
        if (v != KEY_FIRST && v != KEY_STANDS) k[0] += 0x9E3779B9, k[1] += 0xBB67AE85;
    }
    memcpy(out, c, sizeof c);
}

static Buffer *counters, *keys;

static const uint32_t *counter_of(size_t block)
{
    return (const uint32_t *)counters->i32 + 4 * block;
}
static const uint32_t *key_of(size_t block) { return (const uint32_t *)keys->i32 + 2 * block; }

// The first blocks are all what that variant makes of them.
static bool is_variant(const Mismatch *m, enum variant v)
{
    uint32_t guess[4];
    size_t blocks = m->out->count / 4;

    for (size_t b = 0; b < blocks && b < 3; b++) {
        philox(guess, counter_of(b), key_of(b), v);
        if (memcmp(m->out->i32 + 4 * b, guess, sizeof guess) != 0) return false;
    }
    return true;
}

static const char *which_philox(const Mismatch *m)
{
    for (enum variant v = AS_ASKED + 1; v < VARIANTS; v++)
        if (is_variant(m, v)) return philox_words[v];

    static char words[160];
    const uint32_t *is = (const uint32_t *)m->out->i32;
    uint32_t want[4];
    philox(want, counter_of(0), key_of(0), AS_ASKED);
    if (memcmp(is, want, sizeof want) == 0) return NULL;
    snprintf(
        words, sizeof words,
        "In hexadecimal the first block is %08x %08x %08x %08x, and should be %08x %08x %08x %08x.",
        is[0], is[1], is[2], is[3], want[0], want[1], want[2], want[3]);
    return words;
}

static void make_blocks(size_t blocks)
{
    counters = input_i32("counter", 4 * blocks, INT32_MIN, INT32_MAX);
    keys = input_i32("key", 2 * blocks, INT32_MIN, INT32_MAX);
}

static void asks_philox(size_t blocks)
{
    Buffer *out = output_i32("out", 4 * blocks);
    int32_t *want = reference_i32(4 * blocks);

    for (size_t b = 0; b < blocks; b++)
        philox((uint32_t *)want + 4 * b, counter_of(b), key_of(b), AS_ASKED);
    diagnose(which_philox);
    given("blocks = %zu", blocks);
    call("philox", device(out), device(counters), device(keys), i32((int)blocks));
    expect_equal_i32(out, want);
}

// Those that come with the authors' library, Random123 (kat_vectors).
Check(monte_carlo, known_answers)
{
    static const uint32_t counter[3][4] = { { 0, 0, 0, 0 },
                                            { ~0u, ~0u, ~0u, ~0u },
                                            { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 } };
    static const uint32_t key[3][2] = { { 0, 0 }, { ~0u, ~0u }, { 0xa4093822, 0x299f31d0 } };
    static const uint32_t answer[3][4] = { { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
                                           { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
                                           { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } };
    Buffer *out = output_i32("out", 12);
    make_blocks(3);
    memcpy(counters->i32, counter, sizeof counter);
    memcpy(keys->i32, key, sizeof key);
    diagnose(which_philox);
    given("three known counters and keys");
    call("philox", device(out), device(counters), device(keys), i32(3));
    expect_equal_i32(out, (const int32_t *)answer);
}

Check(monte_carlo, other_blocks)
{
    static const int sizes[] = { 1, 31, 32, 33, 255, 257, 7919 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        make_blocks(sizes[s]);
        asks_philox(sizes[s]);
    }
}

Check(monte_carlo, no_blocks)
{
    make_blocks(0);
    asks_philox(0);
}

// ---- Points ----

enum points {
    AS_TOLD,
    EVEN_NUMBER,
    LAST_MISSING,
    A_BLOCK_EACH,
    FIRST_OF_EACH,
    LOWER_BITS,
    SEED_SECOND,
    BLOCKS_FOR_POINTS,
    POINTS
};
enum { TELLING = 1000 }; // of so many points two mistakes hardly give the same number

static const char *const points_words[POINTS] = {
    [EVEN_NUMBER] =
        ": the second point of the last block is counted, although only its first is asked for",
    [LAST_MISSING] = ": the last point is not counted, the only one of its block",
    [A_BLOCK_EACH] =
        ": that is what you get if point p has block p to itself; two points share one",
    [FIRST_OF_EACH] = ": that is what you get if both points of a block take its first two words",
    [LOWER_BITS] =
        ": that is what the lower 23 bits of the words give; the contract takes the upper ones",
    [SEED_SECOND] = ": that is what the key { 0, *seed } gives; it is { *seed, 0 }",
    [BLOCKS_FOR_POINTS] =
        ": that is what you get from as many blocks of words as points; half as many "
        "are enough, because each has two points",
};

// Exact, in whole numbers.
static int64_t count(int64_t points, uint32_t seed, enum points how)
{
    uint32_t key[2] = { seed, 0 }, w[4];
    int64_t hits = 0, last = -1;

    if (how == EVEN_NUMBER) points += points % 2;
    if (how == LAST_MISSING) points -= points % 2;
    if (how == SEED_SECOND) key[0] = 0, key[1] = seed;
    for (int64_t p = 0; p < points; p++) {
        int64_t block = how == A_BLOCK_EACH ? p : p / 2;
        uint32_t counter[4] = { (uint32_t)block };
        if (block != last) philox(w, counter, key, AS_ASKED);
        last = block;
        const uint32_t *pair =
            how == A_BLOCK_EACH || how == FIRST_OF_EACH || p % 2 == 0 ? w : w + 2;
        uint64_t x = how == LOWER_BITS ? pair[0] & 0x7fffff : pair[0] >> 9;
        uint64_t y = how == LOWER_BITS ? pair[1] & 0x7fffff : pair[1] >> 9;
        hits += x * x + y * y < 1ull << 46;
    }
    return hits;
}

// The first points of all the blocks, and the second ones as far as they are asked for.
static int64_t count_by_blocks(int64_t points, uint32_t seed)
{
    uint32_t key[2] = { seed, 0 }, w[4];
    int64_t hits = count(points, seed, AS_TOLD);

    for (int64_t b = (points + 1) / 2; b < points; b++) {
        philox(w, (uint32_t[4]){ (uint32_t)b }, key, AS_ASKED);
        uint64_t x = w[0] >> 9, y = w[1] >> 9;
        hits += x * x + y * y < 1ull << 46;
    }
    return hits;
}

static const char *which_points(int64_t got, int64_t points, uint32_t seed)
{
    int64_t want = count(points, seed, AS_TOLD);

    for (enum points how = AS_TOLD + 1; how < (points < TELLING ? A_BLOCK_EACH : POINTS); how++)
        if (got
            == (how == BLOCKS_FOR_POINTS ? count_by_blocks(points, seed)
                                         : count(points, seed, how)))
            return points_words[how];
    if (got == points) return ": every point";
    if (got == points - want) return ": these are the points outside";
    if (want && got > want && got % want == 0)
        return ": a multiple of it, so points are counted more than once";
    if (got == (int32_t)(POISON + (uint32_t)want))
        return ": it was not set to 0 before the hits were added";
    // Of random points, or of a grid's, about as many are hits; 2 is 4.9 standard deviations.
    double off = got - 0.785398 * points;
    if (points >= TELLING && off * off < 4.0 * points)
        return ": about as many as of any points spread evenly, so these are other points than the "
               "contract's, whose point p is two words of the block with the counter p / 2 and the "
               "key { *seed, 0 }";
    return "";
}

// What went to the host in the call, or to memory that it sees. A host that has the seed could work
// out the count, and bring it in a launch's parameter. There it looks like any other number.
static double bytes_to_host(void)
{
    return counter("memcpy__bytes_dtoh.sum") + counter("crossing__bytes_dtoh.sum")
         + counter("crossing__bytes_shown.sum") + counter("pinned_memory__bytes_write.sum");
}

static void throws(int points, Buffer *seed)
{
    Buffer *hits = output_i32("hits", 1);
    uint32_t key = seed->i32[0];
    int64_t want = count(points, key, AS_TOLD);

    given("points = %d, seed = %u", points, key);
    call("count_hits", device(hits), i32(points), device(seed));
    compulsory(4, 4);
    compulsory_operations(points);
    figure("bytes to the host", bytes_to_host());
    int64_t off = hits->i32[0] - want;
    expect(llabs(off) <= points / 500000, "hits is %d, should be %d%s", hits->i32[0], (int)want,
           which_points(hits->i32[0], points, key));
}

static void throws_from(int points, uint32_t key)
{
    Buffer *seed = input_i32("seed", 1, 0, INT32_MAX);
    seed->i32[0] = (int32_t)key;
    throws(points, seed);
}

// The largest comes first, as it tells most about a mistake.
Check(monte_carlo, few_points)
{
    static const int sizes[] = { 1025, 1023, 257, 256, 255, 33, 32, 31, 3, 2, 1 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) throws_from(sizes[s], 12);
}

Check(monte_carlo, primes)
{
    throws_from(7919, 0);
    throws_from(65537, 0x80000000u);
    throws_from(300007, ~0u);
}

Check(monte_carlo, no_points) { throws_from(0, 12); }

// The check that profiles/lessons/12-monte-carlo.cfg measures: 270,336 threads have 15 or 16 points
// each. Its seed comes from the run's own, so that a class's submission cannot know the count.
Check(monte_carlo, four_million_points) { throws(1 << 22, input_i32("seed", 1, 0, INT32_MAX)); }

// What profiles/lessons/12-monte-carlo.cfg times on a GPU.
Measure(monte_carlo, many_points)
{
    enum { POINTS_TIMED = 1 << 28 };
    size_t sets = rotations(8);
    Buffer *hits[ROTATIONS_MAX], *seed[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        hits[s] = output_i32("hits", 1), seed[s] = input_i32("seed", 1, 0, INT32_MAX);
        if (s > 1) seed[s]->i32[0] = seed[s % 2]->i32[0];
        rotate("count_hits", device(hits[s]), i32(POINTS_TIMED), device(seed[s]));
        compulsory(4, 4);
    }
    measure();
    int64_t want[2] = { count(POINTS_TIMED, seed[0]->i32[0], AS_TOLD),
                        count(POINTS_TIMED, seed[1]->i32[0], AS_TOLD) };
    for (size_t s = 0; s < sets; s++)
        expect(llabs(hits[s]->i32[0] - want[s % 2]) <= POINTS_TIMED / 500000,
               "hits is %d, should be %d", hits[s]->i32[0], (int)want[s % 2]);
}
