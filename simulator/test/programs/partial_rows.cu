// expect: exit 0
// counts: rows dram__bytes_read.sum 0
// counts: rows_read dram__bytes_read.sum 0
// counts: pairs_read dram__bytes_read.sum 4096
// counts: one_word lts__t_sectors_op_write.sum 48
// counts: four_words lts__t_sectors_op_write.sum 48
// counts: with_gap lts__t_sectors_op_write.sum 12
// Which words of a sector stores bring: L2 fetches one that they leave open, and none that they fill. And of the stores that a
// warp makes to one sector, one after the other, L1 makes one write, as ncu counts on an H200.
#include "check.h"

enum { ROWS = 32, APART = 1024 };

// Each warp stores a row, right behind that of the warp before: of 3 words, of 9 and of 12. Some begin and end in one sector.
__global__ void rows(unsigned *out)
{
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane < 3)
        out[warp * 3 + lane] = 1;
    if (lane < 9)
        out[APART + warp * 9 + lane] = 1;
    if (lane < 12)
        out[2 * APART + warp * 12 + lane] = 1;
}

__global__ void rows_read(unsigned *out, const unsigned *in)
{
    unsigned t = threadIdx.x, sum = t < ROWS * 3 ? __ldcg(in + t) : 0;
    sum += t < ROWS * 9 ? __ldcg(in + APART + t) : 0;
    sum += t < ROWS * 12 ? __ldcg(in + 2 * APART + t) : 0;
    if (sum == 100)
        out[0] = 1;
}

// The first two words of each of 128 sectors, again and again: that fills none.
__global__ void pairs(unsigned *out)
{
    for (unsigned n = 0; n < 16; n++)
        if (threadIdx.x % 8 < 2 && threadIdx.x % 32 / 8 == n % 4)
            ((volatile unsigned *)out)[threadIdx.x] = n;
}

__global__ void pairs_read(unsigned *out, const unsigned *in)
{
    if (__ldcg(in + threadIdx.x * 8) == 7)
        out[0] = 1;
}

__global__ void one_word(unsigned *out) { out[8 * threadIdx.x] = 1; }

__global__ void four_words(unsigned *out)
{
    for (unsigned n = 0; n < 4; n++)
        ((volatile unsigned *)out)[8 * threadIdx.x + n] = n;
}

// Two stores of each of eight warps to a sector of its own, half of them at home afar: one write each.
__global__ void with_gap(unsigned *out)
{
    volatile unsigned *own = out + threadIdx.x;
    if (threadIdx.x % 32 == 0)
        own[0] = own[2] = 1;
}

int main()
{
    unsigned *out, *row, *pair, *word;
    OK(cudaMalloc(&out, 4));
    OK(cudaMalloc(&row, 3 * 4 * APART));
    OK(cudaMalloc(&pair, 4 * 1024));
    OK(cudaMalloc(&word, 4 * 256));
    rows<<<1, 32 * ROWS>>>(row);
    rows_read<<<1, 1024>>>(out, row);
    pairs<<<1, 1024>>>(pair);
    pairs_read<<<1, 128>>>(out, pair);
    one_word<<<1, 32>>>(word);
    four_words<<<1, 32>>>(word);
    with_gap<<<1, 256>>>(word);
    OK(cudaDeviceSynchronize());
    for (unsigned *p : { out, row, pair, word })
        OK(cudaFree(p));
    return 0;
}
