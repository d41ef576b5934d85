// expect: exit 0
// What was captured names its kernels as the program does: a program finds those that it wants to give other arguments.
#include "check.h"

enum { N = 64 };

__global__ void fill(int *out, int first) { out[threadIdx.x] = first + threadIdx.x; }
__global__ void add(int *out, int value) { out[threadIdx.x] += value; }

// In all nodes of that kernel.
static int give(cudaGraph_t graph, void (*kernel)(int *, int), int *out, int value)
{
    cudaGraphNode_t nodes[3];
    size_t count = 3;
    int found = 0;
    OK(cudaGraphGetNodes(graph, nodes, &count));
    CHECK(count == 3);
    for (size_t i = 0; i < count; i++) {
        cudaKernelNodeParams p;
        OK(cudaGraphKernelNodeGetParams(nodes[i], &p));
        CHECK(p.func == (void *)fill || p.func == (void *)add);
        if (p.func != (void *)kernel) continue;
        void *arguments[] = { &out, &value };
        p.kernelParams = arguments;
        OK(cudaGraphKernelNodeSetParams(nodes[i], &p));
        found++;
    }
    return found;
}

int main()
{
    int *out, host[N];
    cudaStream_t s;
    cudaGraph_t graph, changed;
    cudaGraphExec_t exec;
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaStreamCreate(&s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    fill<<<1, N, 0, s>>>(out, 7);
    add<<<1, N, 0, s>>>(out, 100);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(N);
    config.stream = s;
    OK(cudaLaunchKernelEx(&config, add, out, 200));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphClone(&changed, graph));
    CHECK(give(changed, fill, out, 50) == 1);
    CHECK(give(changed, add, out, 1) == 2);
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, changed, &info));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) CHECK(host[i] == 52 + i);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(changed));
    OK(cudaStreamDestroy(s));
    OK(cudaFree(out));
    return 0;
}
