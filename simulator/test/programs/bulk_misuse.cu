// expect: hang 40, race 45, misaligned 35, misaligned 35, unfinished-copy 38, race 38, unfinished-copy 48, unfinished-copy 45, bounds 35, bounds 35
// says: no warp can go on: the mbarrier that it waits at misses 256 bytes
// says: copy in bulk of shared memory that was stored to, with no fence.proxy.async between
// says: copy in bulk to shared memory at an address that is 4 bytes past a multiple of 16
// says: copy in bulk of 1020 bytes, which is no multiple of 16
// says: thread (32,0,0) reads what thread (0,0,0) writes in shared memory, with no barrier between
// says: thread (0,0,0) reads shared memory that a copy in bulk of thread (0,0,0) goes to, which nobody has waited for
// says: writes to shared memory that a copy in bulk of thread (0,0,0) reads, which nobody has waited for
// says: the block ends while its shared memory is still read by a copy in bulk
// says: read of 1024 bytes at byte 16 of the 1024-byte allocation
// says: write of 4294967280 bytes
// Copies in bulk gone wrong: more bytes expected than come; no proxy fence between stores and a copy that reads them; addresses
// and sizes that are no multiples of 16; bytes used before they are waited for, and changed before they are read; a block
// that ends too early; a source that ends too early; and a size below 0.
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

enum { N = 256, KINDS = 9 };
enum { RIGHT = -1, BYTES, FENCE, ADDRESS, SIZE, USED, CHANGED, ENDS, BOUNDS, HUGE };
typedef unsigned long long u64;

__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void kernel(int what, int *data)
{
    __shared__ alignas(16) int s[N + 4];
    __shared__ u64 place;
    unsigned over = 0, b = at(&place), t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" :: "r"(b) : "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(b), "r"(what == BYTES ? 1280 : 1024) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(at(&s[what == ADDRESS])), "l"(data + (what == BOUNDS) * 4), "r"(what == SIZE ? 1020 : what == HUGE ? -16 : 1024), "r"(b) : "memory");
    }
    __syncthreads();
    if (what == USED && t % 32 == 0) data[t] = s[t];
    while (!over)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(over) : "r"(b) : "memory");
    s[t] += 5;
    if (what != FENCE) asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(data), "r"(at(s)), "r"(1024) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    if (what == CHANGED && t == 0) s[7] = 1;
    if (what != ENDS && t == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

int main()
{
    for (int what = RIGHT; what < KINDS; what++) {
        int status, *data, host[N];
        pid_t child = fork();
        CHECK(child >= 0);
        if (child) {
            CHECK(waitpid(child, &status, 0) == child && status == 0);
            continue;
        }
        OK(cudaMalloc(&data, sizeof host));
        OK(cudaMemset(data, 0, sizeof host));
        kernel<<<1, N>>>(what, data);
        bool ends = what != BYTES && what != ADDRESS && what != SIZE && what < BOUNDS;
        CHECK((cudaDeviceSynchronize() == cudaSuccess) == ends);
        if (!ends) exit(0);
        OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++) CHECK(host[i] == (what == CHANGED && i == 7 ? 1 : 5));
        OK(cudaFree(data));
        exit(0);
    }
    return 0;
}
