// expect: exit 0
// Loading is not using: a structure's padding, a value that a condition drops, a tile whose edge is never looked at. Nor is
// copying to the host, where it is padding.
#include "check.h"

struct Pair { char tag; int value; };

__global__ void fields(Pair *out, const Pair *in)
{
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void make(Pair *out)
{
    out[threadIdx.x].tag = 'x';
    out[threadIdx.x].value = threadIdx.x;
}

// Padding before the number, and behind the last member.
struct Reading { char unit; double value; short place, time; };

__global__ void readings(Reading *out)
{
    out[threadIdx.x] = Reading{ 'K', threadIdx.x * 0.5, (short)threadIdx.x, 7 };
}

__global__ void choose(int *out, const int *unset, int n)
{
    int v = unset[threadIdx.x];
    out[threadIdx.x] = n > 3 ? v : 5;
}

__global__ void edge(int *out, int n)
{
    __shared__ int tile[64];
    if (threadIdx.x < n) tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int v = tile[threadIdx.x];
    if (threadIdx.x < n) out[threadIdx.x] = v + 1;
}

// A structure as one word, padding and all.
__global__ void whole(long long *out, const long long *in) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void look(int *out, const Pair *in)
{
    if (in[threadIdx.x].value > 3) out[0] = 5;
}

// The host may write managed memory at any time.
__global__ void hand_over(int *managed, const int *unset) { managed[threadIdx.x] = unset[threadIdx.x]; }
__global__ void take_up(int *out, const int *managed)
{
    if (managed[threadIdx.x] == 77) out[0] = 5;
}

// Nothing hangs on the second where the first decides.
__global__ void decided(const int *unset, int n)
{
    asm volatile("{ .reg .pred p, q, r; setp.gt.s32 p, %1, 3; setp.gt.s32 q, %0, 2; and.pred r, p, q; @r bra $L_away;\n"
                 "not.pred p, p; or.pred r, p, q; @!r bra $L_away;\n"
                 "setp.gt.or.s32 r, %0, 2, p; @!r bra $L_away; not.pred p, p; setp.gt.and.s32 r, %0, 2, p; @r bra $L_away; $L_away: }" :: "r"(unset[threadIdx.x]), "r"(n));
}

int main()
{
    Pair *a, *b, pairs[32];
    Reading *r, read[32];
    int *out, *unset, host[64];
    OK(cudaMalloc(&a, 32 * sizeof *a));
    OK(cudaMalloc(&b, 32 * sizeof *b));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMalloc(&unset, sizeof host));
    OK(cudaMemset(out, 0, sizeof host));
    make<<<1, 32>>>(a);
    fields<<<1, 32>>>(b, a);
    OK(cudaMemcpy(pairs, b, sizeof pairs, cudaMemcpyDeviceToHost));
    OK(cudaMalloc(&r, sizeof read));
    readings<<<1, 32>>>(r);
    OK(cudaMemcpy(read, r, sizeof read, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) CHECK(pairs[i].value == i && read[i].value == 0.5 * i && read[i].place == i);
    choose<<<1, 64>>>(out, unset, 2);
    decided<<<1, 64>>>(unset, 2);
    whole<<<1, 32>>>((long long *)b, (const long long *)a);
    look<<<1, 32>>>(out, b);
    int *managed;
    OK(cudaMallocManaged(&managed, sizeof host));
    hand_over<<<1, 64>>>(managed, unset);
    take_up<<<1, 64>>>(out, managed);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(managed));
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) CHECK(host[i] == 5);
    edge<<<1, 64>>>(out, 50);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) CHECK(host[i] == (i < 50 ? i + 1 : 5));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(r));
    OK(cudaFree(out));
    OK(cudaFree(unset));
    return 0;
}
