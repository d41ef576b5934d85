// expect: exit 0
// run: --devices 2
// prints: right
// Right: each device's input is written by an asynchronous copy in its own default stream; each device's kernel comes after its
// own device's copy (stream order), meets the other device's kernel through flags (release/acquire, system scope), and only then
// reads the other device's input. After a second meeting each device's default stream goes on: the input is written anew.
#include "atomic.h"
#include <cstdio>
#include <cstdlib>
#define OK(x) do { cudaError_t e_ = (x); if (e_) { printf("%s: %s\n", #x, cudaGetErrorString(e_)); exit(1); } } while (0)
typedef cuda::atomic_ref<unsigned, cuda::thread_scope_system> Flag;
struct Two { float *in[2]; unsigned *flag[2]; };
__device__ void meet(Two t, int phase, int device)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        Flag theirs(t.flag[1 - device][phase]), ours(t.flag[device][phase]);
        theirs.store(1, cuda::memory_order_release);
        while (ours.load(cuda::memory_order_acquire) != 1) {}
    }
    __syncthreads();
}
__global__ void add(Two t, float *out, int device)
{
    meet(t, 0, device);
    out[threadIdx.x] = t.in[0][threadIdx.x] + t.in[1][threadIdx.x];
    meet(t, 1, device);
}
int main()
{
    Two t;
    float *out[2], host[32];
    for (int i = 0; i < 32; i++) host[i] = i;
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceEnablePeerAccess(1 - d, 0));
        OK(cudaMalloc(&t.in[d], sizeof host));
        OK(cudaMalloc(&out[d], sizeof host));
        OK(cudaMalloc(&t.flag[d], 8));
        OK(cudaMemset(t.flag[d], 0, 8));
        OK(cudaDeviceSynchronize());
    }
    for (int d = 0; d < 2; d++) { OK(cudaSetDevice(d)); OK(cudaMemcpyAsync(t.in[d], host, sizeof host, cudaMemcpyHostToDevice, 0)); }
    for (int d = 0; d < 2; d++) { OK(cudaSetDevice(d)); add<<<1, 32>>>(t, out[d], d); OK(cudaGetLastError()); }
    for (int d = 0; d < 2; d++) { OK(cudaSetDevice(d)); OK(cudaMemcpyAsync(t.in[d], host, sizeof host, cudaMemcpyHostToDevice, 0)); }
    for (int d = 0; d < 2; d++) { OK(cudaSetDevice(d)); OK(cudaMemcpy(host, out[d], sizeof host, cudaMemcpyDeviceToHost)); if (host[31] != 62) return 1; for (int i = 0; i < 32; i++) host[i] = i; }
    for (int d = 0; d < 2; d++) { OK(cudaFree(t.in[d])); OK(cudaFree(out[d])); OK(cudaFree(t.flag[d])); }
    puts("right");
}
