// What an H200's L2 writes back of what a kernel has written: after a while, when it is read again, where it lies in rows that are apart,
// and of local memory (shortfalls.md):
//
//     nvcc -O3 -arch=sm_90 waiting.cu -o waiting
//     ncu --cache-control all --metrics dram__bytes_read.sum,dram__bytes_write.sum ./waiting
//     ncu --cache-control all --metrics lts__t_sectors_lookup_miss.sum ./waiting
//     ncu --cache-control all --metrics lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum ./waiting
//
// It prints each launch: kernel, MB written, and `more`; all of them three times. waiting.txt has the medians that ncu counted.
#include "kernels/exercise.h"

enum { MB = 1 << 20, SMS = 132, THREADS = 256, BLOCKS = SMS * 8, OTHER = 256 * MB / 16 };

static __device__ unsigned me() { return blockIdx.x * blockDim.x + threadIdx.x; }

static __device__ void write(uint4 *out, unsigned n)
{
    for (unsigned i = me(); i < n; i += gridDim.x * blockDim.x)
        out[i] = make_uint4(i, i, i, i);
    __syncthreads();
}

static __device__ unsigned read(const uint4 *in, unsigned n, unsigned times)
{
    unsigned sum = 0;
    for (unsigned k = 0; k < times; k++)
        for (unsigned i = me(); i < n; i += gridDim.x * blockDim.x)
            sum += __ldcg(in + i).x;
    return sum;
}

static __device__ void keep(uint4 *out, unsigned sum)
{
    if (sum == 1)
        out->x = sum;
}

static __device__ unsigned long long now()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
}

KERNEL write_and_wait(uint4 *out, unsigned n, unsigned ns)
{
    write(out, n);
    for (unsigned long long begin = now(); now() - begin < ns; )
        ;
}

KERNEL write_and_read(uint4 *out, unsigned n, unsigned times)
{
    write(out, n);
    keep(out, read(out, n, times));
}

KERNEL write_and_read_8_mb(uint4 *out, unsigned n, unsigned times)
{
    write(out, n);
    keep(out, read(out, 8 * MB / 16, times));
}

KERNEL read_write_and_read_8_mb(uint4 *out, unsigned n, unsigned times)
{
    unsigned sum = read(out + OTHER, 8 * MB / 16, 1);
    __syncthreads();
    write(out, n);
    keep(out, sum + read(out + OTHER, 8 * MB / 16, times));
}

// A warp writes 32 lines in a row; the next one's begin so many lines on.
KERNEL write_rows(uint4 *out, unsigned, unsigned lines)
{
    unsigned *row = (unsigned *)out + (size_t)(me() / 32) * lines * 32;
    for (unsigned k = 0; k < 32; k++)
        row[k * 32 + threadIdx.x % 32] = k;
}

template <int WORDS>
static __device__ void local(uint4 *out, unsigned one)
{
    unsigned own[WORDS];
#pragma unroll 1
    for (unsigned k = 0; k < WORDS; k++)
        own[k * one] = k + me();
    keep(out, own[(one + threadIdx.x) % WORDS] == 12345678);
}

KERNEL local_16_words(uint4 *out, unsigned, unsigned one) { local<16>(out, one); }
KERNEL local_24_words(uint4 *out, unsigned, unsigned one) { local<24>(out, one); }
KERNEL local_28_words(uint4 *out, unsigned, unsigned one) { local<28>(out, one); }
KERNEL local_32_words(uint4 *out, unsigned, unsigned one) { local<32>(out, one); }
KERNEL local_40_words(uint4 *out, unsigned, unsigned one) { local<40>(out, one); }
KERNEL local_64_words(uint4 *out, unsigned, unsigned one) { local<64>(out, one); }

static uint4 *out;

static void launch(const char *name, void (*kernel)(uint4 *, unsigned, unsigned), unsigned size, unsigned more)
{
    printf("%s %u %u\n", name, size, more);
    kernel<<<BLOCKS, THREADS>>>(out, size * MB / 16, more);
    OK(cudaGetLastError());
}

#define LAUNCH(kernel, size, more) launch(#kernel, kernel, size, more)

int main()
{
    out = output<uint4>((1 << 30) / sizeof *out);
    for (int round = 0; round < 3; round++) {
        for (unsigned size : { 24, 32, 40 })
            for (unsigned ns : { 0, 1000, 4000, 16000, 64000 })
                LAUNCH(write_and_wait, size, ns);
        for (unsigned size : { 24, 28, 32, 40 })
            for (unsigned times : { 0, 1, 2, 4 })
                LAUNCH(write_and_read, size, times);
        for (unsigned times : { 1, 4, 16 })
            LAUNCH(write_and_read_8_mb, 32, times);
        for (unsigned times : { 1, 4, 16 })
            LAUNCH(read_write_and_read_8_mb, 32, times);
        for (unsigned lines : { 32, 33, 40, 48, 64, 128, 256, 264, 272, 288, 320, 384, 512 })
            LAUNCH(write_rows, 33, lines);
        LAUNCH(local_16_words, 17, 1);
        LAUNCH(local_24_words, 26, 1);
        LAUNCH(local_28_words, 30, 1);
        LAUNCH(local_32_words, 34, 1);
        LAUNCH(local_40_words, 42, 1);
        LAUNCH(local_64_words, 68, 1);
    }
    OK(cudaDeviceSynchronize());
}
