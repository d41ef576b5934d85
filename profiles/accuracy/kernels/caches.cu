// How much L2 holds, when what it holds goes to DRAM, what it does with sectors that are written in part; what L1 holds,
// and what it does with stores and with local memory. Each kernel does one thing to one cache.
#include "exercise.h"

enum { MB = 1 << 20, SMS = 132, THREADS = 256, BLOCKS = SMS * 8, DRAWS = 1 << 20, BLOCK = 1024 };

static __device__ unsigned first() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ unsigned all() { return gridDim.x * blockDim.x; }

// ---- L2: whole sectors. `n` is in 16 bytes

static __device__ void write(uint4 *out, unsigned n)
{
    for (unsigned i = first(); i < n; i += all())
        out[i] = make_uint4(i, i, i, i);
}

static __device__ unsigned read(const uint4 *in, unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = first(); i < n; i += all())
        sum += __ldcg(in + i).x;
    return sum;
}

KERNEL write_16_mb(uint4 *out) { write(out, 16 * MB / 16); }
KERNEL write_48_mb(uint4 *out) { write(out, 48 * MB / 16); }

KERNEL copy_48_mb(uint4 *out, const uint4 *in)
{
    for (unsigned i = first(); i < 48 * MB / 16; i += all())
        out[i] = __ldcg(in + i);
}

static __device__ void read_twice(uint4 *out, const uint4 *in, unsigned n)
{
    unsigned sum = read(in, n);
    if (sum + read(in, n) == 1)
        out[0].x = sum;
}

KERNEL read_twice_24_mb(uint4 *out, const uint4 *in) { read_twice(out, in, 24 * MB / 16); }
KERNEL read_twice_48_mb(uint4 *out, const uint4 *in) { read_twice(out, in, 48 * MB / 16); }

static __device__ void write_then_read(uint4 *out, uint4 *to, unsigned n)
{
    write(to, n);
    __syncthreads();
    if (read(to, n) == 1)
        out[0].x = 1;
}

KERNEL write_then_read_24_mb(uint4 *out, uint4 *to) { write_then_read(out, to, 24 * MB / 16); }
KERNEL write_then_read_48_mb(uint4 *out, uint4 *to) { write_then_read(out, to, 48 * MB / 16); }

// ---- L2: parts of sectors

KERNEL write_word_of_sector(unsigned *out) { out[8 * first()] = 1; }
KERNEL write_word_of_line(unsigned *out) { out[32 * first()] = 1; }
KERNEL write_half_sectors(uint4 *out) { out[2 * first()] = make_uint4(1, 2, 3, 4); }

// The other half comes when all first halves have been written.
KERNEL rewrite_half_sectors(uint4 *out)
{
    for (unsigned half = 0; half < 2; half++)
        for (unsigned i = first(); i < 16 * MB / 32; i += all())
            out[2 * i + half] = make_uint4(1, 2, 3, 4);
}

KERNEL write_then_read_words(unsigned *out)
{
    unsigned sum = 0;
    for (unsigned i = first(); i < 16 * MB / 32; i += all())
        out[8 * i] = 1;
    __syncthreads();
    for (unsigned i = first(); i < 16 * MB / 32; i += all())
        sum += __ldcg(out + 8 * i + 1);
    if (sum == 1)
        out[0] = sum;
}

KERNEL scatter_2_mb(unsigned *out) { out[mix(first()) % (2 * MB / 4)] = 1; }
KERNEL scatter_32_mb(unsigned *out) { out[mix(first()) % (32 * MB / 4)] = 1; }
KERNEL scatter_sectors(uint4 *out) { out[mix(first() / 2) % (8 * MB / 32) * 2 + first() % 2] = make_uint4(1, 2, 3, 4); }

// ---- L1: a block on each multiprocessor reads its own words in order, and then whole lines at random

static __device__ void reread(unsigned *out, const unsigned *in, unsigned words)
{
    const unsigned *own = in + blockIdx.x * words;
    unsigned sum = 0, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned i = threadIdx.x; i < words; i += BLOCK)
        sum += own[i];
    __syncthreads();
    for (unsigned r = 0; r < 64; r++)
        sum += own[(mix(r * 37 + warp * 1009) * 32 + lane) % words];
    if (sum == 1)
        *out = sum;
}

KERNEL reread_128_kb(unsigned *out, const unsigned *in) { reread(out, in, 128 * 256); }
KERNEL reread_192_kb(unsigned *out, const unsigned *in) { reread(out, in, 192 * 256); }
KERNEL reread_240_kb(unsigned *out, const unsigned *in) { reread(out, in, 240 * 256); }

KERNEL store_then_load(unsigned *out, unsigned *to)
{
    enum { WORDS = 64 * 256 };
    unsigned *own = to + blockIdx.x * WORDS, sum = 0;
    for (unsigned i = threadIdx.x; i < WORDS; i += BLOCK)
        own[i] = i;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < WORDS; i += BLOCK)
        sum += own[i ^ 32];
    if (sum == 1)
        *out = sum;
}

// ---- Local memory: 32 words a thread, written in order, and then loaded or stored at random, or by all lanes alike

template <bool LOADS, bool STORES, bool ALIKE>
static __device__ void local(unsigned *out, unsigned one)
{
    unsigned own[32], i = first(), at = mix(ALIKE ? i / 32 : i), sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 32; k++)
        own[k * one] = i + k;
#pragma unroll 1
    for (unsigned r = 0; r < 16; r++) {
        at = mix(at + r);
        if (LOADS)
            sum += own[at % 32];
        if (STORES)
            own[(at >> 8) % 32] = sum + r;
    }
    out[i] = sum + own[one];
}

KERNEL local_loads(unsigned *out, unsigned one) { local<true, false, false>(out, one); }
KERNEL local_stores(unsigned *out, unsigned one) { local<false, true, false>(out, one); }
KERNEL local_even(unsigned *out, unsigned one) { local<true, true, true>(out, one); }

static unsigned *in, *out;

int main(int count, char **arguments)
{
    in = input<unsigned>(48 * MB / 4, [](size_t) { return random_word(); });
    out = output<unsigned>(48 * MB / 4);
    return run_versions(count, arguments, {
        VERSION(write_16_mb, BLOCKS, THREADS, 0, (uint4 *)out),
        VERSION(write_48_mb, BLOCKS, THREADS, 0, (uint4 *)out),
        VERSION(copy_48_mb, BLOCKS, THREADS, 0, (uint4 *)out, (const uint4 *)in),
        VERSION(read_twice_24_mb, BLOCKS, THREADS, 0, (uint4 *)out, (const uint4 *)in),
        VERSION(read_twice_48_mb, BLOCKS, THREADS, 0, (uint4 *)out, (const uint4 *)in),
        VERSION(write_then_read_24_mb, BLOCKS, THREADS, 0, (uint4 *)in, (uint4 *)out),
        VERSION(write_then_read_48_mb, BLOCKS, THREADS, 0, (uint4 *)in, (uint4 *)out),
        VERSION(write_word_of_sector, 16 * MB / 32 / THREADS, THREADS, 0, out),
        VERSION(write_word_of_line, 32 * MB / 128 / THREADS, THREADS, 0, out),
        VERSION(write_half_sectors, 16 * MB / 32 / THREADS, THREADS, 0, (uint4 *)out),
        VERSION(rewrite_half_sectors, BLOCKS, THREADS, 0, (uint4 *)out),
        VERSION(write_then_read_words, BLOCKS, THREADS, 0, out),
        VERSION(scatter_2_mb, DRAWS / THREADS, THREADS, 0, out),
        VERSION(scatter_32_mb, DRAWS / THREADS, THREADS, 0, out),
        VERSION(scatter_sectors, DRAWS / THREADS, THREADS, 0, (uint4 *)out),
        VERSION(reread_128_kb, SMS, BLOCK, 0, out, in),
        VERSION(reread_192_kb, SMS, BLOCK, 0, out, in),
        VERSION(reread_240_kb, SMS, BLOCK, 0, out, in),
        VERSION(store_then_load, SMS, BLOCK, 0, in, out),
        VERSION(local_loads, BLOCKS, THREADS, 0, out, 1),
        VERSION(local_stores, BLOCKS, THREADS, 0, out, 1),
        VERSION(local_even, BLOCKS, THREADS, 0, out, 1),
    });
}
