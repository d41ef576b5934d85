// expect: race 151, race 170
// run: --shuffle 1
// prints: all found
// Mistakes that are no race, as threads see one another by atomics and volatile accesses alone, and that nobody sees where
// blocks run one after the other and warps in a row. Each is found by what comes out, in some launch of a few; what is right
// is right in all of them.
#include "check.h"

enum { BLOCKS = 80, THREADS = 128, TIMES = 4 };
enum { EMPTY, SUM, PREFIX };            // in the upper bits of a word

struct Board {
    unsigned word[BLOCKS], ticket, count, total, flag;
};

__device__ unsigned out[BLOCKS * THREADS];

// How many elements are in the tiles before, when a tile has as many as its number. The mistakes: what tiles alone know is
// left out; only the 32 nearest are asked; nobody waits.
template <bool SUMS, bool FAR, bool WAITS>
__global__ void look_back(Board *board)
{
    volatile unsigned *words = board->word;
    unsigned lane = threadIdx.x, tile = lane == 0 ? atomicAdd(&board->ticket, 1) : 0, before = 0;
    tile = __shfl_sync(~0u, tile, 0);
    __syncthreads();                    // here the tile is loaded and added up
    if (lane == 0) words[tile] = (tile ? SUM : PREFIX) << 24 | tile;
    for (int nearest = (int)tile - 1; nearest >= 0; nearest -= 32) {
        unsigned word = PREFIX << 24;
        if (nearest >= (int)lane)
            do word = words[nearest - lane];
            while (WAITS && word == 0);
        unsigned knows = __ballot_sync(~0u, word >> 24 == PREFIX), last = knows ? __ffs(knows) - 1 : 31;
        before += __reduce_add_sync(~0u, lane == last || (SUMS && lane < last) ? word & 0xffffff : 0);
        if (knows || !FAR) break;
    }
    if (lane == 0) words[tile] = PREFIX << 24 | (before + tile);
    if (lane == 0) out[tile] = before;
}

static unsigned tiles_before(unsigned tile) { return tile * (tile - 1) / 2; }

// One after another by their numbers: warps, or blocks.
template <bool ATOMIC>
__global__ void draw_in_block(Board *)
{
    __shared__ unsigned next;
    unsigned place = threadIdx.x / 32;
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    if (ATOMIC && threadIdx.x % 32 == 0) place = atomicAdd(&next, 1);
    if (threadIdx.x % 32 == 0) out[blockIdx.x * (THREADS / 32) + threadIdx.x / 32] = place;
}

template <bool ATOMIC>
__global__ void draw_in_grid(Board *board)
{
    if (threadIdx.x == 0) out[blockIdx.x] = ATOMIC ? atomicAdd(&board->ticket, 1) : blockIdx.x;
}

static unsigned warp_in_block(unsigned n) { return n % (THREADS / 32); }
static unsigned number(unsigned n) { return n; }

// A count that is loaded and stored, volatile as it may be.
template <bool ATOMIC>
__global__ void count_up(Board *board)
{
    volatile unsigned *count = &board->count;
    if (threadIdx.x) return;
    if (ATOMIC) atomicAdd((unsigned *)count, 1);
    else *count = *count + 1;
    __threadfence();
    if (atomicAdd(&board->ticket, 1) == gridDim.x - 1) out[0] = *count;
}

static unsigned blocks(unsigned) { return BLOCKS; }

// The sum is there when all have added to it, not when the block of the highest number has.
template <bool COUNTED>
__global__ void last_block(Board *board)
{
    if (threadIdx.x) return;
    atomicAdd(&board->total, 1);
    __threadfence();
    bool last = atomicAdd(&board->count, 1) == gridDim.x - 1;
    if (!COUNTED) last = blockIdx.x == gridDim.x - 1;
    if (last) out[0] = atomicAdd(&board->total, 0);
}

// Warp 0 says something to the others; without the barrier they may look too early.
template <bool BARRIER>
__global__ void tell_warps(Board *)
{
    __shared__ volatile unsigned said;
    if (threadIdx.x == 0) said = 0;
    __syncthreads();
    if (threadIdx.x == 0) said = 1;
    if (BARRIER) __syncthreads();
    if (threadIdx.x % 32 == 0) out[blockIdx.x * (THREADS / 32) + threadIdx.x / 32] = said;
}

// And so it is between blocks. Nobody is waited for whose place others need.
template <bool WAITS>
__global__ void tell_blocks(Board *board)
{
    volatile unsigned *flag = &board->flag;
    unsigned number = threadIdx.x ? 0 : atomicAdd(&board->ticket, 1);
    __syncthreads();
    if (threadIdx.x) return;
    if (number == 0) *flag = 1;
    while (WAITS && *flag == 0) ;
    out[number] = *flag;
}

static unsigned one(unsigned) { return 1; }

// A lock that is looked at and then taken: two may.
template <bool ATOMIC>
__global__ void lock(Board *board)
{
    volatile unsigned *taken = &board->flag, *total = &board->total;
    if (threadIdx.x) return;
    for (int n = 0; n < TIMES; n++) {
        if (ATOMIC) {
            while (atomicCAS((unsigned *)taken, 0, 1)) ;
        } else {
            while (*taken) ;
            *taken = 1;
        }
        __threadfence();
        *total = *total + 1;
        __threadfence();
        *taken = 0;
    }
    if (atomicAdd(&board->count, 1) == gridDim.x - 1) out[0] = *total;
}

static unsigned times(unsigned) { return TIMES * BLOCKS; }

// The lanes of a warp need not be in step: what one of them has stored is there for another after __syncwarp().
template <bool SYNCWARP>
__global__ void sum_in_warp(Board *)
{
    __shared__ volatile unsigned sums[64];
    unsigned lane = threadIdx.x, mine = 1;
    sums[lane] = 1;
    sums[lane + 32] = 0;
    __syncwarp();
    for (unsigned step = 16; step; step /= 2) {
        if (SYNCWARP) __syncwarp();
        mine += sums[lane + step];
        if (SYNCWARP) __syncwarp();
        sums[lane] = mine;
    }
    if (lane == 0) out[blockIdx.x] = mine;
}

static unsigned warp(unsigned) { return 32; }

// Or after a barrier of the block, in each round of a loop; and a barrier that some lanes come to sooner is none that others miss.
template <bool BARRIER>
__global__ void pass_on(Board *)
{
    __shared__ volatile unsigned place[2][THREADS];
    unsigned t = threadIdx.x;
    place[0][t] = place[1][t] = t;
    __syncthreads();
    for (unsigned round = 0; round < THREADS; round++) {
        if (BARRIER) __syncthreads();
        place[(round + 1) % 2][t] = place[round % 2][(t + 1) % blockDim.x];
    }
    out[blockIdx.x * blockDim.x + t] = place[THREADS % 2][t];
}

static unsigned in_warp(unsigned n) { return n % 32; }

// One lane may wait for another of its warp, which runs meanwhile; it must.
template <bool WAITS>
__global__ void tell_lanes(Board *)
{
    __shared__ volatile unsigned said[32];
    unsigned lane = threadIdx.x;
    said[lane] = lane == 0;
    __syncwarp();
    while (WAITS && lane && !said[lane - 1]) ;
    unsigned heard = lane ? said[lane - 1] : 1;
    said[lane] = 1;
    out[blockIdx.x * 32 + lane] = heard;
}

static Board *board;
static int failures;

static int wrong_launches(void (*kernel)(Board *), unsigned threads, unsigned count, unsigned due(unsigned), int launches)
{
    static unsigned got[BLOCKS * THREADS];
    int wrong = 0;
    for (int l = 0; l < launches; l++) {
        OK(cudaMemset(board, 0, sizeof *board));
        kernel<<<BLOCKS, threads>>>(board);
        OK(cudaGetLastError());
        OK(cudaMemcpyFromSymbol(got, out, count * sizeof *got));
        bool right = true;
        for (unsigned n = 0; n < count; n++) right &= got[n] == due(n);
        wrong += !right;
    }
    return wrong;
}

static void found(const char *what, void (*right)(Board *), void (*wrong)(Board *), unsigned threads, unsigned count,
                  unsigned due(unsigned), int launches)
{
    int good = wrong_launches(right, threads, count, due, launches);
    int bad = wrong_launches(wrong, threads, count, due, launches);
    printf("%s: wrong in %d launches of %d; done right, in %d\n", what, bad, launches, good);
    failures += good > 0 || bad == 0;
}

int main()
{
    OK(cudaMalloc(&board, sizeof *board));
    found("sums left out", look_back<true, true, true>, look_back<false, true, true>, 32, BLOCKS, tiles_before, 2);
    found("one window", look_back<true, true, true>, look_back<true, false, true>, 32, BLOCKS, tiles_before, 4);
    found("no waiting", look_back<true, true, true>, look_back<true, true, false>, 32, BLOCKS, tiles_before, 2);
    found("warps draw", draw_in_block<false>, draw_in_block<true>, THREADS, BLOCKS * THREADS / 32, warp_in_block, 2);
    found("blocks draw", draw_in_grid<false>, draw_in_grid<true>, THREADS, BLOCKS, number, 2);
    found("lost counts", count_up<true>, count_up<false>, 32, 1, blocks, 2);
    found("last by number", last_block<true>, last_block<false>, 32, 1, blocks, 2);
    found("no barrier", tell_warps<true>, tell_warps<false>, THREADS, BLOCKS * THREADS / 32, one, 2);
    found("no flag awaited", tell_blocks<true>, tell_blocks<false>, 32, BLOCKS, one, 16);
    found("lock looked at", lock<true>, lock<false>, 32, 1, times, 4);
    found("lanes in step", sum_in_warp<true>, sum_in_warp<false>, 32, BLOCKS, warp, 2);
    found("lanes pass on", pass_on<true>, pass_on<false>, 32, BLOCKS * 32, in_warp, 2);
    found("lanes tell lanes", tell_lanes<true>, tell_lanes<false>, 32, BLOCKS * 32, one, 2);
    OK(cudaFree(board));
    CHECK(failures == 0);
    puts("all found");
    return 0;
}
