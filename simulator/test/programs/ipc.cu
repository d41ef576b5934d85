// expect: bounds 16
// run: --devices 2
// Two processes pass memory and an event to one another: what one writes the other reads, also from another device, and
// the event orders their work. Errors of the one are not the other's.
#include "check.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1024, BYTES = 64 << 20 };

__global__ void add(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n)
        p[i] += n;
}

static int to_child[2], to_parent[2];

struct Handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

static void send(int fd, const void *p, size_t bytes) { CHECK(write(fd, p, bytes) == (ssize_t)bytes); }
static void receive(int fd, void *p, size_t bytes) { CHECK(read(fd, p, bytes) == (ssize_t)bytes); }

static void wrong_handles(struct Handles h)
{
    void *p;
    cudaEvent_t e;
    CHECK(cudaIpcOpenMemHandle(&p, h.memory, 0) == cudaErrorInvalidValue);
    cudaIpcMemHandle_t no_memory;       // an event's handle is none of memory's, nor the other way round
    cudaIpcEventHandle_t no_event;
    memcpy(&no_memory, &h.event, sizeof no_memory);
    memcpy(&no_event, &h.memory, sizeof no_event);
    CHECK(cudaIpcOpenMemHandle(&p, no_memory, cudaIpcMemLazyEnablePeerAccess) == cudaErrorInvalidValue);
    CHECK(cudaIpcOpenEventHandle(&e, no_event) == cudaErrorMapBufferObjectFailed);
    h.memory.reserved[0] ^= 1;
    CHECK(cudaIpcOpenMemHandle(&p, h.memory, cudaIpcMemLazyEnablePeerAccess) == cudaErrorInvalidResourceHandle);
    h.event.reserved[0] ^= 1;
    CHECK(cudaIpcOpenEventHandle(&e, h.event) == cudaErrorInvalidResourceHandle);
    OK(cudaMalloc(&p, 16));
    CHECK(cudaIpcCloseMemHandle(p) == cudaErrorInvalidValue);
    OK(cudaFree(p));
    cudaGetLastError();
}

static int child()
{
    struct Handles h;
    int *p, *again, host[N];
    cudaEvent_t theirs, start, end;
    float ms;
    receive(to_child[0], &h, sizeof h);
    OK(cudaSetDevice(1));               // the memory is device 0's
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(start));
    wrong_handles(h);
    OK(cudaIpcOpenMemHandle((void **)&p, h.memory, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaIpcOpenMemHandle((void **)&again, h.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(again == p);
    OK(cudaIpcOpenEventHandle(&theirs, h.event));
    OK(cudaStreamWaitEvent(0, theirs, 0));
    OK(cudaEventRecord(end));
    add<<<N / 256, 256>>>(p, 1000);
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    CHECK(ms > 1);                      // its 64 MiB had to arrive first
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        CHECK(host[i] == 0x01010101 + 1 + 1000);
    OK(cudaEventRecord(theirs));        // it is of the device that was current when it was opened,
    OK(cudaEventSynchronize(theirs));
    OK(cudaSetDevice(0));               // not of the other's
    CHECK(cudaEventRecord(theirs) == cudaErrorInvalidResourceHandle);
    OK(cudaSetDevice(1));
    cudaGetLastError();
    OK(cudaIpcCloseMemHandle(p));
    OK(cudaIpcCloseMemHandle(p));       // it was opened twice
    CHECK(cudaIpcCloseMemHandle(p) == cudaErrorInvalidValue);
    cudaGetLastError();
    add<<<1, 1>>>(p + N, 0);
    OK(cudaDeviceSynchronize());
    send(to_parent[1], &ms, 1);
    char byte;
    receive(to_child[0], &byte, 1);     // the memory has been freed
    CHECK(cudaIpcOpenMemHandle((void **)&p, h.memory, cudaIpcMemLazyEnablePeerAccess) == cudaErrorInvalidResourceHandle);
    add<<<1, 1>>>(NULL, 1);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 7;
}

int main()
{
    CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(to_child[1]);             // so that it ends when the parent does
        exit(child());
    }
    close(to_parent[1]);
    struct Handles h;
    int *p, host[N], status;
    void *from;
    cudaEvent_t event, plain;
    OK(cudaMalloc(&p, BYTES));
    OK(cudaMallocHost(&from, BYTES));
    for (size_t i = 0; i < BYTES; i++)
        ((char *)from)[i] = 1;
    OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaEventCreate(&plain));
    CHECK(cudaIpcGetEventHandle(&h.event, plain) == cudaErrorInvalidResourceHandle);
    OK(cudaIpcGetMemHandle(&h.memory, p + 1));  // of the whole, too
    CHECK(cudaIpcGetMemHandle(&h.memory, from) == cudaErrorInvalidValue);
    cudaGetLastError();
    OK(cudaMemcpyAsync(p, from, BYTES, cudaMemcpyHostToDevice));
    OK(cudaIpcGetMemHandle(&h.memory, p));      // what is in it stays
    add<<<N / 256, 256>>>(p, 1);
    OK(cudaIpcGetEventHandle(&h.event, event));
    OK(cudaEventRecord(event));
    void *own;
    CHECK(cudaIpcOpenMemHandle(&own, h.memory, cudaIpcMemLazyEnablePeerAccess) == cudaErrorDeviceUninitialized);
    cudaGetLastError();
    send(to_child[1], &h, sizeof h);
    char byte;
    receive(to_parent[0], &byte, 1);
    OK(cudaEventSynchronize(event));
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        CHECK(host[i] == 0x01010101 + 1 + 1000);
    OK(cudaFree(p));
    send(to_child[1], &byte, 1);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    OK(cudaFreeHost(from));
    OK(cudaDeviceSynchronize());        // no error of the other's
    return 0;
}
