// expect: exit 0
// build: -gencode arch=compute_90,code=[compute_90,sm_90]
// counts: all launch__thread_count 16384
// counts: all launch__busy_thread_count 16384
// counts: idle_half launch__thread_count 16384
// counts: idle_half launch__busy_thread_count 8192
// counts: odd_blocks launch__busy_thread_count 8192
// counts: some_warps launch__busy_thread_count 10240
// counts: lane_of_each_warp launch__busy_thread_count 512
// counts: half_of_each_warp launch__busy_thread_count 8192
// counts: half_reads_the_same launch__busy_thread_count 32768
// counts: different_places launch__busy_thread_count 16384
// counts: many_accesses launch__busy_thread_count 16384
// counts: computes launch__busy_thread_count 0
// counts: reads_constants launch__busy_thread_count 0
// counts: half_reads_constants launch__busy_thread_count 0
// counts: in_shared_memory launch__busy_thread_count 4096
// counts: in_local_memory launch__busy_thread_count 4096
// counts: in_registers launch__busy_thread_count 0
// counts: adds launch__busy_thread_count 1
// counts: leaves_one_by_one launch__busy_thread_count 992
// counts: copies_to_shared launch__busy_thread_count 8
// counts: polls launch__busy_thread_count 2
// counts: all launch__work_of_a_thread.sum 2768896
// counts: idle_half launch__work_of_a_thread.sum 5537792
// counts: many_accesses launch__work_of_a_thread.sum 107495424
// counts: lane_of_each_warp launch__work_of_a_thread.sum 36227072
// counts: in_shared_memory launch__work_of_a_thread.sum 6553600
// counts: one_warp_for_all launch__busy_thread_count 16384
// counts: one_warp_for_all launch__work_of_a_thread.sum 5140886496
// counts: polls launch__work_of_a_thread.sum 119094
//
// Which threads access memory, of 64 blocks of 256 threads where nothing else is said. Their work: the launch's instructions of
// threads (13 of each of 16,384 threads in `all`), times what of them falls to each that shares the sectors.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != cudaSuccess) return __LINE__;                                                \
    } while (0)

enum { BLOCKS = 64, THREADS = 256, COUNT = BLOCKS * THREADS, PAGES = 4096 };
static const int never = 12345; // a result that no thread gets

static __device__ int index() { return blockIdx.x * THREADS + threadIdx.x; }

__global__ void all(int *out, const int *in) { out[index()] = in[index()]; }

__global__ void idle_half(int *out, const int *in)
{
    if (index() >= COUNT / 2) return;
    out[index()] = in[index()];
}

// The blocks of both kinds take turns in a slot.
__global__ void odd_blocks(int *out, const int *in)
{
    if (blockIdx.x % 2 == 0) return;
    out[index()] = in[index()];
}

__global__ void some_warps(int *out, const int *in)
{
    if (threadIdx.x >= 160) return;
    out[index()] = in[index()];
}

__global__ void lane_of_each_warp(int *out)
{
    if (threadIdx.x % 32 == 7) out[index() / 32] = 1;
}

__global__ void half_of_each_warp(int *out, const int *in)
{
    if (threadIdx.x % 32 >= 16) out[index()] = in[index()];
}

// What several blocks have read is not looked at closely again (simulator/checks/race.c): here each
// piece of 8 KiB is read by 128 blocks. Every lane has its address, also those that do not read.
static __device__ const int *in_pages(const int *of)
{
    const int *at = of + index() / 32 * 16 % PAGES + threadIdx.x % 16;
    asm volatile("" : "+l"(at));
    return at;
}

__global__ void half_reads_the_same(int *out, const int *in)
{
    const int *at = in_pages(in);
    if (threadIdx.x % 32 >= 16 && *at == never) out[index()] = 1;
}

// No lane makes all accesses, and each makes one.
__global__ void different_places(int *out, const int *in)
{
    if (threadIdx.x % 2) atomicAdd(out + index(), 1);
    else if (threadIdx.x % 4) out[index()] = in[0];
    else out[index()] = 5;
}

__global__ void many_accesses(int *out, const int *in)
{
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += in[(index() + 32 * k) % COUNT];
    out[index()] = sum;
}

// The first warp makes all accesses to global memory but three loads, of 4 sectors each. The others use shared memory alone.
__global__ void one_warp_for_all(int *out, const int *in)
{
    __shared__ volatile int x[THREADS];
    x[threadIdx.x] = 0;
    if (blockIdx.x && blockIdx.x < 4 && threadIdx.x < 32 && in[index()] == never) out[index()] = 1;
    if (index() >= 32) return;
    for (int i = index(); i < COUNT; i += 32) out[i] = in[i];
}

static __device__ int collatz(int x)
{
    int steps = 0;
    for (; x > 1 && steps < 50; steps++) x = x % 2 ? 3 * x + 1 : x / 2;
    return steps;
}

__global__ void computes(int *out)
{
    if (collatz(index()) == never) out[index()] = 1;
}

__constant__ int constants[PAGES];

__global__ void reads_constants(int *out)
{
    if (constants[threadIdx.x] == never) out[index()] = 1;
}

__global__ void half_reads_constants(int *out)
{
    unsigned long long at;
    int x = 0;
    asm volatile("cvta.to.const.u64 %0, %1;" : "=l"(at) : "l"(in_pages(constants)));
    if (threadIdx.x % 32 < 16) asm volatile("ld.const.u32 %0, [%1];" : "=r"(x) : "l"(at));
    if (x == never) out[index()] = 1;
}

// The first two warps of each block.
__global__ void in_shared_memory(int *out)
{
    __shared__ int x[64];
    if (threadIdx.x >= 64) return;
    x[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (x[63 - threadIdx.x] == never) out[index()] = 1;
}

__global__ void in_local_memory(int *out, int n)
{
    int words[64];
    if (threadIdx.x < 192) return;
    for (int k = 0; k < n; k++) words[k] = k + n;
    if (words[threadIdx.x % n] == never) out[index()] = 1;
}

// Local memory of the PTX alone: ptxas keeps the word in a register.
__global__ void in_registers(int *out)
{
    int x;
    asm("{ .local .align 4 .b32 word;\n\t"
        "st.local.u32 [word], %1;\n\t"
        "ld.local.u32 %0, [word]; }"
        : "=r"(x)
        : "r"(index()));
    if (x == COUNT + never) out[index()] = 1;
}

__global__ void adds(int *out)
{
    if (index() == 77) atomicAdd(out, 1);
}

// Of each warp lane l leaves after l rounds, the first of them at once.
__global__ void leaves_one_by_one(int *out)
{
    for (int k = 0;; k++) {
        if (threadIdx.x % 32 <= k) return;
        atomicAdd(out + threadIdx.x, 1);
    }
}

__global__ void copies_to_shared(const int *in)
{
    __shared__ int x[32];
    if (threadIdx.x >= 8) return;
    __pipeline_memcpy_async(x + threadIdx.x, in + threadIdx.x, sizeof *x);
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

__global__ void polls(volatile int *flag)
{
    if (threadIdx.x) return;
    if (blockIdx.x) *flag = 1;
    else
        while (!*flag) {}
}

int main()
{
    int *in, *out;
    OK(cudaMalloc(&in, COUNT * sizeof *in));
    OK(cudaMalloc(&out, COUNT * sizeof *out));
    OK(cudaMemset(in, 0, COUNT * sizeof *in));
    OK(cudaMemset(out, 0, COUNT * sizeof *out));
    all<<<BLOCKS, THREADS>>>(out, in);
    idle_half<<<BLOCKS, THREADS>>>(out, in);
    odd_blocks<<<BLOCKS, THREADS>>>(out, in);
    some_warps<<<BLOCKS, THREADS>>>(out, in);
    lane_of_each_warp<<<BLOCKS, THREADS>>>(out);
    half_of_each_warp<<<BLOCKS, THREADS>>>(out, in);
    half_reads_the_same<<<4 * BLOCKS, THREADS>>>(out, in);
    different_places<<<BLOCKS, THREADS>>>(out, in);
    many_accesses<<<BLOCKS, THREADS>>>(out, in);
    one_warp_for_all<<<BLOCKS, THREADS>>>(out, in);
    computes<<<BLOCKS, THREADS>>>(out);
    reads_constants<<<BLOCKS, THREADS>>>(out);
    half_reads_constants<<<4 * BLOCKS, THREADS>>>(out);
    in_shared_memory<<<BLOCKS, THREADS>>>(out);
    in_local_memory<<<BLOCKS, THREADS>>>(out, 32);
    in_registers<<<BLOCKS, THREADS>>>(out);
    adds<<<BLOCKS, THREADS>>>(out);
    leaves_one_by_one<<<1, 1024>>>(out);
    copies_to_shared<<<1, 32>>>(in);
    OK(cudaMemset(out, 0, sizeof *out));
    polls<<<2, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
