// expect: exit 0
// counts: word_of_each dram__bytes_read.sum 0
// counts: word_of_each lts__t_sectors_op_write.sum 1536
// counts: next_words dram__bytes_read.sum 32768
// counts: all_words dram__bytes_read.sum 0
// counts: all_words_read dram__bytes_read.sum 0
// counts: rows dram__bytes_read.sum 0
// counts: rows_read dram__bytes_read.sum 0
// counts: too_many dram__bytes_read.sum 8681219
// counts: too_many dram__bytes_write.sum 4415316
// counts: too_many lts__t_sectors_op_write.sum 1065292
// counts: too_many lts__t_sectors_lookup_miss.sum 299784
// counts: too_many lts__t_sectors_lookup_hit.sum 790508
// counts: twice l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 8
// counts: twice l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 0
// counts: twice_kept l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 4
// counts: half_line l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum 2
// What L2 does with stores of less than a sector: it waits for the rest, and fetches it from DRAM when somebody reads the
// sector, or when more lines wait than it takes (on an H200 two or three of each of 21,903 sets). And what L1 makes of .cg.
#include "check.h"

enum { SECTORS = 1024, WORDS = 8 * SECTORS, MANY = 16 << 20 };

__global__ void word_of_each(unsigned *out) { out[8 * (blockIdx.x * 256 + threadIdx.x)] = 1; }

// Neither of the two sectors of a granule is there: all 1024 are fetched.
__global__ void next_words(unsigned *out, const unsigned *in)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    out[i] = __ldcg(in + 8 * i + 1);
}

__global__ void all_words(unsigned *out)
{
    for (unsigned n = 0; n < 8; n++)
        out[8 * (blockIdx.x * 256 + threadIdx.x) + n] = n;
}

__global__ void all_words_read(unsigned *out, const unsigned *in)
{
    if (__ldcg(in + 8 * (blockIdx.x * 256 + threadIdx.x)) == 1)
        out[0] = 1;
}

// Rows of 31 words: each brings the sectors at its ends in part, the next one the rest.
__global__ void rows(unsigned *out) { if (threadIdx.x % 32 < 31) out[threadIdx.x / 32 * 31 + threadIdx.x % 32] = 1; }
__global__ void rows_read(unsigned *out, const unsigned *in) { if (__ldcg(in + threadIdx.x * 2) == 7) out[0] = 1; }

// It completes 299,784 sectors. Of these it writes 278,860 back, but for what is under way when it ends, and the 1024 that
// word_of_each left; 20,924 stay, whose stores are the misses.
__global__ void too_many(unsigned *out) { out[8 * (blockIdx.x * 256 + threadIdx.x)] = 1; }

__global__ void twice(unsigned *out, const unsigned *in) { out[threadIdx.x] = __ldcg(in + threadIdx.x) + __ldcg(in + (threadIdx.x ^ 1)); }
__global__ void twice_kept(unsigned *out, const unsigned *in) { out[threadIdx.x] = __ldca(in + threadIdx.x) + __ldca(in + (threadIdx.x ^ 1)); }

// The second half of a line hits as soon as the first is there.
__global__ void half_line(unsigned *out)
{
    if (threadIdx.x < 16)
        out[threadIdx.x] = 1;
    __syncwarp();
    if (threadIdx.x >= 16)
        out[threadIdx.x] = 1;
}

static unsigned *make(size_t bytes)
{
    unsigned *device;
    OK(cudaMalloc(&device, bytes));
    return device;
}

int main()
{
    unsigned *a = make(4 * WORDS), *b = make(4 * WORDS), *c = make(8192), *out = make(4096), *in = make(1024), *many = make(MANY);
    OK(cudaMemset(in, 0, 1024));
    word_of_each<<<SECTORS / 256, 256>>>(a);
    next_words<<<SECTORS / 256, 256>>>(out, a);
    all_words<<<SECTORS / 256, 256>>>(b);
    all_words_read<<<SECTORS / 256, 256>>>(out, b);
    rows<<<1, 1024>>>(c);
    rows_read<<<1, 256>>>(out, c);
    twice<<<1, 32>>>(out, in);
    twice_kept<<<1, 32>>>(out, in);
    half_line<<<1, 32>>>(out);
    too_many<<<MANY / 32 / 256, 256>>>(many);
    OK(cudaDeviceSynchronize());
    for (unsigned *p : { a, b, c, out, in, many })
        OK(cudaFree(p));
    return 0;
}
