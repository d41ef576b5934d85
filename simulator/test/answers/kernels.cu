// The kernels that the groups launch.
#include <assert.h>

extern "C" {
__device__ int variable[16];
__constant__ int constant[16];

__global__ void nothing() {}
__global__ void add_one(int *p) { atomicAdd(p, 1); }
__global__ void write_at(char *p) { *p = 1; }
__global__ void misaligned(char *p) { *(int *)(p + 1) = 1; }
__global__ void trap() { asm("trap;"); }
__global__ void fail_assert(int x) { assert(x); }
__global__ void __launch_bounds__(256) bounded(int *p) { *p = constant[threadIdx.x & 15] + variable[threadIdx.x & 15]; }

__global__ void dynamic_shared(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    *p = s[threadIdx.x];
}

__global__ void static_shared(int *p)
{
    __shared__ int s[1024];
    s[threadIdx.x] = *p;
    __syncthreads();
    *p = s[threadIdx.x ^ 1];
}

__global__ void past_shared(int at, int *p)
{
    __shared__ int s[16];
    s[threadIdx.x] = 1;
    s[at] = 2;
    *p = s[threadIdx.x];
}

__noinline__ __device__ int deep(int n, int *p)
{
    volatile int room[256];
    room[n & 255] = n;
    return n < 0 ? *p : deep(n + 1, p) + room[(n + 1) & 255];
}
__global__ void recurse(int n, int *p) { *p = deep(n, p); }

__global__ void call_null(int *p)
{
    int (*f)(int) = *(int (**)(int))p;
    *p = f(1);
}

__global__ void last_for(int milliseconds) { for (int i = 0; i < milliseconds * 100; i++) __nanosleep(10000); }

// ---- Kernels that launch kernels

__global__ void spin(int *p, int nanoseconds)
{
    atomicAdd(p, 1);
    for (int i = 0; i < nanoseconds / 1000; i++) __nanosleep(1000);
}

__global__ void launch_wrongly(int *e)
{
    int n = 0;
    nothing<<<1, 1025>>>(); e[n++] = cudaPeekAtLastError(); e[n++] = cudaGetLastError(); e[n++] = cudaGetLastError();
    nothing<<<0, 1>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, 0>>>(); e[n++] = cudaGetLastError();
    nothing<<<dim3(1, 65536), 1>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, dim3(1, 1, 65)>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, 1, 49152>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, 1, 49153>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, 1, 300000>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, 1>>>(); e[n++] = cudaGetLastError();
    cudaStream_t s;
    e[n++] = cudaStreamCreateWithFlags(&s, cudaStreamDefault);
    e[n++] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    e[n++] = cudaStreamDestroy(s);
    e[n++] = cudaGetLastError();
}

__global__ void call_runtime(int *e)
{
    int n = 0, *p = e + 40;
    cudaEvent_t event;
    cudaStream_t s;
    e[n++] = cudaMemsetAsync(p, 1, 16, 0);
    e[n++] = cudaMemcpyAsync(p + 8, p, 16, cudaMemcpyDeviceToDevice, 0);
    e[n++] = cudaMemcpyAsync(p + 8, p, 16, cudaMemcpyDefault, 0);
    e[n++] = cudaMemcpyAsync(p + 8, p, 16, cudaMemcpyHostToDevice, 0);
    e[n++] = cudaMemcpyAsync(p + 8, p, 0, cudaMemcpyDeviceToDevice, 0);
    e[n++] = cudaMemcpyAsync(p + 8, p, 16, (cudaMemcpyKind)9, 0);
    e[n++] = cudaMemset2DAsync(p, 8, 1, 4, 2, 0);
    e[n++] = cudaMemset2DAsync(p, 2, 1, 4, 2, 0);
    e[n++] = cudaGetLastError();
    e[n++] = cudaEventCreateWithFlags(&event, cudaEventDefault);
    e[n++] = cudaEventCreateWithFlags(&event, cudaEventBlockingSync);
    e[n++] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    e[n++] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    e[n++] = cudaEventRecord(event, s);
    e[n++] = cudaStreamWaitEvent(s, event, 0);
    e[n++] = cudaEventDestroy(event);
    e[n++] = cudaGetLastError();
    int device = -7;
    e[n++] = cudaGetDevice(&device);
    e[n++] = device;
}

__global__ void ask_runtime(int *e)
{
    int n = 0, value = -7, *p = e + 40;
    void *memory = 0;
    e[n++] = cudaMalloc(&memory, 0);
    e[n++] = memory == 0;
    e[n++] = cudaMalloc(&memory, 1 << 30);
    e[n++] = cudaGetLastError();
    e[n++] = cudaMalloc(&memory, 16);
    e[n++] = cudaFree(memory);
    e[n++] = cudaFree(0);
    e[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0);
    e[n++] = value;
    e[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 99);
    cudaFuncAttributes attributes;
    e[n++] = cudaFuncGetAttributes(&attributes, nothing);
    e[n++] = attributes.maxThreadsPerBlock;
    e[n++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, 256, 0);
    e[n++] = value;
    e[n++] = cudaDeviceGetLimit((size_t *)p, cudaLimitStackSize);
    e[n++] = cudaGetDeviceCount(&value);
    e[n++] = cudaRuntimeGetVersion(&value);
    e[n++] = cudaMemcpy2DAsync(p + 8, 8, p, 8, 4, 2, cudaMemcpyDeviceToDevice, 0);
}

// e[0]: how deep it went; e[1]: what the launch gave that failed.
__global__ void launch_deeper(int *e, int depth)
{
    e[0] = depth;
    launch_deeper<<<1, 1>>>(e, depth + 1);
    cudaError_t error = cudaGetLastError();
    if (error) e[1] = error;
}

// One thread launches n that take long, in one stream, fire and forget, or at the tail. e[0]: ran; e[1]: launched; e[2]: error.
__global__ void launch_many(int *e, int n)
{
    cudaStream_t stream = n < 0 ? cudaStreamTailLaunch : n & 1 ? cudaStreamFireAndForget : (cudaStream_t)0;
    e[1] = 0;
    for (int i = 0; i < (n < 0 ? -n : n); i++) {
        spin<<<1, 1, 0, stream>>>(e, 20000);
        e[2] = cudaGetLastError();
        if (e[2]) return;
        e[1]++;
    }
}

__global__ void __cluster_dims__(2) pairs_of_blocks() {}
__global__ void __cluster_dims__(16) sixteen_blocks() {}
__global__ void __launch_bounds__(256, 1, 4) four_at_most() {}
}
