// expect: exit 0
// Host functions run in stream order, beside the host; what is issued behind one waits for it.
#include "check.h"
#include <atomic>
#include <unistd.h>

static std::atomic<int> go, order, forbidden;
static int seen[3];

__global__ void set(int *p, int value) { *p = value; }

static void look(void *p)
{
    seen[order++] = *(int *)p;
}

static void called(cudaStream_t stream, cudaError_t status, void *data)
{
    CHECK(stream != NULL && status == cudaSuccess);
    look(data);
}

static void wait_for_host(void *)
{
    while (!go)
        usleep(100);
}

static void calls_cuda(void *p)
{
    void *q;
    forbidden = cudaMalloc(&q, 4) == cudaErrorNotPermitted && cudaGetLastError() == cudaErrorNotPermitted
        && cudaStreamQuery(0) == cudaErrorNotPermitted && cudaLaunchHostFunc(0, look, p) == cudaErrorNotPermitted;
}

int main()
{
    int *p;
    cudaStream_t s, t;
    OK(cudaMallocManaged(&p, sizeof *p));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    set<<<1, 1, 0, s>>>(p, 1);
    OK(cudaLaunchHostFunc(s, look, p));
    set<<<1, 1, 0, s>>>(p, 2);
    OK(cudaStreamAddCallback(s, called, p, 0));
    set<<<1, 1, 0, s>>>(p, 3);
    OK(cudaLaunchHostFunc(s, look, p));
    OK(cudaStreamSynchronize(s));
    CHECK(order == 3 && seen[0] == 1 && seen[1] == 2 && seen[2] == 3);

    // The host goes on, and so does the other stream.
    OK(cudaLaunchHostFunc(s, wait_for_host, NULL));
    set<<<1, 1, 0, t>>>(p, 4);
    OK(cudaStreamSynchronize(t));
    CHECK(*p == 4 && cudaStreamQuery(s) == cudaErrorNotReady);
    go = 1;
    OK(cudaStreamSynchronize(s));
    CHECK(cudaStreamQuery(s) == cudaSuccess);

    OK(cudaLaunchHostFunc(s, calls_cuda, NULL));
    OK(cudaDeviceSynchronize());
    CHECK(forbidden);
    CHECK(cudaLaunchHostFunc(s, NULL, NULL) == cudaErrorInvalidValue);
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    OK(cudaFree(p));
    return 0;
}
