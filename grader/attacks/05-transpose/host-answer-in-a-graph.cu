// expect: SUSPECT
// says: by a copy from the host, all of it
// The host transposes; a graph's node brings the answer, after a kernel that moves the right sectors.
#include "05-transpose.h"

#include <stdlib.h>

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    size_t bytes = sizeof(float) * n;
    if (n == 0)
        return;

    float *from = (float *)malloc(bytes), *to = (float *)malloc(bytes);
    cudaMemcpy(from, in, bytes, cudaMemcpyDeviceToHost);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            to[col * rows + row] = from[row * cols + col];
    move<<<(n + 255) / 256, 256>>>(out, in, n);

    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaGraphNode_t node;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, out, to, bytes, cudaMemcpyHostToDevice);
    cudaGraphInstantiate(&run, graph, 0);
    cudaGraphLaunch(run, 0);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
    free(from);
    free(to);
}
