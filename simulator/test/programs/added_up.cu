// expect: exit 0
// counts: one ~lts__t_sectors_op_atom.sum 96
// counts: one_of_64_bits ~lts__t_sectors_op_atom.sum 96
// counts: one_by_inc ~lts__t_sectors_op_atom.sum 96
// counts: one_for_the_block ~lts__t_sectors_op_atom.sum 96
// counts: one_in_a_loop ~lts__t_sectors_op_atom.sum 192
// counts: some_of_all ~lts__t_sectors_op_atom.sum 96
// counts: some_of_half ~lts__t_sectors_op_atom.sum 1536
// counts: some_of_64_bits ~lts__t_sectors_op_atom.sum 3072
// counts: by_warp ~lts__t_sectors_op_atom.sum 3072
// counts: by_data ~lts__t_sectors_op_atom.sum 3072
// counts: up_to_a_limit ~lts__t_sectors_op_atom.sum 3072
// counts: added ~lts__t_sectors_op_red.sum 96
// counts: largest ~lts__t_sectors_op_red.sum 96
// counts: largest_of_64_bits ~lts__t_sectors_op_red.sum 3072
// counts: added_by_data ~lts__t_sectors_op_red.sum 3072
// Lanes that mean one word come to L2 as one where the compiler sees that they do, and has an instruction for it; else each by
// itself. (For each lookup at an atomic's home L2 counts half of one more.)
#include "check.h"

enum { THREADS = 256, BLOCKS = 8 };

#define KERNEL(name, operation) __global__ void name(unsigned *word, const unsigned *in, unsigned *out) \
    { unsigned i = blockIdx.x * THREADS + threadIdx.x, some = in[i]; out[i] = operation; }
#define REDUCTION(name, operation) __global__ void name(unsigned *word, const unsigned *in, unsigned *) \
    { unsigned some = in[blockIdx.x * THREADS + threadIdx.x]; operation; }
typedef unsigned long long wide;

KERNEL(one, atomicAdd(word, 1))
KERNEL(one_of_64_bits, atomicAdd((wide *)word, 1ull))
KERNEL(one_by_inc, atomicInc(word, ~0u))
KERNEL(one_for_the_block, atomicAdd(word + blockIdx.x, blockIdx.x))
KERNEL(some_of_all, atomicAdd(word, some))
KERNEL(some_of_half, threadIdx.x % 2 ? atomicAdd(word, some) : 0)
KERNEL(some_of_64_bits, atomicAdd((wide *)word, (wide)some))
KERNEL(by_warp, atomicAdd(word + threadIdx.x / 32, 1))
KERNEL(by_data, atomicAdd(word + some, 1))
KERNEL(up_to_a_limit, atomicInc(word, 5))
REDUCTION(added, atomicAdd(word, some))
REDUCTION(largest, atomicMax(word, some))
REDUCTION(largest_of_64_bits, atomicMax((wide *)word, (wide)some))
REDUCTION(added_by_data, atomicAdd(word + some, 1))

__global__ void one_in_a_loop(unsigned *word, const unsigned *, unsigned *out)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    for (unsigned k = 0; k < 2; k++)
        out[i] = atomicAdd(word + k, 1);
}

int main()
{
    unsigned *word, *in, *out;
    OK(cudaMalloc(&word, BLOCKS * 4));
    OK(cudaMalloc(&in, BLOCKS * THREADS * 4));
    OK(cudaMalloc(&out, BLOCKS * THREADS * 4));
    OK(cudaMemset(word, 0, BLOCKS * 4));
    OK(cudaMemset(in, 0, BLOCKS * THREADS * 4));
    void (*const kernels[])(unsigned *, const unsigned *, unsigned *) = {
        one, one_of_64_bits, one_by_inc, one_for_the_block, one_in_a_loop, some_of_all, some_of_half, some_of_64_bits, by_warp, by_data,
        up_to_a_limit, added, largest, largest_of_64_bits, added_by_data,
    };
    for (auto *kernel : kernels) {
        kernel<<<BLOCKS, THREADS>>>(word, in, out);
        OK(cudaDeviceSynchronize());
    }
    OK(cudaFree(word));
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
