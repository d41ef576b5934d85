// expect: uninitialized 28, bounds 33, exit 0
// says: write of 4 bytes just past the end of the 4000-byte allocation
// prints: depth 3|depth 0|sorted|in order|an error of its own|what comes behind waits
// build: -rdc=true -lcudadevrt
// Kernels that launch kernels: what they launch has ended before anything that comes behind the launch begins, runs in the order
// in which each thread launched it, and to the tail's stream last. Errors of such a launch are the launching thread's own.
#include "check.h"

__global__ void deeper(int *count, int depth);

__global__ void deeper(int *count, int depth)
{
    atomicAdd(count, 1);
    if (threadIdx.x == 0 && blockIdx.x == 0)
        printf("depth %d\n", depth);
    if (depth && threadIdx.x < 2)
        deeper<<<2, 3>>>(count, depth - 1);
}

__global__ void fill(int *p, int value) { p[blockIdx.x * blockDim.x + threadIdx.x] = value; }

struct Wide { double a; char b[300]; int c; };

__global__ void take(Wide w, int *p) { p[w.c] = (int)w.a + w.b[299]; }

__global__ void look(const int *p, int *out)
{
    if (p[3] > 7)
        for (int i = 0; i < 100; i++)
            out[i] = i;
}

__global__ void past(int *p, int n) { p[n] = 1; }

// Quicksort, as in NVIDIA's samples: a part each for two kernels, on streams of their own.
__global__ void quicksort(int *p, int left, int right)
{
    if (right - left < 16) {
        for (int i = left + 1; i <= right; i++)
            for (int k = i; k > left && p[k] < p[k - 1]; k--) {
                int t = p[k];
                p[k] = p[k - 1], p[k - 1] = t;
            }
        return;
    }
    int i = left, k = right, pivot = p[(left + right) / 2];
    while (i <= k) {
        while (p[i] < pivot) i++;
        while (p[k] > pivot) k--;
        if (i <= k) {
            int t = p[i];
            p[i++] = p[k], p[k--] = t;
        }
    }
    cudaStream_t s;
    if (left < k) {
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, s>>>(p, left, k);
        cudaStreamDestroy(s);
    }
    if (i < right) {
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, s>>>(p, i, right);
        cudaStreamDestroy(s);
    }
}

// Each step writes where the one before it has written.
__global__ void steps(int *p)
{
    fill<<<1, 1, 0, cudaStreamTailLaunch>>>(p, 4);
    fill<<<1, 2>>>(p, 1);
    fill<<<1, 3, 0, cudaStreamFireAndForget>>>(p + 1, 2);
    Wide w = { 30, {}, 2 };
    w.b[299] = 3;
    take<<<1, 1>>>(w, p);
    p[5] = 9;
}

__global__ void errors(int *p)
{
    fill<<<1, 2048>>>(p, 1);
    p[0] = cudaPeekAtLastError() == cudaGetLastError() && cudaGetLastError() == cudaSuccess;
    fill<<<0, 1>>>(p, 1);
    p[1] = cudaGetLastError();
    fill<<<1, 1>>>(p + 2, 7);
    p[3] = cudaGetLastError();
    for (int i = 0; i < 3000; i++)
        fill<<<1, 1>>>(p + 4, i);
    p[5] = cudaGetLastError();
}

__global__ void tails(int *p)
{
    int launched = 0;
    while (launched < 3000 && !p[1]) {
        fill<<<1, 1, 0, cudaStreamTailLaunch>>>(p, launched);
        p[1] = cudaGetLastError();
        launched += !p[1];
    }
    p[2] = launched;
}

__global__ void endless(int *deepest, int depth)
{
    *deepest = depth;
    endless<<<1, 1>>>(deepest, depth + 1);
}

__global__ void set(int *p, int value) { *(volatile int *)p = value; }

// Waits for what a kernel on another stream does.
__global__ void hold(const int *flag, int *out)
{
    while (*(const volatile int *)flag == 0) {}
    *out = 1;
}

__global__ void add_one(const int *from, int *to) { *to = *from + 1; }

__global__ void held_up(const int *flag, int *out)
{
    hold<<<1, 1>>>(flag, out);
    add_one<<<1, 1>>>(out, out + 1);
}

__global__ void unwritten(const int *p, int *out) { look<<<1, 1>>>(p, out); }
__global__ void outside(int *p) { past<<<1, 1>>>(p, 1000); }

static int host[1000], *p;

static void fetch() { OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost)); }

int main()
{
    int *fresh;
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaMemset(p, 0, sizeof host));
    deeper<<<1, 2>>>(p, 3);
    fetch();
    CHECK(host[0] == 2 + 2 * 6 + 2 * 2 * 2 * 6 + 2 * 2 * 2 * 2 * 2 * 6);

    unsigned random = 1;
    for (int i = 0; i < 1000; i++)
        host[i] = (int)((random = random * 1664525 + 1013904223) >> 8);
    OK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    quicksort<<<1, 1>>>(p, 0, 999);
    OK(cudaGetLastError());
    fetch();
    for (int i = 1; i < 1000; i++)
        CHECK(host[i - 1] <= host[i]);
    puts("sorted");

    steps<<<1, 1>>>(p);
    fetch();
    CHECK(host[0] == 4 && host[1] == 2 && host[2] == 33 && host[3] == 2 && host[5] == 9);
    puts("in order");

    errors<<<1, 1>>>(p);
    OK(cudaDeviceSynchronize());
    fetch();
    CHECK(host[0] == 1 && host[1] == cudaErrorInvalidConfiguration && host[2] == 7 && host[3] == cudaSuccess);
    CHECK(host[4] == 2999 && host[5] == cudaSuccess);           // what can begin at once takes no room for long
    OK(cudaMemset(p, 0, sizeof host));
    tails<<<1, 1>>>(p);
    fetch();
    CHECK(host[0] == 2047 && host[1] == cudaErrorLaunchPendingCountExceeded && host[2] == 2048);
    OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
    OK(cudaMemset(p, 0, sizeof host));
    tails<<<1, 1>>>(p);
    fetch();
    CHECK(host[0] == 2999 && host[1] == cudaSuccess);
    OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 2048));
    puts("an error of its own");

    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    endless<<<1, 1, 0, s>>>(p, 0);
    OK(cudaMemcpyAsync(host, p, sizeof(int), cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    CHECK(host[0] == 2048);
    cudaStream_t t;
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaMemset(p, 0, sizeof host));
    OK(cudaDeviceSynchronize());
    held_up<<<1, 1, 0, s>>>(p, p + 1);
    add_one<<<1, 1, 0, s>>>(p + 2, p + 3);
    set<<<1, 1, 0, t>>>(p, 1);
    OK(cudaDeviceSynchronize());
    fetch();
    CHECK(host[1] == 1 && host[2] == 2 && host[3] == 3);
    puts("what comes behind waits");
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));

    OK(cudaMalloc(&fresh, 400));
    unwritten<<<1, 1>>>(fresh, p);
    OK(cudaDeviceSynchronize());
    outside<<<1, 1>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
