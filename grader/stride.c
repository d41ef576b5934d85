// Loops of threads that go on by a wrong number of elements: what each of the call's launches would
// take then, by its number of blocks and threads.
#include "check.h"
#include "grader.h"
#include <stdio.h>
#include <stdlib.h>

static const char OF_THE_GRID[] =
    "begin at blockIdx.x * blockDim.x + threadIdx.x, and go on by the threads of the whole grid, "
    "gridDim.x * blockDim.x";

// How often element i is taken by so many blocks of so many threads. Each thread goes on by its
// block's threads, not by the grid's:
static uint32_t by_a_block(size_t i, size_t blocks, size_t threads)
{
    size_t begun = 1 + i / threads;
    return (uint32_t)(begun < blocks ? begun : blocks);
}

// Each block begins at element 0:
static uint32_t by_all(size_t i, size_t blocks, size_t threads)
{
    (void)i, (void)threads;
    return (uint32_t)blocks;
}

// Each thread begins, and goes on, at twice its place:
static uint32_t by_twice(size_t i, size_t blocks, size_t threads)
{
    (void)blocks;
    return i / threads % 2 == 0;
}

// Each thread takes one element:
static uint32_t once(size_t i, size_t blocks, size_t threads) { return i < blocks * threads; }

static const struct {
    uint32_t (*taken)(size_t i, size_t blocks, size_t threads);
    const char *words; // with the number of threads, and that of blocks
} loops[] = {
    { by_a_block,
      "Element %1$zu was taken 2 times: each thread goes on by the %1$zu threads of its "
      "block, and the %2$zu blocks are at work on the same elements." },
    { by_all, "Each element was taken %2$zu times, once by each of the %2$zu blocks." },
    { by_twice, "Elements from %1$zu on, as many as a block has threads, were taken by no thread, "
                "and so with every other stretch of that length." },
    { once, "Each of the %2$zu blocks' %1$zu threads took one element, and the rest were taken by "
            "no thread." },
};

static bool fits(uint32_t *times, size_t n, const Traced *launch, size_t loop,
                 bool (*gives)(const uint32_t *times))
{
    size_t right = 0;
    for (size_t i = 0; i < n; i++) {
        times[i] = loops[loop].taken(i, launch->grid[0], launch->block[0]);
        right += times[i] == 1;
    }
    return right < n && gives(times);
}

const char *explain_stride(size_t n, bool (*gives)(const uint32_t *times))
{
    static char words[240];
    bool found = false;
    uint32_t *times = malloc((n + 1) * sizeof *times);
    const Trace *t = &check.session.events.trace;
    for (const Traced *l = NULL; !found && (l = trace_next(t, l, TRACE(LAUNCH)));)
        for (size_t k = 0; k < sizeof loops / sizeof *loops && !found && !l->status; k++)
            if ((found = fits(times, n, l, k, gives)))
                snprintf(words, sizeof words, loops[k].words, (size_t)l->block[0],
                         (size_t)l->grid[0]);
    free(times);
    if (found) advise(OF_THE_GRID);
    return found ? words : NULL;
}
