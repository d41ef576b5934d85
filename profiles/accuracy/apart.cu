// How evenly lines that are apart fill the sets of an H200's L2: what it misses and writes back of lines, or rows of them, that begin
// so many lines on from each other (shortfalls.md):
//
//     nvcc -O3 -arch=sm_90 apart.cu -o apart
//     for counters in dram__bytes_read.sum,dram__bytes_write.sum lts__t_sectors_lookup_miss.sum \
//                     lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum; do
//         ncu --cache-control all --metrics $counters ./apart
//     done
//
// It prints each launch: kernel, lines in a row, from row to row, and in all; all of them three times. apart.txt has the medians that
// ncu counted.
#include "kernels/exercise.h"

enum { SMS = 132, THREADS = 256, BLOCKS = SMS * 8, EIGHTHS = 8 };       // of a line: 16 bytes each

// Where the lines are.
struct Lines { unsigned row, stride, count; };

static __device__ unsigned me() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ size_t line(Lines l, unsigned n) { return (size_t)(n / l.row) * l.stride + n % l.row; }
static __device__ size_t eighth(Lines l, unsigned n) { return line(l, n / EIGHTHS) * EIGHTHS + n % EIGHTHS; }

static __device__ void write(uint4 *out, Lines l)
{
    for (unsigned n = me(); n < l.count * EIGHTHS; n += gridDim.x * blockDim.x)
        out[eighth(l, n)] = make_uint4(n, n, n, n);
}

static __device__ unsigned read(const uint4 *in, Lines l)
{
    unsigned sum = 0;
    for (unsigned n = me(); n < l.count * EIGHTHS; n += gridDim.x * blockDim.x)
        sum += __ldcg(in + eighth(l, n)).x;
    return sum;
}

static __device__ void keep(uint4 *out, unsigned sum)
{
    if (sum == 1)
        out->x = sum;
}

KERNEL write_words(uint4 *out, uint4 *, Lines l)
{
    for (unsigned n = me(); n < l.count; n += gridDim.x * blockDim.x)
        out[line(l, n) * EIGHTHS].x = n;
}

KERNEL write_lines(uint4 *out, uint4 *, Lines l) { write(out, l); }

KERNEL read_twice(uint4 *out, uint4 *, Lines l)
{
    unsigned sum = read(out, l);
    keep(out, sum + read(out, l));
}

KERNEL write_and_read(uint4 *out, uint4 *, Lines l)
{
    write(out, l);
    keep(out, read(out, l));
}

KERNEL copy_lines(uint4 *out, uint4 *in, Lines l)
{
    for (unsigned n = me(); n < l.count * EIGHTHS; n += gridDim.x * blockDim.x)
        out[eighth(l, n)] = in[eighth(l, n)];
}

static uint4 *out, *in;

static void launch(const char *name, void (*kernel)(uint4 *, uint4 *, Lines), unsigned blocks, unsigned threads, Lines l)
{
    printf("%s %u %u %u\n", name, l.row, l.stride, l.count);
    kernel<<<blocks, threads>>>(out, in, l);
    OK(cudaGetLastError());
}

#define LAUNCH(kernel, row, stride, count) launch(#kernel, kernel, BLOCKS, THREADS, { row, stride, count })

int main()
{
    enum { K = 1024, MOST_LINES = 384 * K, MOST_STRIDE = 512 };
    out = output<uint4>((size_t)MOST_LINES * MOST_STRIDE * EIGHTHS);
    in = output<uint4>((size_t)MOST_LINES * MOST_STRIDE * EIGHTHS);
    for (int round = 0; round < 3; round++) {
        for (unsigned stride : { 1, 2, 4, 8, 16, 32, 64, 128, 320, 512 }) {
            for (unsigned lines : { 16, 32, 48, 64, 96, 128, 192, 256 })
                LAUNCH(write_words, 1, stride, lines * K);
            for (unsigned lines : { 160, 192, 256, 320, 384 })
                LAUNCH(write_lines, 1, stride, lines * K);
            for (unsigned lines : { 192, 224, 256, 320, 384 })
                LAUNCH(read_twice, 1, stride, lines * K);
            for (unsigned lines : { 192, 224, 256 })
                launch("read_twice_by_one", read_twice, 1, 4 * THREADS, { 1, stride, lines * K });
            for (unsigned lines : { 192, 256, 320 })
                LAUNCH(write_and_read, 1, stride, lines * K);
            for (unsigned lines : { 128, 192, 256 })
                LAUNCH(copy_lines, 1, stride, lines * K);
        }
        for (unsigned row : { 16, 32 })
            for (unsigned stride : { 16, 32, 40, 48, 64, 128, 256, 320 }) {
                if (stride < row)
                    continue;
                for (unsigned lines : { 192, 256, 320 })
                    LAUNCH(write_lines, row, stride, lines * K);
                for (unsigned lines : { 224, 256, 320 })
                    LAUNCH(read_twice, row, stride, lines * K);
                for (unsigned lines : { 256, 320 })
                    LAUNCH(write_and_read, row, stride, lines * K);
            }
    }
    OK(cudaDeviceSynchronize());
}
