// The kernel that runs all of the programs: each warp goes through a list of its own.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" {
#include "races.h"
}

#define LOAD_1(space, address) u32 x; asm volatile("ld" space ".u8 %0, [%1];" : "=r"(x) : address : "memory"); NOTE(x)
#define LOAD_4(load, address) u32 x; asm volatile(load ".u32 %0, [%1];" : "=r"(x) : address : "memory"); NOTE(x)
#define LOAD_16(space, address) u32 x, y, z, w; asm volatile("ld" space ".v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : address : "memory"); \
    NOTE(x); NOTE(y); NOTE(z); NOTE(w)
#define STORE_1(space, address) asm volatile("st" space ".u8 [%0], %1;" :: address, "r"(v) : "memory")
#define STORE_4(store, address) asm volatile(store ".u32 [%0], %1;" :: address, "r"(v) : "memory")
#define STORE_16(space, address) asm volatile("st" space ".v4.u32 [%0], {%1, %2, %3, %4};" :: address, "r"(v), "r"(v + 1), "r"(v + 2), "r"(v + 3) : "memory")
#define AWAIT(load, address) u32 x; do asm volatile(load ".u32 %0, [%1];" : "=r"(x) : address : "memory"); while (x < v)
#define LOOK_AT_MBARRIER(look) asm volatile("{ .reg .pred over; again%=: " look " over, [%0], %1; @!over bra again%=; }" :: "r"(sa), "r"(v) : "memory")
#define RUN(instruction) asm volatile(instruction ::: "memory")
#define NOTE(x) if (p->how & SUMS) sum = sum * 33 + x

// Without flags, the blocks of a launch may be run beside each other by several threads of the simulator's.
template <bool FLAGS> __device__ constexpr bool has(enum what what, enum where where, enum scope scope)
{
    return FLAGS || (what <= STORE && where != RANK && scope == WEAK) || ((what == MEET || what == MEET_LANES) && scope == CTA);
}

__device__ void cluster_meets() { RUN("barrier.cluster.arrive; barrier.cluster.wait;"); }

template <bool FLAGS> __global__ void walk(const Op *ops, const u32 *first, u8 *global, u32 *sums, u32 cluster, const Mbarrier *mbarriers, u32 count)
{
    __shared__ alignas(16) u8 shared[AREA];
    const u32 lane = threadIdx.x % LANES, start = (u32)__cvta_generic_to_shared(shared);
    for (u32 n = threadIdx.x; n < AREA / 4; n += blockDim.x) ((u32 *)shared)[n] = 0;
    __syncthreads();
    if (FLAGS && threadIdx.x == 0)
        for (u32 n = 0; n < count; n++)
            if (mbarriers[n].block == blockIdx.x) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(start + mbarriers[n].at), "r"(mbarriers[n].count) : "memory");
    if (FLAGS && cluster) cluster_meets();
    else __syncthreads();
    u32 sum = 0;
    for (const Op *p = ops + first[blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES]; p->kind != KINDS; p++) {
        if (!(p->lanes >> lane & 1)) continue;
        const u32 at = p->base + lane * p->stride, v = p->value + (p->how & BY_LANE ? lane * 0x01010101u : 0), sa = start + at;
        const u64 ga = (u64)(global + at);
        u32 da = sa;
        if (FLAGS && cluster) asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(da) : "r"(sa), "r"(p->rank));
        switch (p->kind) {
#define OP(name, what, where, bytes, scope, order, ...) case name: if (has<FLAGS>(what, where, scope)) { __VA_ARGS__; } break;
#include "ops.def"
#undef OP
        }
    }
    if (FLAGS && cluster) cluster_meets();
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void check(cudaError_t error)
{
    if (!error) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

template <typename T> static T *give(const std::vector<T> &all)
{
    T *to;
    check(cudaMalloc(&to, (all.size() + 1) * sizeof(T)));
    check(cudaMemcpy(to, all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

static void launch(const Plan *p, const Op *ops, const u32 *first, u8 *global, u32 *sums, const Mbarrier *mbarriers)
{
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {};
    config.gridDim = p->blocks;
    config.blockDim = p->warps * LANES;
    config.attrs = attributes;
    if (p->cluster) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attributes[config.numAttrs++].val.clusterDim = { p->cluster, 1, 1 };
    }
    if (p->cooperative) {
        attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
        attributes[config.numAttrs++].val.cooperative = 1;
    }
    check(cudaLaunchKernelEx(&config, p->flags ? walk<true> : walk<false>, ops, first, global, sums, p->cluster, mbarriers, p->mbarriers));
    check(cudaDeviceSynchronize());
}

bool run_plan(const Plan *p, bool compare)
{
    const u32 threads = p->blocks * p->warps * LANES;
    std::vector<Op> list;
    std::vector<u32> begins;
    for (u32 w = 0; w < p->blocks * p->warps; w++) {
        begins.push_back((u32)list.size());
        for (u32 n = 0; n < p->count; n++)
            if (p->event[n].warp == w) list.push_back(p->event[n].op);
        list.push_back({ KINDS, ~0u });
    }
    std::vector<u32> sum(threads);
    std::vector<u8> byte(AREA);
    Op *ops = give(list);
    u32 *first = give(begins), *sums = give(sum);
    u8 *global = give(byte);
    Mbarrier *mbarriers = give(std::vector<Mbarrier>(p->mbarrier, p->mbarrier + p->mbarriers));
    launch(p, ops, first, global, sums, mbarriers);
    check(cudaMemcpy(sum.data(), sums, threads * sizeof sum[0], cudaMemcpyDeviceToHost));
    check(cudaMemcpy(byte.data(), global, AREA, cudaMemcpyDeviceToHost));
    for (void *what : { (void *)ops, (void *)first, (void *)sums, (void *)global, (void *)mbarriers }) check(cudaFree(what));
    bool same = true;
    for (u32 t = 0; t < threads; t++) same &= sum[t] == order_sum(t);
    for (u32 n = 0; n < DATA; n++) same &= byte[n] == order_byte(n);
    return same || !compare;
}
