// Lesson 11's kernels: of 2^24 words half are kept, 2^22 are sorted by their lowest bits.
#include "../../../solutions/11-radix-sort.cu"
#undef VERSION
#include "exercise.h"

enum { N = 1 << 24, BLOCKS = N / THREADS + 1, TILES = N / TILE + 1 };
enum { SORTED = 1 << 22, SORTED_BLOCKS = SORTED / THREADS + 1, SORTED_TILES = SORTED / TILE + 1 };

static unsigned *in, *out, *told;
static int *kept, *zeros, *totals, *all_totals;
static int *counts, *of_blocks, *of_zeros, *of_tiles, *of_digits;       // all but the first: scanned
static const Above upper = { 0 };
static const Zero<UNSIGNED> lowest = { 0 };
static const Digit digit = { 0, RADIX - 1 };

// What the launches before a kernel leave it.
static void prepare()
{
    count_tiles<<<BLOCKS, THREADS>>>(of_blocks, in, N, upper);
    scan_counts<<<1, THREADS>>>(of_blocks, kept, BLOCKS);
    count_kept<<<TILES, THREADS>>>(of_tiles, in, N, upper);
    scan_counts<<<1, 1024>>>(of_tiles, kept, TILES);
    count_tiles<<<SORTED_BLOCKS, THREADS>>>(of_zeros, in, SORTED, lowest);
    scan_counts<<<1, THREADS>>>(of_zeros, zeros, SORTED_BLOCKS);
    count_digits<UNSIGNED><<<SORTED_TILES, THREADS>>>(of_digits, in, SORTED, digit);
    scan_counts<<<RADIX, THREADS>>>(of_digits, totals, SORTED_TILES);
    count_all<UNSIGNED><<<COUNTERS, 1024>>>(all_totals, in, SORTED, 0, BITS);
    OK(cudaDeviceSynchronize());
}

// As the lesson does it, what blocks tell one another is cleared before each launch.
static void compact_at_once() { keep_in_one_pass(out, kept, in, N, upper, (int *)told); }
static void sort_at_once()
{
    OK(cudaMemsetAsync(told, 0, sizeof(int) * (1 + SORTED_TILES * RADIX)));
    sort_pass<UNSIGNED><<<SORTED_TILES, THREADS>>>(out, in, SORTED, digit, all_totals, told + 1, (int *)told);
}

static void scatter_words() { scatter<UNSIGNED><<<SORTED_TILES, THREADS>>>(out, in, SORTED, digit, of_digits, totals); }
static void scatter_rows() { scatter_sorted<UNSIGNED><<<SORTED_TILES, THREADS>>>(out, in, SORTED, digit, of_digits, totals); }

int main(int count, char **arguments)
{
    in = words(N, 0);
    out = output<unsigned>(N);
    told = output<unsigned>(1 + SORTED_TILES * RADIX);
    for (int **one : { &kept, &zeros })
        *one = output<int>(1);
    for (int **row : { &totals, &all_totals })
        *row = output<int>(PASSES * RADIX);
    for (int **each : { &counts, &of_blocks, &of_zeros, &of_tiles, &of_digits })
        *each = output<int>(SORTED_TILES * RADIX);
    prepare();
    return run_versions(count, arguments, {
        VERSION(count_kept, TILES, THREADS, 0, counts, in, N, upper),
        VERSION_OF("compaction", compact, BLOCKS, THREADS, 0, out, in, N, upper, of_blocks),
        VERSION_OF("compaction", compact_tiles, TILES, THREADS, 0, out, in, N, upper, of_tiles),
        { "compact_one_pass", compact_at_once, "" },
        VERSION(split, SORTED_BLOCKS, THREADS, 0, out, in, SORTED, lowest, of_zeros, zeros),
        { "scatter", scatter_words, "sort by 8 bits" },
        { "scatter_sorted", scatter_rows, "sort by 8 bits" },
        { "sort_pass", sort_at_once, "" },
    });
}
