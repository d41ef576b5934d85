// The program whose memory somebody else owns (owner.h): each line that it reads is a call. Kernels are
// "twice ADDRESS COUNT", "add" and "exchange" (atomics) and "odd" (every second word); the rest "copy" (from
// the host), "bytes" (the same, so many bytes), "home" (to the host), "move" (from what is behind it), "set", "rows" (a fill of
// every second word), "free", "like" (COUNT calls that are alike) or "vary" (that are not), "wrong" (a launch
// that fails, and a copy, and the first one's error is read), "get" (memory of its own) and "quit" (with a
// status), and what main() says. It says when the call has returned.
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>
#include <unistd.h>

__global__ void twice(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}

__global__ void add(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(p + i, 1);
}

__global__ void exchange(int *p, int n, int *old)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && atomicExch(p + i, 1) == -1) *old = i;
}

__global__ void odd(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < n) p[2 * i + 1] = i;
}

__global__ void take(int *to, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

__global__ void slow(int *p)
{
    for (int turn = 0; turn < 500000; turn++) __nanosleep(100);
    *p += 2;
}

int main()
{
    char call[16];
    void *p;
    int n;
    cudaFree(0);
    puts("ready");
    fflush(stdout);
    while (scanf("%15s %p %d", call, &p, &n) == 3) {
        if (call[0] == 't') twice<<<(n + 255) / 256, 256>>>((int *)p, n);
        if (call[0] == 'a') add<<<(n + 255) / 256, 256>>>((int *)p, n);
        if (call[0] == 'e') exchange<<<(n + 255) / 256, 256>>>((int *)p, n, (int *)p);
        if (call[0] == 'o') odd<<<(n + 255) / 256, 256>>>((int *)p, n);
        static int host[1 << 20];
        size_t bytes = n * sizeof(int);
        if (call[0] == 'f') cudaFree(p);
        if (call[0] == 'c') cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice);
        if (call[0] == 'b') cudaMemcpy(p, host, n, cudaMemcpyHostToDevice);
        if (call[0] == 'h') cudaMemcpyAsync(host, p, bytes, cudaMemcpyDeviceToHost);
        if (call[0] == 'm') cudaMemcpy(p, (int *)p + n, bytes, cudaMemcpyDeviceToDevice);
        if (call[0] == 'r') cudaMemset2D(p, 8, 0, 4, n);
        if (call[0] == 's') cudaMemset(p, 0, bytes);
        for (int i = 0; call[0] == 'l' && i < n; i++) cudaMemset(p, 0, 4);
        for (int i = 0; call[0] == 'v' && i < n; i++) cudaMemset(p, i, 4);
        if (call[0] == 'w') {
            twice<<<n, 2048>>>((int *)p, n);
            cudaGetLastError();
            cudaMemcpy(p, host, 1 << 22, cudaMemcpyHostToDevice);
        }
        if (call[0] == 'g') {
            void *own;
            cudaMallocManaged(&own, bytes);
            cudaDeviceSynchronize();
            cudaFree(own);
        }
        // "numbers" copies what the owner gave, and "products" what the host has worked out; "kept" has that in
        // managed memory, to be doubled, as "kernel" does again, and "x", before which the host changes a word. "z" is a fill of
        // all of it, and "y" copies twice from there what the host has worked out. "u" takes it three times, when the host has changed a
        // word; it is on both sides. In "d" the host changes a word while a kernel runs that changes the one before it.
        static int *kept;
        if (!kept && (call[0] == 'k' || call[0] == 'x')) cudaMallocManaged(&kept, sizeof host);
        bool works = call[0] == 'p' || (call[0] == 'k' && call[2] == 'p');
        int *to = call[0] == 'k' ? kept : host;
        for (int i = 0; (works || call[0] == 'n') && i < n; i++) to[i] = works ? 5 * i + 3 : i;
        if (call[0] == 'x') kept[n / 2]++;
        if (call[0] == 'n' || call[0] == 'p') cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice);
        if (call[0] == 'k' || call[0] == 'x') {
            twice<<<(n + 255) / 256, 256>>>(kept, n);
            cudaDeviceSynchronize();
        }
        if (call[0] == 'z') cudaMemset(kept, 5, sizeof host);
        for (int i = 0; call[0] == 'y' && i < n; i++) kept[i] = 7 * i + 5000;
        for (int i = 0; call[0] == 'y' && i < 2; i++) cudaMemcpy(host, kept, bytes, cudaMemcpyDeviceToHost);
        if (call[0] == 'u') cudaMemAdvise(kept, bytes, cudaMemAdviseSetReadMostly, cudaMemLocation{});
        for (int i = 0; call[0] == 'u' && i < 3; i++) {
            kept[0]++;
            take<<<(n + 255) / 256, 256>>>((int *)p, kept, n);
            cudaDeviceSynchronize();
        }
        if (call[0] == 'd') {
            kept[0] = 5;
            slow<<<1, 1>>>(kept);
            std::thread changes([] { usleep(50000), kept[1] = 6; });
            cudaDeviceSynchronize();
            changes.join();
            if (kept[0] != 7 || kept[1] != 6) puts("lost");
        }
        // "interval" asks COUNT times for the time between two events, when it has asked until the second one is complete, and twice more.
        if (call[0] == 'i') {
            static cudaEvent_t event[2];
            for (int i = 0; i < 2 && !event[i]; i++) cudaEventCreate(&event[i]);
            for (int i = 0; i < n; i++) {
                float ms;
                cudaEventRecord(event[0]);
                twice<<<1, 1>>>((int *)p, 1);
                cudaEventRecord(event[1]);
                while (cudaEventQuery(event[1]) != cudaSuccess) {}
                cudaEventQuery(event[1]), cudaEventQuery(event[1]);
                cudaEventElapsedTime(&ms, event[0], event[1]);
            }
        }
        if (call[0] == 'q') return 3;
        puts("returned");
        fflush(stdout);
    }
}
