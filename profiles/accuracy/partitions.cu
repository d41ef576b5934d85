// What an H200's L2 holds, and what it writes back, over sizes, for a model of its two partitions (shortfalls.md):
//
//     nvcc -O3 -arch=sm_90 partitions.cu -o partitions
//     ncu --cache-control all --metrics dram__bytes_read.sum,dram__bytes_write.sum ./partitions
//     ncu --cache-control all --metrics lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_lookup_hit.sum,... ./partitions
//
// It prints each launch: kernel, what `size` and `more` are. partitions.txt has what ncu counted (driver 580.159.04).
#include "kernels/exercise.h"

enum { MB = 1 << 20, SMS = 132, THREADS = 256, BLOCKS = SMS * 8, DRAWS = 1 << 22 };

static __device__ unsigned all() { return gridDim.x * blockDim.x; }

// This thread, or the one so many blocks on, which is on another multiprocessor.
static __device__ unsigned first(unsigned blocks) { return (blockIdx.x + blocks) % gridDim.x * blockDim.x + threadIdx.x; }

static __device__ void write(uint4 *out, unsigned n, unsigned from)
{
    for (unsigned i = from; i < n; i += all())
        out[i] = make_uint4(i, i, i, i);
}

static __device__ unsigned read(const uint4 *in, unsigned n, unsigned from)
{
    unsigned sum = 0;
    for (unsigned i = from; i < n; i += all())
        sum += __ldcg(in + i).x;
    return sum;
}

static __device__ void keep(uint4 *out, unsigned sum)
{
    if (sum == 1)
        out->x = sum;
}

// ---- `n` is in 16 bytes; `more`: how many blocks on the second pass is

KERNEL read_twice(uint4 *out, const uint4 *in, unsigned n, unsigned more)
{
    unsigned sum = read(in, n, first(0));
    keep(out, sum + read(in, n, first(more)));
}

KERNEL read_thrice(uint4 *out, const uint4 *in, unsigned n, unsigned more)
{
    unsigned sum = read(in, n, first(0)) + read(in, n, first(more));
    keep(out, sum + read(in, n, first(2 * more)));
}

KERNEL write_once(uint4 *out, const uint4 *, unsigned n, unsigned) { write(out, n, first(0)); }

KERNEL write_twice(uint4 *out, const uint4 *, unsigned n, unsigned more)
{
    write(out, n, first(0));
    __syncthreads();
    write(out, n, first(more));
}

KERNEL write_thrice(uint4 *out, const uint4 *, unsigned n, unsigned more)
{
    write(out, n, first(0));
    __syncthreads();
    write(out, n, first(more));
    __syncthreads();
    write(out, n, first(more));
}

KERNEL write_then_read(uint4 *out, const uint4 *, unsigned n, unsigned more)
{
    write(out, n, first(0));
    __syncthreads();
    keep(out, read(out, n, first(more)));
}

KERNEL read_then_write(uint4 *out, const uint4 *, unsigned n, unsigned more)
{
    unsigned sum = read(out, n, first(0));
    __syncthreads();
    write(out, n, first(more));
    keep(out, sum);
}

KERNEL copy(uint4 *out, const uint4 *in, unsigned n, unsigned)
{
    for (unsigned i = first(0); i < n; i += all())
        out[i] = __ldcg(in + i);
}

// ---- `n` is in words

KERNEL copy_strided(float *out, const float *in, unsigned n, unsigned)
{
    unsigned i = first(0);
    out[i] = in[(size_t)i * 8 % n + i / (n / 8)];
}

// ---- `n` sectors, drawn from `more` MB

KERNEL gather(uint4 *out, const uint4 *in, unsigned n, unsigned more)
{
    unsigned sum = 0, sectors = more * (MB / 32);
    for (unsigned i = first(0); i < n; i += all())
        sum += __ldcg(in + 2 * (size_t)(mix(i) % sectors)).x;
    keep(out, sum);
}

KERNEL scatter(uint4 *out, const uint4 *, unsigned n, unsigned more)
{
    unsigned sectors = more * (MB / 32);
    for (unsigned i = first(0); i < 2 * n; i += all())
        out[2 * (size_t)(mix(i / 2) % sectors) + i % 2] = make_uint4(i, i, i, i);
}

// ---- `n` is in 16 bytes; `more`: MB of others in between

KERNEL read_write_read(uint4 *out, const uint4 *in, unsigned n, unsigned more)
{
    unsigned sum = read(in, n, first(0));
    __syncthreads();
    write(out, more * (MB / 16), first(0));
    __syncthreads();
    keep(out, sum + read(in, n, first(0)));
}

KERNEL write_read_read(uint4 *out, const uint4 *in, unsigned n, unsigned more)
{
    write(out, n, first(0));
    __syncthreads();
    unsigned sum = read(in, more * (MB / 16), first(0));
    __syncthreads();
    keep(out, sum + read(out, n, first(0)));
}

#define LAUNCH(kernel, blocks, threads, n, more, size)                                      \
    do {                                                                                    \
        printf("%s %u %u\n", #kernel, (unsigned)(size), (unsigned)(more));                  \
        kernel<<<blocks, threads>>>(out, in, n, more);                                      \
        OK(cudaGetLastError());                                                             \
        OK(cudaDeviceSynchronize());                                                        \
    } while (0)
#define SIZES(kernel, blocks, threads, more, ...) \
    for (unsigned mb : { __VA_ARGS__ }) LAUNCH(kernel, blocks, threads, mb * (MB / 16), more, mb)
#define EACH(kernel, more, ...) SIZES(kernel, BLOCKS, THREADS, more, __VA_ARGS__)

int main()
{
    uint4 *in, *out;
    OK(cudaMalloc(&in, 128 * MB));
    OK(cudaMalloc(&out, 128 * MB));
    OK(cudaMemset(in, 0, 128 * MB));
    OK(cudaMemset(out, 0, 128 * MB));
    EACH(read_twice, 0, 16, 24, 28, 32, 36, 40, 44, 48, 56, 64);
    EACH(read_twice, 1, 16, 20, 24, 28, 32, 36, 40, 48, 64);
    EACH(read_thrice, 1, 16, 20, 24, 28, 32, 40);
    EACH(write_once, 0, 8, 16, 20, 24, 28, 32, 36, 40, 48, 64, 96);
    EACH(write_twice, 0, 16, 20, 24, 28, 32, 36, 40, 48);
    EACH(write_twice, 1, 16, 24, 32, 40);
    EACH(write_thrice, 0, 24, 28, 32, 40);
    EACH(write_then_read, 0, 16, 24, 28, 32, 36, 40, 48, 64);
    EACH(write_then_read, 1, 16, 24, 28, 32, 40, 48);
    EACH(read_then_write, 0, 16, 24, 32, 40, 48);
    EACH(copy, 0, 8, 16, 20, 24, 32, 48, 64);
    for (unsigned mb : { 8, 16, 24, 32, 48 }) {
        printf("copy_strided %u 0\n", mb);
        copy_strided<<<mb * (MB / 4) / THREADS, THREADS>>>((float *)out, (const float *)in, mb * (MB / 4), 0);
        OK(cudaGetLastError());
        OK(cudaDeviceSynchronize());
    }
    for (unsigned from : { 8, 16, 20, 24, 28, 32, 40, 48, 64 })
        LAUNCH(gather, BLOCKS, THREADS, DRAWS, from, DRAWS * 32 / MB);
    for (unsigned to : { 8, 16, 20, 24, 28, 32, 40, 48 })
        LAUNCH(scatter, BLOCKS, THREADS, DRAWS / 2, to, DRAWS / 2 * 32 / MB);

    // By one or four multiprocessors alone, which leave most of the order to nobody's chance.
    for (unsigned blocks : { 1, 4 }) {
        printf("%u blocks:\n", blocks);
        SIZES(read_twice, blocks, 1024, 0, 8, 16, 20, 24, 28, 32, 40, 48);
    }
    printf("1 block:\n");
    SIZES(write_twice, 1, 1024, 0, 8, 16, 24, 32);
    printf("all blocks:\n");
    for (unsigned mb : { 8, 16, 24 })
        for (unsigned others : { 8, 16, 24, 32, 48 })
            LAUNCH(read_write_read, BLOCKS, THREADS, mb * (MB / 16), others, mb);
    for (unsigned mb : { 8, 16, 24 })
        for (unsigned others : { 8, 16, 24, 32, 48 })
            LAUNCH(write_read_read, BLOCKS, THREADS, mb * (MB / 16), others, mb);
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
