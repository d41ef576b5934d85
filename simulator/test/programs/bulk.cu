// expect: exit 0
// counts: scale l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum 20384
// counts: scale l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum 20384
// counts: scale l1tex__t_sectors_pipe_tma_mem_global_op_ld.sum 637
// counts: scale l1tex__t_sectors_pipe_tma_mem_global_op_st.sum 637
// counts: scale sm__inst_executed_pipe_tma.sum 15
// counts: scale l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 0
// counts: add l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red.sum 3072
// Copies in bulk: an array of tiles through shared memory, two at a time, each waited for at an mbarrier, changed and copied back
// in bulk; the last one's size is what is left. Then a ring of tiles; blocks of a cluster
// that copy what the other wrote; and blocks that add theirs to one array.
#include "check.h"

enum { TILE = 1024, TILES = 5, THREADS = 128, BLOCKS = 3 };
typedef unsigned long long u64;

__device__ unsigned at(void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(u64 *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

__device__ void load(int *to, const int *from, int bytes, u64 *b)
{
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(at(b)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}

__device__ void wait(u64 *b, int phase)
{
    unsigned over = 0;
    while (!over)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(over) : "r"(at(b)), "r"(phase) : "memory");
}

__global__ void scale(int *out, const int *in, int n)
{
    __shared__ alignas(16) int tile[2][TILE];
    __shared__ u64 full[2];
    if (threadIdx.x == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
        fence();
        load(tile[0], in, TILE * sizeof *in, &full[0]);
    }
    __syncthreads();
    for (int i = 0; i < TILES; i++) {
        int size = i + 1 < TILES ? TILE : n - i * TILE, next = i + 2 < TILES ? TILE : n - (i + 1) * TILE;
        if (threadIdx.x == 0 && i + 1 < TILES) {
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            load(tile[(i + 1) % 2], in + (i + 1) * TILE, next * sizeof *in, &full[(i + 1) % 2]);
        }
        wait(&full[i % 2], i / 2 % 2);
        for (int k = threadIdx.x; k < size; k += THREADS) tile[i % 2][k] *= 3;
        fence();
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                         :: "l"(out + i * TILE), "r"(at(tile[i % 2])), "r"(size * 4) : "memory");
            commit();
        }
    }
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Copies of nothing, as CUB's merge has them: an H200 takes any address for them, and there is nothing to wait for.
__global__ void nothing(int *out)
{
    __shared__ alignas(16) int s[4];
    __shared__ u64 full;
    init(&full, 1);
    fence();
    load(s + 1, nullptr, 0, &full);
    wait(&full, 0);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(out + 1), "r"(at(s + 3)), "r"(0) : "memory");
    *out = 7;
}

// One warp has tiles brought, the others use them: they tell it by mbarriers alone when a place is free again.
__global__ void ring(int *sums, const int *in)
{
    enum { PLACES = 3, ROUNDS = 10 };
    __shared__ alignas(16) int tile[PLACES][THREADS];
    __shared__ u64 full[PLACES], empty[PLACES];
    int t = threadIdx.x, sum = 0;
    if (t < PLACES) {
        init(&full[t], 1);
        init(&empty[t], THREADS - 32);
        fence();
    }
    __syncthreads();
    for (int r = 0; r < ROUNDS; r++) {
        int place = r % PLACES, phase = r / PLACES;
        if (t == 0) {
            if (phase) wait(&empty[place], (phase - 1) % 2);
            load(tile[place], in + 4 * r, sizeof tile[place], &full[place]);
        } else if (t >= 32) {
            wait(&full[place], phase % 2);
            sum += tile[place][t] * (r + 1);
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(at(&empty[place])) : "memory");
        }
    }
    sums[t] = sum;
}

// Each block of a cluster writes what the other copies.
__global__ void __cluster_dims__(2) across(int *out)
{
    __shared__ alignas(16) int mine[THREADS];
    unsigned rank, to;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(at(&mine[threadIdx.x])), "r"(1 - rank));
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(to), "r"(threadIdx.x * 10 + rank) : "memory");
    asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (threadIdx.x) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(out + rank * THREADS), "r"(at(mine)), "r"((int)sizeof mine) : "memory");
    commit();
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void add(int *sum, float *most)
{
    __shared__ alignas(16) int mine[THREADS];
    __shared__ alignas(16) float reals[THREADS];
    mine[threadIdx.x] = threadIdx.x * (blockIdx.x + 1);
    reals[threadIdx.x] = 0.5f + blockIdx.x;
    fence();
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" :: "l"(sum), "r"(at(mine)), "r"((int)sizeof mine) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" :: "l"(most), "r"(at(reals)), "r"((int)sizeof reals) : "memory");
    commit();
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

int main()
{
    static int host[TILES * TILE], got[TILES * TILE];
    float reals[THREADS];
    int *in, *out, n = TILES * TILE - 24;
    for (int i = 0; i < n; i++) host[i] = i * 11 % 1009;
    OK(cudaMalloc(&in, n * sizeof *in));
    OK(cudaMalloc(&out, n * sizeof *out));
    OK(cudaMemcpy(in, host, n * sizeof *in, cudaMemcpyHostToDevice));
    scale<<<1, THREADS>>>(out, in, n);
    OK(cudaMemcpy(got, out, n * sizeof *out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(got[i] == 3 * host[i]);
    nothing<<<1, 1>>>(out);
    OK(cudaMemcpy(got, out, sizeof *out, cudaMemcpyDeviceToHost));
    CHECK(got[0] == 7);
    ring<<<1, THREADS>>>(out, in);
    OK(cudaMemcpy(got, out, THREADS * sizeof *out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < THREADS; i++) {
        int due = 0;
        for (int r = 0; r < 10 && i >= 32; r++) due += host[4 * r + i] * (r + 1);
        CHECK(got[i] == due);
    }
    across<<<2, THREADS>>>(out);
    OK(cudaMemcpy(got, out, 2 * THREADS * sizeof *out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 2 * THREADS; i++) CHECK(got[i] == i % THREADS * 10 + (i < THREADS));
    OK(cudaMemset(out, 0, n * sizeof *out));
    add<<<BLOCKS, THREADS>>>(out, (float *)out + THREADS);
    OK(cudaMemcpy(got, out, THREADS * sizeof *out, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(reals, out + THREADS, sizeof reals, cudaMemcpyDeviceToHost));
    for (int i = 0; i < THREADS; i++) CHECK(got[i] == i * 6 && reals[i] == 4.5f);
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
