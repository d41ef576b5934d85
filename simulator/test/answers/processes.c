// Two processes that share memory and an event: cudaIpc.
#include "ask.h"
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4 << 20 };

typedef struct {
    cudaIpcMemHandle_t memory, small, second;
    cudaIpcEventHandle_t event, timed;
} Handles;

static int to_child[2], to_parent[2];

static void give(int fd, const void *p, size_t bytes)
{
    if (write(fd, p, bytes) != (ssize_t)bytes) _exit(3);
}
static void take(int fd, void *p, size_t bytes)
{
    if (read(fd, p, bytes) != (ssize_t)bytes) _exit(3);
}

static void in_child(void)
{
    Handles h;
    char *p, *again, *small, *second, host[64];
    cudaEvent_t e, e_again;
    float ms;
    cudaIpcMemHandle_t mine;
    struct cudaPointerAttributes a;
    take(to_child[0], &h, sizeof h);
    DO(cudaFree(NULL));
    ask("open", cudaIpcOpenMemHandle((void **)&p, h.memory, cudaIpcMemLazyEnablePeerAccess));
    ask("open, flags 0", cudaIpcOpenMemHandle((void **)&again, h.memory, 0));
    ask("open, flags 2", cudaIpcOpenMemHandle((void **)&again, h.memory, 2));
    ask("open to nowhere", cudaIpcOpenMemHandle(NULL, h.memory, cudaIpcMemLazyEnablePeerAccess));
    ask("open again",
        cudaIpcOpenMemHandle((void **)&again, h.memory, cudaIpcMemLazyEnablePeerAccess));
    tell("again it is", "%s", again == p ? "the same" : "another");
    ask("open a small one",
        cudaIpcOpenMemHandle((void **)&small, h.small, cudaIpcMemLazyEnablePeerAccess));
    ask("open its neighbour",
        cudaIpcOpenMemHandle((void **)&second, h.second, cudaIpcMemLazyEnablePeerAccess));
    cudaIpcMemHandle_t wrong = h.memory;
    wrong.reserved[3] ^= 0x55;
    ask("read it", cudaMemcpy(host, p, 16, cudaMemcpyDeviceToHost));
    tell("it has", "%d", host[0]);
    ask("read the neighbour", cudaMemcpy(host, second, 16, cudaMemcpyDeviceToHost));
    tell("the neighbour has", "%d", host[0]);
    ask("write it", cudaMemset(p, 9, 16));
    ask("its end", cudaMemset(p + BYTES - 16, 9, 16));
    ask("past its end", cudaMemset(p + BYTES - 16, 9, 64));
    cudaError_t error = cudaPointerGetAttributes(&a, p);
    tell("what it is", "%s, type %d, device %d, device pointer %s", cudaGetErrorName(error),
         (int)a.type, a.device, a.devicePointer == p ? "the same" : "another");
    ask("pass it on", cudaIpcGetMemHandle(&mine, p));
    ask("free it", cudaFree(p));
    ask("open the event", cudaIpcOpenEventHandle(&e, h.event));
    ask("open the event again", cudaIpcOpenEventHandle(&e_again, h.event));
    tell("the event again is", "%s", e == e_again ? "the same" : "another");
    ask("query it", cudaEventQuery(e));
    ask("wait for it", cudaStreamWaitEvent(0, e, 0));
    ask("record it", cudaEventRecord(e, 0));
    ask("synchronize", cudaEventSynchronize(e));
    ask("its time", cudaEventElapsedTime(&ms, e, e));
    ask("destroy the event", cudaEventDestroy(e));
    ask("close", cudaIpcCloseMemHandle(p));
    ask("read it, opened twice, closed once", cudaMemcpy(host, p, 16, cudaMemcpyDeviceToHost));
    ask("close inside", cudaIpcCloseMemHandle(small + 16));
    ask("close again", cudaIpcCloseMemHandle(p));
    ask("close a third time", cudaIpcCloseMemHandle(p));
    ask("close the small one", cudaIpcCloseMemHandle(small));
    ask("close its neighbour", cudaIpcCloseMemHandle(second));
    ask("afterwards", cudaDeviceSynchronize());
    give(to_parent[1], "", 1);
    take(to_child[0], host, 1); // the other has freed it
    ask("open what is freed",
        cudaIpcOpenMemHandle((void **)&p, h.memory, cudaIpcMemLazyEnablePeerAccess));
    ask("open an event that is destroyed", cudaIpcOpenEventHandle(&e, h.event));
    _exit(0);
}

// The one that is asked is the child; this one has what is shared.
GROUP(processes, 1)
{
    if (pipe(to_child) || pipe(to_parent)) return;
    pid_t child = fork();
    if (!child) in_child();
    Handles h;
    char *p, *small, *second, host[16], byte;
    cudaEvent_t e;
    DO(cudaMalloc((void **)&p, BYTES));
    DO(cudaMalloc((void **)&small, 100));
    DO(cudaMalloc((void **)&second, 100));
    DO(cudaMemset(p, 5, BYTES));
    DO(cudaMemset(small, 6, 100));
    DO(cudaMemset(second, 7, 100));
    DO(cudaEventCreateWithFlags(&e, cudaEventInterprocess | cudaEventDisableTiming));
    DO(cudaEventRecord(e, 0));
    DO(cudaDeviceSynchronize());
    DO(cudaIpcGetMemHandle(&h.memory, p));
    DO(cudaIpcGetMemHandle(&h.small, small));
    DO(cudaIpcGetMemHandle(&h.second, second));
    DO(cudaIpcGetEventHandle(&h.event, e));
    give(to_child[1], &h, sizeof h);
    take(to_parent[0], &byte, 1);
    DO(cudaMemcpy(host, p, 16, cudaMemcpyDeviceToHost));
    tell("what the other wrote", "%d", host[0]);
    ask("free what is shared", cudaFree(p));
    ask("destroy the event that is shared", cudaEventDestroy(e));
    give(to_child[1], "", 1);
    int status = 0;
    waitpid(child, &status, 0);
    tell("the other ended", "%d", status);
}
