// expect: exit 0
// Every shuffle, vote and match against what a loop on the host gives, with segments, and in both halves of a branch.
#include "check.h"

enum { KINDS = 12 };

__global__ void kernel(unsigned *out, const int *in)
{
    int t = threadIdx.x, v = in[t], all;
    unsigned *o = out + KINDS * t;
    o[0] = __shfl_down_sync(~0u, v, 5);
    o[1] = __shfl_up_sync(~0u, v, 3, 16);
    o[2] = __shfl_xor_sync(~0u, v, 9);
    o[3] = __shfl_sync(~0u, v, t * 7, 8);
    o[4] = __ballot_sync(~0u, v % 3 == 0);
    o[5] = __any_sync(~0u, v == in[11]) + 2 * __all_sync(~0u, v > -1000000) + 4 * __all_sync(~0u, v > 0);
    o[6] = __match_any_sync(~0u, v % 4);
    o[7] = __match_all_sync(~0u, v, &all) + all;
    o[8] = __reduce_add_sync(~0u, v);
    o[9] = __reduce_min_sync(~0u, v);
    o[10] = __reduce_xor_sync(~0u, (unsigned)v);
    if (t % 2) o[11] = __shfl_sync(0xaaaaaaaa, v, 31) + __popc(__activemask());
    else o[11] = __shfl_sync(0x55555555, v, 0) + __popc(__activemask());
}

static void host(unsigned *o, const int *in, int t)
{
    unsigned ballot = 0, same = 0, sum = 0, x = 0;
    int least = in[0], positive = 1;
    for (int l = 0; l < 32; l++) {
        ballot |= (unsigned)(in[l] % 3 == 0) << l;
        same |= (unsigned)(in[l] % 4 == in[t] % 4) << l;
        sum += in[l];
        x ^= in[l];
        if (in[l] < least) least = in[l];
        if (in[l] <= 0) positive = 0;
    }
    o[0] = in[t + 5 < 32 ? t + 5 : t];
    o[1] = in[t % 16 >= 3 ? t - 3 : t];
    o[2] = in[t ^ 9];
    o[3] = in[t / 8 * 8 + t * 7 % 8];
    o[4] = ballot;
    o[5] = 1 + 2 + 4 * positive;
    o[6] = same;
    o[7] = 0;
    o[8] = sum;
    o[9] = least;
    o[10] = x;
    o[11] = in[t % 2 ? 31 : 0] + 16;
}

int main()
{
    int in[32], *din;
    unsigned out[32 * KINDS], want[KINDS], *dout;
    for (int i = 0; i < 32; i++) in[i] = i * 7919 % 101 - 50;
    OK(cudaMalloc(&din, sizeof in));
    OK(cudaMalloc(&dout, sizeof out));
    OK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    kernel<<<1, 32>>>(dout, din);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 32; t++) {
        host(want, in, t);
        for (int k = 0; k < KINDS; k++) CHECK(out[KINDS * t + k] == want[k]);
    }
    OK(cudaFree(din));
    OK(cudaFree(dout));
    return 0;
}
