// Times a version of lesson 11's solution, or CUB, which 11-radix-sort.sh includes before this, and checks what it makes.
// Writes what the book draws (a series, how many elements, 10^9 of them a second) and, as remarks, what it says.
#ifndef NAME
#define NAME "the last version"
#include "../../solutions/11-radix-sort.cu"
#endif

#include <algorithm>
#include <vector>

#ifndef VERSION
#define VERSION 0  // CUB's functions, then
#define sort_u32 sort_cub
#define keep_above keep_cub
#define CHECK(call) check(call, #call)
#endif

enum { LEAST_LOG = 12, MOST_LOG = 28, N = 1 << 26, TIMES = 11 };

static unsigned *in, *out;
static int *kept;
static void *scratch;
static std::vector<unsigned> host(1u << MOST_LOG), is(1u << MOST_LOG);

// Microseconds, the median; those with few elements are called many times in a row.
template <typename F>
static double timed(int n, F launch)
{
    int calls = n < 1 << 22 ? 50 : 1;
    std::vector<double> times;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    launch();
    for (int i = 0; i < TIMES; i++) {
        float ms;
        CHECK(cudaEventRecord(begin));
        for (int c = 0; c < calls; c++)
            launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        times.push_back(ms * 1e3 / calls);
    }
    std::sort(times.begin(), times.end());
    return times[TIMES / 2];
}

static void demand(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s: %s: a wrong answer\n", NAME, what);
    exit(EXIT_FAILURE);
}

static unsigned word(void)  // xorshift
{
    static unsigned state = 1;
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state;
}

static unsigned uniform(int) { return word(); }
static unsigned equal(int) { return 0x01020304; }
static unsigned one_of_five(int) { return word() % 5 * 0x01010101; }
static unsigned in_order(int i) { return (unsigned)i * 31; }

static void fill(int n, unsigned (*element)(int i))
{
    for (int i = 0; i < n; i++)
        host[i] = element(i);
    CHECK(cudaMemcpy(in, host.data(), sizeof *in * n, cudaMemcpyHostToDevice));
}

static double sorts(int n)
{
    double us = timed(n, [=] { sort_u32(out, in, n, 0, 32, scratch); });
    CHECK(cudaMemcpy(is.data(), out, sizeof *out * n, cudaMemcpyDeviceToHost));
    demand(std::is_sorted(is.begin(), is.begin() + n), "sort");
    return us;
}

static void sorts_of_all_sizes(void)
{
    fill(1 << MOST_LOG, uniform);
    for (int log = LEAST_LOG; log <= MOST_LOG; log += 2) {
        double us = sorts(1 << log);
        printf("%s\t%d\t%.4g\n", NAME, 1 << log, (1 << log) / us * 1e-3);
    }
}

static void sorts_of_other_data(void)
{
    static const struct { const char *name; unsigned (*element)(int i); } data[] = {
        { "uniform", uniform }, { "equal", equal }, { "one of five", one_of_five }, { "in order", in_order },
    };
    for (auto d : data) {
        fill(N, d.element);
        printf("# %s: sorts 2^26 words, %s: %.1f us\n", NAME, d.name, sorts(N));
    }
}

static void keeps(int percent)
{
    int limit = (int)(2147483647ll - (1ll << 32) * percent / 100), k, due = 0;
    double us = timed(N, [=] { keep_above((int *)out, kept, (const int *)in, N, limit, scratch); });

    CHECK(cudaMemcpy(&k, kept, sizeof k, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(is.data(), out, sizeof *out * k, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        if ((int)host[i] > limit)
            demand(due < k && is[due++] == host[i], "keep_above");
    demand(due == k, "keep_above");
    printf("# %s: keeps %d %% of 2^26: %.1f us\n", NAME, percent, us);
}

#if VERSION == 1
static void launches(void)
{
    enum { TILES = N / THREADS };
    Above above = { 0 };
    int *counts = (int *)scratch;
    printf("# %s: count_tiles: %.1f us\n", NAME, timed(N, [=] { count_tiles<<<TILES, THREADS>>>(counts, in, N, above); }));
    printf("# %s: scan_counts: %.1f us\n", NAME, timed(N, [=] { scan_counts<<<1, THREADS>>>(counts, kept, (int)TILES); }));
    keep_above((int *)out, kept, (const int *)in, N, 0, scratch);
    printf("# %s: compact: %.1f us\n", NAME, timed(N, [=] { compact<<<TILES, THREADS>>>(out, in, N, above, counts); }));
}
#elif VERSION == 3
static void launches(void)
{
    enum { TILES = N / TILE };
    Above above = { 0 };
    int *counts = (int *)scratch;
    printf("# %s: count_kept: %.1f us\n", NAME, timed(N, [=] { count_kept<<<TILES, THREADS>>>(counts, in, N, above); }));
    printf("# %s: scan_counts: %.1f us\n", NAME, timed(N, [=] { scan_counts<<<1, 1024>>>(counts, kept, (int)TILES); }));
    keep_above((int *)out, kept, (const int *)in, N, 0, scratch);
    printf("# %s: compact_tiles: %.1f us\n", NAME, timed(N, [=] { compact_tiles<<<TILES, THREADS>>>(out, in, N, above, counts); }));
}
#elif VERSION == 4
static void launches(void)
{
    int *totals = (int *)scratch;
    CHECK(cudaMemset(totals, 0, sizeof(int) * PASSES * RADIX));
    printf("# %s: count_all: %.1f us\n", NAME, timed(N, [=] { count_all<UNSIGNED><<<COUNTERS, 1024>>>(totals, in, N, 0, 32); }));
}
#else
static void launches(void)
{
    printf("# a copy of 2^26 words: %.1f us\n",
           timed(N, [] { CHECK(cudaMemcpyAsync(out, in, sizeof *in * N, cudaMemcpyDeviceToDevice)); }));
}
#endif

int main(void)
{
    CHECK(cudaMalloc(&in, sizeof *in << MOST_LOG));
    CHECK(cudaMalloc(&out, sizeof *out << MOST_LOG));
    CHECK(cudaMalloc(&kept, sizeof *kept));
    CHECK(cudaMalloc(&scratch, (2 * sizeof *in << MOST_LOG) + 65536));
#ifdef BRIEF
    fill(N, uniform);
    printf("# %s: sorts 2^26 words, uniform: %.1f us\n", NAME, sorts(N));
    return 0;
#endif
    sorts_of_all_sizes();
    sorts_of_other_data();
    fill(N, uniform);
    for (int percent : { 1, 50, 99 })
        keeps(percent);
    launches();
}
