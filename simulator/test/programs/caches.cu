// expect: exit 0
// counts: cold l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 0
// counts: cold lts__t_sectors_op_read.sum 48
// counts: cold lts__t_sectors_lookup_miss.sum 48
// counts: cold lts__t_sectors_lookup_hit.sum 64
// counts: cold dram__bytes_read.sum 1024
// counts: cold dram__bytes_write.sum 0
// counts: warm l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 0
// counts: warm lts__t_sectors_lookup_miss.sum 0
// counts: warm dram__bytes_read.sum 0
// counts: twice l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 32
// counts: twice lts__t_sectors_op_read.sum 32
// counts: twice l1tex__t_sector_hit_rate.pct 33.33
// counts: neighbours l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 12
// counts: together l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 12
// counts: halves l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 4
// counts: stored_together l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum 12
// counts: stored_together lts__t_sectors_op_write.sum 32
// counts: too_large l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 0
// counts: too_large lts__t_sectors_op_read.sum 81904
// counts: circle l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 2048
// counts: circle lts__t_sectors_op_read.sum 3072
// counts: granules dram__bytes_read.sum 2048
// counts: granules lts__t_sectors_op_read.sum 64
// counts: granules lts__t_sectors_lookup_miss.sum 96
// counts: past_l1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 0
// counts: past_l1 lts__t_sectors_op_read.sum 10
// counts: came_along dram__bytes_read.sum 0
// counts: came_along lts__t_sectors_lookup_miss.sum 0
// counts: stored_first l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum 31
// counts: stored_first lts__t_sectors_op_write.sum 14
// counts: stored_first dram__bytes_read.sum 0
// counts: added lts__t_sectors_op_red.sum 48
// counts: added l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum 32
// counts: stored_then_read lts__t_sectors_op_write.sum 48
// counts: stored_then_read lts__t_sectors_op_read.sum 32
// counts: stored_then_read lts__t_sectors_lookup_miss.sum 0
// counts: exchanged l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum 32
// counts: exchanged lts__t_sectors_op_atom.sum 64
// counts: one_of_each_line lts__t_sectors_op_red.sum 48
// counts: one_of_each_line lts__t_sectors_lookup_miss.sum 48
// counts: one_of_each_line lts__t_sectors_lookup_hit.sum 48
// counts: one_of_each_line dram__bytes_read.sum 1536
// counts: its_neighbours lts__t_sectors_lookup_miss.sum 16
// counts: its_neighbours lts__t_sectors_lookup_hit.sum 64
// counts: its_neighbours dram__bytes_read.sum 512
// counts: its_neighbours_again lts__t_sectors_lookup_miss.sum 0
// counts: copied lts__t_sectors_lookup_miss.sum 16
// counts: copied dram__bytes_read.sum 0
// counts: flush dram__bytes_write.sum 1024
// counts: by_all l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 0
// counts: by_all lts__t_sectors_op_read.sum 196
// counts: by_all dram__bytes_read.sum 128
// counts: stored_by_all lts__t_sectors_op_write.sum 800
// counts: stored_by_all lts__t_sectors_lookup_hit.sum 816
// counts: own l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum 4
// counts: drawn l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum 11187
// What loads find in the caches, each case worked out by hand. All blocks are on one SM, so all ask the same partition of
// L2. Every other line is at home in the other one, and looked up there as well; but a read only once, since then there is
// a copy (`twice` finds those of `cold`). The first line of `out` is such a line, and that of `in`. Of what hits, 16 in `cold`
// are look-ups that nobody asked for (l2.c): two for each 256 bytes.
#include "check.h"

__global__ void cold(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void warm(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x]; }

// The second load, of the next thread's word, finds the 32 sectors that the first brought. (One word lies beyond them.)
__global__ void twice(float *out, const float *in)
{
    float a = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = a + in[threadIdx.x ^ 1];
}

// The same by a warp of the same SM: four warps read one line.
__global__ void neighbours(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x % 32]; }

// With no store between; two warps the lower half of it and two the upper one; and stores.
__global__ void together(float *out, const float *in)
{
    float a = in[threadIdx.x % 32];
    __syncthreads();
    out[threadIdx.x] = a;
}

__global__ void halves(float *out, const float *in)
{
    float a = in[threadIdx.x / 32 % 2 * 16 + threadIdx.x % 16];
    __syncthreads();
    out[threadIdx.x] = a;
}

__global__ void stored_together(float *out) { out[threadIdx.x % 32] = 1; }

// A circle through 1 MB, more than any L1: read twice by one block, it is never there. Of the half of it that is at home
// afar, 16 sectors have been copied before.
__global__ void too_large(float *out, const float *in)
{
    float sum = 0;
    for (int i = threadIdx.x; i < 2 * 262144; i += 256) sum += in[i % 262144];
    out[threadIdx.x] = sum;
}

// One through 64 KB, which L1 holds: the second time all of it is there.
__global__ void circle(float *out, const float *in)
{
    float sum = 0;
    for (int i = threadIdx.x; i < 2 * 16384; i += 256) sum += in[i % 16384];
    out[threadIdx.x] = sum;
}

// One sector of every line: two of each miss, and come from DRAM, and from afar.
__global__ void granules(float *out, const float *in) { out[threadIdx.x] = in[32 * threadIdx.x]; }

__global__ void past_l1(float *out, volatile const float *in) { out[threadIdx.x] = in[threadIdx.x] + in[threadIdx.x]; }

// The others that came: all are there.
__global__ void came_along(float *out, const float *in) { out[threadIdx.x] = in[32 * threadIdx.x + 8]; }

// 32 stores to one line: all but the first find it. Of the first 25 L1 makes one write, of its four sectors, and of the others one, of three:
// the younger warps fall behind, but not all of them.
__global__ void stored_first(float *out)
{
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = 1;
}

// The store leaves copies of those lines that are at home afar.
__global__ void stored_then_read(float *out)
{
    out[threadIdx.x] = 1;
    __syncthreads();
    if (__ldcg(out + (threadIdx.x ^ 32)) == 7) out[0] = 1;
}

// The lanes of a sector have a word each.
__global__ void added(int *out) { atomicAdd(&out[threadIdx.x], 1); }
__global__ void exchanged(int *out) { if (atomicExch(out, threadIdx.x) == 1234567) out[1] = 1; }

// Atomics miss at home alone, on their way there they do not. Of the 16 lines that are at home here, two sectors of each miss; of those
// at home afar, one. (32 hits of the first two kernels are those that nobody asked for: of sixteen times 256 bytes.)
__global__ void one_of_each_line(int *in) { atomicAdd(&in[32 * threadIdx.x], 1); }
__global__ void its_neighbours(int *in) { atomicAdd(&in[32 * threadIdx.x + 8], 1); }
__global__ void its_neighbours_again(int *in) { atomicAdd(&in[32 * threadIdx.x + 8], 1); }

__global__ void copied(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x]; }

// 132 SMs want one line: 16 or 17 of a GPC, of which three at a time are asked for once: 48 requests of 4 sectors, and 4
// for the copy in the other partition.
__global__ void by_all(float *out, const float *in)
{
    if (in[threadIdx.x] != 0) out[threadIdx.x] = 1;
}

// Four SMs afar from the line, four at its home, and so on, the last four afar: 68 and 64. The first of four afar is looked up once
// more, where others have stored at home before it: 16 times.
__global__ void stored_by_all(float *out) { out[threadIdx.x] = 1; }

__global__ void own(int *out, int n)
{
    int words[8];
    for (int k = 0; k < 8; k++) words[k] = k + n;
    words[n] = 100;
    out[threadIdx.x] = words[n / 2];
}

// Of 256 KB of local memory, more than L1 holds, warps that fall behind find more when the others are done: all together would find 10,683.
__global__ void drawn(unsigned *out, unsigned one)
{
    unsigned words[64], sum = 0;
    #pragma unroll 1
    for (unsigned k = 0; k < 64; k++) words[k * one] = k;
    #pragma unroll 1
    for (unsigned r = 0; r < 16; r++) sum += words[(threadIdx.x * 37 + r) * 2654435761u >> 26];
    out[threadIdx.x] = sum;
}

// Reads more than L2 holds, so that what was changed in it has to be written: the last time, the 1 KB that `added` changed.
__global__ void flush(float *out, const float4 *in, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i].x;
    if (sum != 0) *out = sum;
}

int main()
{
    enum { MEGABYTE = 1 << 20, LARGE = 96 * MEGABYTE };
    static float host[256];
    float *in, *out;
    OK(cudaMalloc(&in, LARGE));
    OK(cudaMalloc(&out, MEGABYTE));
    OK(cudaMemset(in, 0, LARGE));
    OK(cudaMemset(out, 0, MEGABYTE));
    auto flushed = [&] { flush<<<264, 1024>>>(out, (float4 *)in + MEGABYTE / 16, (LARGE - MEGABYTE) / 16); };
    flushed();
    cold<<<1, 256>>>(out, in);
    warm<<<1, 256>>>(out, in);
    twice<<<1, 256>>>(out, in);
    neighbours<<<1, 128>>>(out, in);
    too_large<<<1, 256>>>(out, in);
    flushed();
    granules<<<1, 32>>>(out, in);
    past_l1<<<1, 32>>>(out, in);
    came_along<<<1, 32>>>(out, in);
    circle<<<1, 256>>>(out, in + MEGABYTE / 16);
    flushed();
    stored_first<<<1, 1024>>>(out);
    stored_then_read<<<1, 256>>>(out);
    added<<<1, 256>>>((int *)out);
    exchanged<<<1, 32>>>((int *)out);
    flushed();
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    copied<<<1, 256>>>(out, in);
    by_all<<<132, 32>>>(out, in + MEGABYTE / 8);
    stored_by_all<<<132, 32>>>(out);
    own<<<1, 32>>>((int *)out, 3);
    drawn<<<1, 1024>>>((unsigned *)out, 1);
    one_of_each_line<<<1, 32>>>((int *)in + MEGABYTE);
    its_neighbours<<<1, 32>>>((int *)in + MEGABYTE);
    its_neighbours_again<<<1, 32>>>((int *)in + MEGABYTE);
    together<<<1, 128>>>(out, in);
    halves<<<1, 128>>>(out, in);
    stored_together<<<1, 128>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
