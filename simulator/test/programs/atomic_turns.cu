// expect: exit 0
// counts: incremented l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 2048
// counts: incremented l1tex__t_requests_pipe_lsu_mem_global_op_st.sum 64
// counts: added l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 256
// Who draws a place by an atomic has neighbours from other warps: between the places of a warp's lanes lie those of others,
// where many blocks draw. Lanes of a warp still draw in order. What the compiler adds up in the warp lies in a row, and so it does
// where fences make something of the order.
#include "check.h"

enum { THREADS = 256, BLOCKS = 8, N = BLOCKS * THREADS, LANES = 32 };

#define THREAD (blockIdx.x * THREADS + threadIdx.x)

__global__ void incremented(unsigned *out, unsigned *count) { out[atomicInc(count, N)] = THREAD; }
__global__ void added(unsigned *out, unsigned *count) { out[atomicAdd(count, 1)] = THREAD; }

// The words are the same all the same, which the compiler cannot know.
__global__ void added_by_data(unsigned *out, unsigned *count) { out[atomicAdd(count + (out[N + threadIdx.x] & 1), 1)] = THREAD; }

__global__ void incremented_in_two(unsigned *out, unsigned *count)
{
    unsigned which = threadIdx.x % 2;
    out[which * N / 2 + atomicInc(&count[which], N)] = THREAD;
}

// All have stored when the last one comes, as that one learns. The first warp of a block has the most lanes.
__global__ void last_sums(unsigned *out, unsigned *count)
{
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES, all = gridDim.x * (LANES + (THREADS / LANES - 1) * LANES / 2);
    if (warp > 0 && lane >= LANES / 2)
        return;
    out[THREAD] = 1;
    __threadfence();
    if (atomicInc(count, N) < all - 1)
        return;
    __threadfence();
    for (unsigned b = 0; b < gridDim.x; b++)
        for (unsigned w = 1; w < THREADS / LANES - 1; w++)
            count[1] += out[b * THREADS + w * LANES];
}

static unsigned *out, *count, host[N];

// Each thread has a place of its own, and a lane's lies behind that of the lane `step` before it: how often is it the next one?
static int in_a_row(int blocks, int step)
{
    static int place[N];
    int next = 0;
    for (int t = 0; t < N; t++)
        place[t] = -1;
    for (int p = 0; p < N; p++) {
        if (host[p] == ~0u) continue;
        CHECK(place[host[p]] < 0);
        place[host[p]] = p;
    }
    for (int t = 0; t < blocks * THREADS; t++) {
        CHECK(place[t] >= 0);
        if (t % LANES < step) continue;
        CHECK(place[t] > place[t - step]);
        next += place[t] == place[t - step] + 1;
    }
    return next;
}

static void run(void (*kernel)(unsigned *, unsigned *), int blocks)
{
    OK(cudaMemset(out, 0xff, N * 4));
    OK(cudaMemset(count, 0, 8));
    kernel<<<blocks, THREADS>>>(out, count);
    OK(cudaMemcpy(host, out, N * 4, cudaMemcpyDeviceToHost));
}

enum { NEXT = THREADS / LANES * (LANES - 1) };      // of the lanes of a block's warps, those that come behind another

int main()
{
    OK(cudaMalloc(&out, (N + THREADS) * 4));
    OK(cudaMalloc(&count, 8));
    OK(cudaMemset(out + N, 0, THREADS * 4));

    run(incremented, 1);
    CHECK(in_a_row(1, 1) == NEXT);
    run(incremented, BLOCKS);
    CHECK(in_a_row(BLOCKS, 1) == 0);
    run(incremented_in_two, BLOCKS);
    CHECK(in_a_row(BLOCKS, 2) == 0);
    run(added_by_data, BLOCKS);
    CHECK(in_a_row(BLOCKS, 1) == 0);

    run(added, BLOCKS);
    CHECK(in_a_row(BLOCKS, 1) == BLOCKS * NEXT);
    run(last_sums, BLOCKS);
    OK(cudaMemcpy(host, count, 8, cudaMemcpyDeviceToHost));
    CHECK(host[1] == BLOCKS * (THREADS / LANES - 2));
    OK(cudaFree(out));
    OK(cudaFree(count));
    return 0;
}
