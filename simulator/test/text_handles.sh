#!/bin/sh
# What a person reads when a call is given a handle that is no more: where it was destroyed.
set -u
cd "$(dirname "$0")/../.."
. simulator/test/told

# ---- Handles that are no more

cat >"$scratch/destroyed.c" <<'END'
#include <cuda_runtime_api.h>

int main(void)
{
    cudaEvent_t there, gone;
    cudaStream_t stream;
    float ms;
    int *p;
    cudaMalloc((void **)&p, 4);
    cudaStreamCreate(&stream);
    cudaEventCreate(&there);
    cudaEventCreate(&gone);
    cudaStreamDestroy(stream);
    cudaEventDestroy(gone);

    for (int n = 0; n < 3; n++)
        cudaEventRecord(gone, 0);
    cudaEventSynchronize(gone);
    cudaEventElapsedTime(&ms, there, gone);
    cudaEventDestroy(gone);
    cudaStreamDestroy(stream);
    cudaStreamSynchronize(stream);
    cudaStreamWaitEvent(stream, there, 0);
    cudaMemcpyAsync(p, &ms, 4, cudaMemcpyHostToDevice, stream);
    cudaMemsetAsync(p, 0, 4, stream);
    cudaFreeAsync(p, stream);
    cudaFree(p);
    cudaEventDestroy(there);
    return 0;
}
END
builds_c destroyed
told 0 destroyed 'warpwise: call refused, destroyed.c:17 ' 'cudaEventRecord was given an event that is no more' \
    'destroyed by: cudaEventDestroy, destroyed.c:14 ' 'cudaEventSynchronize was' 'cudaEventElapsedTime was' 'cudaEventDestroy was' \
    'cudaStreamDestroy was given a stream that is no more' 'destroyed by: cudaStreamDestroy, destroyed.c:13 ' \
    'cudaStreamSynchronize was' 'cudaStreamWaitEvent was' 'cudaMemcpyAsync was' 'cudaMemsetAsync was' 'cudaFreeAsync was'
says 10

# Memory whose stream was destroyed before the memory was freed
cat >"$scratch/leaked.c" <<'END'
#include <cuda_runtime_api.h>

int main(void)
{
    cudaStream_t stream;
    void *p;
    cudaStreamCreate(&stream);
    cudaMallocAsync(&p, 100, stream);
    cudaStreamDestroy(stream);
    cudaFreeAsync(p, stream);
    return 0;
}
END
builds_c leaked
told 1 leaked 'cudaFreeAsync was given a stream that is no more destroyed by: cudaStreamDestroy, leaked.c:9 ' 'warpwise: leak, leaked.c:8 ' \
    'never freed: cudaFreeAsync was called for it and failed' 'next: Free it on a stream that exists'
says 3

# Graphs and pools, whose handles are called for in many ways; of two with one handle, the last that was destroyed counts.
cat >"$scratch/gone.c" <<'END'
#include <cuda_runtime_api.h>
#include <stdlib.h>

int main(int count, char **with)
{
    struct cudaMemPoolProps pinned = { .allocType = cudaMemAllocationTypePinned,
                                       .location = { cudaMemLocationTypeDevice, 0 } };
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaMemPool_t pool;
    size_t nodes = 0;
    void *p;
    if (count > 1 && atoi(with[1])) {
        cudaGraphCreate(&graph, 0);
        cudaGraphInstantiate(&exec, graph, 0);
        cudaGraphExecDestroy(exec);
        cudaGraphLaunch(exec, 0);
        cudaGraphDestroy(graph);
        cudaGraphInstantiate(&exec, graph, 0);
        cudaGraphInstantiate(&exec, (cudaGraph_t)&nodes, 0);
        cudaGraphLaunch((cudaGraphExec_t)&nodes, 0);
        return 0;
    }
    for (int n = 0; n < 2; n++) {
        cudaMemPoolCreate(&pool, &pinned);
        if (!n) cudaMemPoolDestroy(pool);
    }
    cudaGraphCreate(&graph, 0);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
    cudaGraphExecDestroy(exec);
    cudaMemPoolDestroy(pool);

    cudaGraphAddEmptyNode(&node, graph, NULL, 0);
    cudaGraphClone(&clone, graph);
    cudaGraphGetNodes(graph, NULL, &nodes);
    cudaGraphDestroy(graph);
    cudaGraphExecUpdate(exec, graph, NULL);
    cudaGraphExecDestroy(exec);
    cudaMallocFromPoolAsync(&p, 4, pool, 0);
    cudaMemPoolTrimTo(pool, 0);
    cudaMemPoolDestroy(pool);
    cudaGraphDestroy(NULL);
    cudaGraphClone(&clone, (cudaGraph_t)&nodes);
    return 0;
}
END
builds_c gone
told 0 gone 'cudaGraphAddEmptyNode was given a graph that is no more destroyed by: cudaGraphDestroy, gone.c:31 ' \
    'cudaGraphClone was given a graph that is no more' 'cudaGraphGetNodes was' 'cudaGraphDestroy was' \
    'cudaGraphExecUpdate was given an executable graph that is no more destroyed by: cudaGraphExecDestroy, gone.c:32 ' \
    'cudaGraphExecDestroy was' 'cudaMallocFromPoolAsync was given a memory pool that is no more' \
    'destroyed by: cudaMemPoolDestroy, gone.c:33 ' 'cudaMemPoolTrimTo was' 'cudaMemPoolDestroy was'
says 9
told 1 'gone 1' 'misuse of the CUDA runtime, gone.c:18 ' 'cudaGraphLaunch was given an executable graph that is no more' 'gone.c:17 ' \
    'cudaGraphInstantiate: this is no graph' 'cudaGraphLaunch: this is no executable graph' \
    'cudaGraphInstantiate was given a graph that is no more' 'destroyed by: cudaGraphDestroy, gone.c:19 '

done_with text_handles
