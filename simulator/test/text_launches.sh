#!/bin/sh
# What a person reads when the device refuses a launch. A program that reads the error is told why, once a line, in a note. A launch
# whose error the program never reads is an error of the run.
set -u
cd "$(dirname "$0")/../.."
. simulator/test/told

cat >"$scratch/refused.cu" <<'END'
#include <cooperative_groups.h>
#include <cstdlib>

__global__ void plain(int *p) { if (p) *p = 1; }
__global__ void __launch_bounds__(256) bounded(int *p) { *p = 1; }
__global__ void meet(int *p) { *p = 1; cooperative_groups::this_grid().sync(); }

__global__ void __cluster_dims__(2) paired(int *p) { *p = 1; }

static cudaError_t in_fours(int *p)
{
    cudaLaunchAttribute of = {};
    of.id = cudaLaunchAttributeClusterDimension;
    of.val.clusterDim.x = 4, of.val.clusterDim.y = 1, of.val.clusterDim.z = 1;
    cudaLaunchConfig_t how = {};
    how.gridDim = 8, how.blockDim = 32, how.attrs = &of, how.numAttrs = 1;
    return cudaLaunchKernelEx(&how, paired, p);
}

static cudaError_t launch(int which, int *p)
{
    void *arguments[] = { &p };
    switch (which) {
    case 0: plain<<<1, 1025>>>(p); break;
    case 1: plain<<<1, dim3(32, 33)>>>(p); break;
    case 2: plain<<<0, 32>>>(p); break;
    case 3: plain<<<dim3(1, 65536), 32>>>(p); break;
    case 4: plain<<<1, dim3(1, 1, 65)>>>(p); break;
    case 5: plain<<<1, 64, 64 * 1024>>>(p); break;
    case 6: bounded<<<1, 512>>>(p); break;
    case 7: plain<<<which - 10, 32>>>(p); break;
    case 8: plain<<<dim3(1, 1, 65536), 32>>>(p); break;
    case 9: return cudaLaunchCooperativeKernel(meet, 5000, 256, arguments);
    case 10: return cudaLaunchKernel(plain, 1, 2048, arguments);
    case 12: return cudaLaunchKernel(plain, 1, 32, nullptr);
    case 13: return in_fours(p);
    case 11: return cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000), plain<<<1, 32, 100001>>>(p), cudaSuccess;
    }
    return cudaSuccess;
}

int main(int, char **words)
{
    int *p;
    cudaMalloc(&p, 4);
    for (int n = 0; n < atoi(words[3]); n++) {
        launch(atoi(words[1]), p);
        if (atoi(words[2])) cudaGetLastError();
    }
    cudaFree(p);
}
END
builds_cuda refused

told 0 'refused 0 1 1' 'warpwise: launch refused, refused.cu:' 'its blocks have 1025 threads and may have 1024' 'next: Launch more blocks'
told 0 'refused 1 1 1' 'its blocks have 1056 threads and may have 1024'
told 0 'refused 2 1 1' 'a grid of 0x1x1 blocks of 32x1x1 threads has none'
told 0 'refused 3 1 1' 'more than 65535 of them in y'
told 0 'refused 4 1 1' 'its blocks of 1x1x65 threads have more than 64 of them in z'
told 0 'refused 5 1 1' 'wants 65536 bytes of shared memory and may have 49152' 'Ask for more, up to 232448: cudaFuncSetAttribute'
told 0 'refused 6 1 1' 'its blocks have 512 threads and may have 256'
told 0 'refused 7 1 1' 'a grid of 4294967293x1x1 blocks' 'a negative one becomes as large'
told 0 'refused 8 1 1' 'more than 65535 of them in z'
told 0 'refused 9 1 1' 'a cooperative grid of 5000x1x1 blocks is more than the 1056 that the device holds at once'
told 0 'refused 10 0 1' 'its blocks have 2048 threads and may have 1024'
told 0 'refused 11 1 1' 'wants 100001 bytes of shared memory and may have 100000'
told 0 'refused 13 0 1' 'cudaLaunchKernelEx asks for clusters of 4x1x1, and the kernel has 2x1x1'
told 0 'refused 12 0 1' 'a launch was given no arguments, and its kernel has 1'

# A loop of refused launches has one note, or one error.
told 0 'refused 0 1 100' 'launch refused'
says 1
told 1 'refused 0 0 100' 'misuse of the CUDA runtime, refused.cu:' 'here nobody asked' 'warpwise: 1 error: misuse of the CUDA runtime'
says 2

# A launch on a stream that is no more says so once, whether the program asks for the error or not.
cat >"$scratch/launched.cu" <<'END'
__global__ void kernel() {}
int main(int count, char **)
{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaStreamDestroy(stream);
    kernel<<<1, 1, 0, stream>>>();
    return count == 2 ? cudaGetLastError() == cudaSuccess : count == 3 ? cudaGetLastError() != cudaSuccess : 0;
}
END
builds_cuda launched
told 1 launched 'misuse of the CUDA runtime, launched.cu:7' 'its stream had been destroyed destroyed by: cudaStreamDestroy, launched.cu:6 ' \
    'here nobody asked' 'next: Destroy the stream after its last use, and write CHECK'
says 2
told 0 'launched 1' 'launch refused, launched.cu:7' 'its stream had been destroyed destroyed by: cudaStreamDestroy, launched.cu:6 '
says 1

# A program that ends because of the error is told so, also behind a shell.
printf '#!/bin/sh\n"%s/launched" "$@"\nexit $?\n' "$scratch" >"$scratch/behind"
chmod +x "$scratch/behind"
for how in launched behind; do
    told 1 "$how 1 1" 'launched.cu:7' 'The program looked at the error, and ended.'
done

# ---- One reason for one refusal

cat >"$scratch/wgmma.cu" <<'END'
#include <cstdlib>

extern __shared__ int shared[];

__global__ void refused(int *p)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    p[threadIdx.x] = shared[threadIdx.x];
}

int main(int, char **words)
{
    int *p, host[32], threads = atoi(words[1]), bytes = atoi(words[2]);
    void *arguments[] = { &p };
    cudaMalloc(&p, sizeof host);
    if (atoi(words[3])) cudaFuncSetAttribute(refused, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    cudaLaunchKernel(refused, 1, threads, arguments, bytes, 0);
    refused<<<1, threads, bytes>>>(p);
    if (atoi(words[4])) cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(p);
    exit(cudaGetLastError() != cudaSuccess);
}
END
for_device="-gencode arch=compute_90a,code=compute_90a" builds_cuda wgmma

# An instruction that is not supported is the reason, whatever else the launch asks for.
for asks in '32 0 0' '32 100000 1' '32 100000 0' '2000 300000 0'; do
    told 1 "wgmma $asks 0" 'the instruction wgmma.fence.sync.aligned' '1 error: not supported'
    says 3
done

# What the kernel should have written is missed. The next step is the kernel, not an index in it.
told 1 'wgmma 32 0 0 1' 'that nothing wrote' 'next: Look first at what is not supported, above: it wrote nothing.'

done_with text_launches
