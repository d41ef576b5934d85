// expect: exit 0
// varies: the host polls
// Programs that wait in one of the many ways there are before they touch pinned memory, or that touch only what lies beside
// what is under way, or learn from a kernel that it is there.
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 3000, CHUNKS = 4 };

__global__ void add(int *p, int count, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        p[i] += value;
}

__global__ void hand_over(int *to, const int *from, volatile int *flag)
{
    to[threadIdx.x] = from[threadIdx.x] + 1;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *flag = 1;
}

__global__ void answer(volatile int *question, volatile int *reply, int rounds)
{
    for (int round = 1; round <= rounds; round++) {
        while (*question != round) {}
        *reply = 10 * round;
    }
}

static int *in, *out, *d;
static cudaStream_t s[CHUNKS];
static cudaEvent_t events[CHUNKS];

static void pass(int *to, const int *from, int count, cudaStream_t stream)
{
    OK(cudaMemcpyAsync(d, from, count * sizeof *d, cudaMemcpyHostToDevice, stream));
    add<<<(count + 255) / 256, 256, 0, stream>>>(d, count, 1);
    OK(cudaMemcpyAsync(to, d, count * sizeof *d, cudaMemcpyDeviceToHost, stream));
}

static void all_ways()
{
    float ms;
    for (int way = 0; way < 9; way++) {
        for (int i = 0; i < N; i++)
            in[i] = i + way;
        OK(cudaEventRecord(events[0], s[1]));
        pass(out, in, N, s[0]);
        OK(cudaEventRecord(events[1], s[0]));
        switch (way) {
        case 0: OK(cudaStreamSynchronize(s[0])); break;
        case 1: OK(cudaDeviceSynchronize()); break;
        case 2: OK(cudaEventSynchronize(events[1])); break;
        case 3: while (cudaStreamQuery(s[0]) == cudaErrorNotReady) {} break;
        case 4: while (cudaEventQuery(events[1]) == cudaErrorNotReady) {} break;
        case 5: OK(cudaMemcpy(&ms, d, sizeof ms, cudaMemcpyDeviceToHost)); break;
        case 6: OK(cudaStreamWaitEvent(s[2], events[1])); OK(cudaStreamSynchronize(s[2])); break;
        case 7: while (cudaEventElapsedTime(&ms, events[0], events[1]) == cudaErrorNotReady) OK(cudaEventSynchronize(events[1])); break;
        case 8: OK(cudaMemcpyAsync(&ms, d, sizeof ms, cudaMemcpyDeviceToHost, s[0])); break; // to pageable memory
        }
        for (int i = 0; i < N; i++)
            CHECK(out[i] == i + way + 1);
    }
    OK(cudaDeviceSynchronize());
}

// The chunks' borders lie within pages.
static void chunks()
{
    const int count = N / CHUNKS;
    int *parts;
    OK(cudaMalloc(&parts, N * sizeof *parts));
    for (int c = 0; c < CHUNKS; c++) {
        for (int i = c * count; i < (c + 1) * count; i++)
            in[i] = i;
        OK(cudaMemcpyAsync(parts + c * count, in + c * count, count * sizeof *in, cudaMemcpyHostToDevice, s[c]));
        add<<<(count + 255) / 256, 256, 0, s[c]>>>(parts + c * count, count, 3);
        OK(cudaMemcpyAsync(out + c * count, parts + c * count, count * sizeof *in, cudaMemcpyDeviceToHost, s[c]));
        OK(cudaEventRecord(events[c], s[c]));
    }
    for (int c = 0; c < CHUNKS; c++) {
        OK(cudaEventSynchronize(events[c]));
        for (int i = c * count; i < (c + 1) * count; i++) {
            CHECK(out[i] == i + 3);
            in[i] = out[i] = 0;
        }
    }
    OK(cudaFree(parts));
}

static void columns()
{
    for (int i = 0; i < 64; i++)
        out[i] = -1;
    OK(cudaMemset(d, 0, 64));
    OK(cudaMemcpy2DAsync(out, 16, d, 4, 4, 16, cudaMemcpyDeviceToHost, s[0]));
    for (int i = 0; i < 64; i++) {
        if (i % 4)
            out[i] = i;
    }
    OK(cudaStreamSynchronize(s[0]));
    for (int i = 0; i < 64; i++)
        CHECK(out[i] == (i % 4 ? i : 0));
}

static void note(void *)
{
    out[0] += 5;
    in[0] = out[0];
}

static void in_a_function()
{
    in[0] = 1;
    pass(out, in, 1, s[0]);
    OK(cudaLaunchHostFunc(s[0], note, NULL));
    pass(out + 1, in, 1, s[0]);
    OK(cudaStreamSynchronize(s[0]));
    CHECK(out[0] == 7 && out[1] == 8);
}

// A kernel tells the host that what came before it is there.
static void told()
{
    volatile int *flag;
    OK(cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped));
    *flag = 0;
    for (int i = 0; i < 64; i++)
        in[i] = i;
    pass(out, in, 64, s[0]);
    hand_over<<<1, 64, 0, s[0]>>>(out + 64, out, (int *)flag);
    while (!*flag) {}
    for (int i = 0; i < 64; i++)
        CHECK(out[i] == i + 1 && out[64 + i] == i + 2);
    OK(cudaDeviceSynchronize());
    OK(cudaFreeHost((void *)flag));
}

static void asked()
{
    volatile int *words;
    OK(cudaHostAlloc((void **)&words, 2 * sizeof *words, cudaHostAllocMapped));
    words[0] = words[1] = 0;
    answer<<<1, 1, 0, s[0]>>>(words, words + 1, 3);
    for (int round = 1; round <= 3; round++) {
        words[0] = round;
        while (words[1] != 10 * round) {}
    }
    OK(cudaStreamSynchronize(s[0]));
    OK(cudaFreeHost((void *)words));
}

// Two kernels and a copy take turns at mapped memory, in stream order, and the host reads what they do not write.
static void in_place()
{
    for (int i = 0; i < N; i++)
        in[i] = 1;
    add<<<1, 100, 0, s[0]>>>(in, 100, 1);
    OK(cudaMemcpyAsync(d, in, N * sizeof *d, cudaMemcpyHostToDevice, s[0]));
    add<<<1, 100, 0, s[0]>>>(in, 100, 1);
    OK(cudaMemcpyAsync(in + 200, d, 4, cudaMemcpyDeviceToHost, s[0]));
    add<<<1, 1, 0, s[0]>>>(in + 200, 1, 1);
    CHECK(in[100] == 1 && in[N - 1] == 1);
    OK(cudaStreamSynchronize(s[0]));
    CHECK(in[0] == 3 && in[200] == 3);
}

static void registered(int *memory)
{
    OK(cudaHostRegister(memory, N * sizeof *memory, cudaHostRegisterDefault));
    for (int i = 0; i < N; i++)
        memory[i] = 2;
    pass(memory, memory, N, s[0]);
    OK(cudaHostUnregister(memory));     // waits
    CHECK(memory[0] == 3 && memory[N - 1] == 3);
}

static void files()
{
    int pipes[2];
    CHECK(pipe(pipes) == 0);
    pass(out, in, 300, s[0]);
    CHECK(write(pipes[1], out + 300, 400) == 400 && read(pipes[0], in + 300, 400) == 400);
    FILE *file = fdopen(pipes[1], "w");
    CHECK(fwrite(out + 300, 4, 600, file) == 600 && fflush(file) == 0);
    CHECK(read(pipes[0], out + 1000, 2400) == 2400);
    OK(cudaStreamSynchronize(s[0]));
    fclose(file);
    close(pipes[0]);
}

static void freed()
{
    int *p;
    OK(cudaMallocHost(&p, N * sizeof *p));
    memset(p, 0, N * sizeof *p);
    pass(p, p, N, s[0]);
    OK(cudaFreeHost(p));                // waits
    pass(out, in, N, s[0]);
    OK(cudaFree(d));                    // so does this
    in[0] = out[0];
}

int main()
{
    for (int c = 0; c < CHUNKS; c++) {
        OK(cudaStreamCreateWithFlags(&s[c], cudaStreamNonBlocking));
        OK(cudaEventCreate(&events[c]));
    }
    OK(cudaStreamDestroy(s[0]));
    OK(cudaStreamCreate(&s[0]));
    OK(cudaMallocHost(&in, N * sizeof *in));
    OK(cudaHostAlloc(&out, N * sizeof *out, cudaHostAllocDefault));
    OK(cudaMalloc(&d, N * sizeof *d));
    all_ways();
    chunks();
    columns();
    in_a_function();
    told();
    asked();
    in_place();
    int *memory = (int *)malloc(N * sizeof *memory);
    registered(memory);
    registered(memory);
    free(memory);
    files();
    freed();
    for (int c = 0; c < CHUNKS; c++) {
        OK(cudaStreamDestroy(s[c]));
        OK(cudaEventDestroy(events[c]));
    }
    OK(cudaFreeHost(in));
    OK(cudaFreeHost(out));
    return 0;
}
