// Kernel nodes, and their attributes.

#include "graph_node.h"
#include "symbol.h"
#include <stdlib.h>

cudaError_t node_describe_kernel(const struct cudaKernelNodeParams *p, Operation *operation,
                                 char parameters[WIRE_TAIL])
{
    *operation = (Operation){ .kind = OPERATION_KERNEL, .call = "cudaGraphAddKernelNode" };
    if (!p) return cudaErrorInvalidValue;
    if (p->extra) return client_unsupported("a kernel node with `extra` parameters");
    operation->kernel.grid = p->gridDim;
    operation->kernel.block = p->blockDim;
    operation->kernel.shared = p->sharedMemBytes;
    operation->kernel.domains.remote = 1; // the default on an H200
    cudaError_t error = operation_kernel(p->func, p->kernelParams, &operation->kernel, parameters);
    if (error) return error;
    operation->kernel.only_checked = true;
    error = operation_run_kernel(operation, 0);
    operation->kernel.only_checked = false;
    return error;
}

EXPORT cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                          const cudaGraphNode_t *needs, size_t count,
                                          const struct cudaKernelNodeParams *p)
{
    Operation operation;
    char parameters[WIRE_TAIL];
    cudaError_t error = node_describe_kernel(p, &operation, parameters);
    return node_add(out, graph, needs, count, &operation, error);
}

static void copy_attributes(KernelOperation *to, const KernelOperation *from)
{
    to->cooperative = from->cooperative;
    to->cluster = from->cluster;
    to->policy = from->policy;
    to->priority = from->priority;
    to->window = from->window;
    to->domain = from->domain;
    to->domains = from->domains;
    to->carveout = from->carveout;
}

static cudaError_t set_kernel(Node *node, const struct cudaKernelNodeParams *p)
{
    Operation operation;
    char parameters[WIRE_TAIL];
    cudaError_t error = node_describe_kernel(p, &operation, parameters);
    if (!error && node && node->operation.kind == OPERATION_KERNEL)
        copy_attributes(&operation.kernel, &node->operation.kernel);
    return node_set(node, &operation, error);
}

EXPORT cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaKernelNodeParams *p)
{
    return set_kernel((Node *)node, p);
}

EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const struct cudaKernelNodeParams *p)
{
    return set_kernel(exec_node(__func__, (Exec *)exec, (Node *)node), p);
}

EXPORT cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                struct cudaKernelNodeParams *p)
{
    const Operation *operation = node_get(node, OPERATION_KERNEL, p);
    if (!operation) return client_done(cudaErrorInvalidValue);
    const KernelOperation *kernel = &operation->kernel;
    uint32_t count = symbol_here(kernel->symbol)->found.kernel.count;
    void **arguments = realloc(((Node *)node)->arguments, (count + 1) * sizeof *arguments);
    if (!arguments) return client_done(cudaErrorMemoryAllocation);
    ((Node *)node)->arguments = arguments;
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = kernel->parameters + kernel->symbol->parameters[i].offset;
    *p = (struct cudaKernelNodeParams){ (void *)kernel->key,      kernel->grid, kernel->block,
                                        (unsigned)kernel->shared, arguments,    NULL };
    return cudaSuccess;
}

static cudaError_t set_cluster(KernelOperation *kernel, dim3 size)
{
    if (!client_divides(size, kernel->grid)) return cudaErrorInvalidClusterSize;
    kernel->cluster = size;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                   const cudaLaunchAttributeValue *value)
{
    if (!node_get(node, OPERATION_KERNEL, value) || !client_good_attribute(id, value))
        return client_done(cudaErrorInvalidValue);
    KernelOperation *kernel = &((Node *)node)->operation.kernel;
    switch (id) {
    case cudaLaunchAttributeCooperative:
        kernel->cooperative = value->cooperative != 0;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        return client_done(set_cluster(
            kernel, (dim3){ value->clusterDim.x, value->clusterDim.y, value->clusterDim.z }));
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        kernel->policy = (int)value->clusterSchedulingPolicyPreference;
        return cudaSuccess;
    case cudaLaunchAttributePriority:
        kernel->priority = client_priority(value->priority);
        return cudaSuccess;
    case cudaLaunchAttributeAccessPolicyWindow:
        kernel->window = value->accessPolicyWindow;
        return cudaSuccess;
    case cudaLaunchAttributeMemSyncDomain:
        kernel->domain = value->memSyncDomain;
        return cudaSuccess;
    case cudaLaunchAttributeMemSyncDomainMap:
        kernel->domains = value->memSyncDomainMap;
        return cudaSuccess;
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
        kernel->carveout = value->sharedMemCarveout;
        return cudaSuccess;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        return client_unsupported("a node that kernels update");
    default: return client_done(cudaErrorInvalidValue);
    }
}

EXPORT cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                   cudaLaunchAttributeValue *value)
{
    const Operation *operation = node_get(node, OPERATION_KERNEL, value);
    if (!operation) return client_done(cudaErrorInvalidValue);
    const KernelOperation *kernel = &operation->kernel;
    switch (id) {
    case cudaLaunchAttributeCooperative:
        value->cooperative = kernel->cooperative;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        value->clusterDim.x = kernel->cluster.x, value->clusterDim.y = kernel->cluster.y,
        value->clusterDim.z = kernel->cluster.z;
        return cudaSuccess;
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        value->clusterSchedulingPolicyPreference =
            kernel->policy || !kernel->cluster.x ? (enum cudaClusterSchedulingPolicy)kernel->policy
                                                 : cudaClusterSchedulingPolicySpread;
        return cudaSuccess;
    case cudaLaunchAttributePriority: value->priority = kernel->priority; return cudaSuccess;
    case cudaLaunchAttributeAccessPolicyWindow:
        value->accessPolicyWindow = kernel->window;
        return cudaSuccess;
    case cudaLaunchAttributeMemSyncDomain:
        value->memSyncDomain = kernel->domain;
        return cudaSuccess;
    case cudaLaunchAttributeMemSyncDomainMap:
        value->memSyncDomainMap = kernel->domains;
        return cudaSuccess;
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
        value->sharedMemCarveout = kernel->carveout;
        return cudaSuccess;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        value->deviceUpdatableKernelNode.deviceUpdatable = 0;
        return cudaSuccess;
    default: return client_done(cudaErrorInvalidValue);
    }
}

EXPORT cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    if (!node_get(to, OPERATION_KERNEL, to) || !node_get(from, OPERATION_KERNEL, from))
        return client_done(cudaErrorInvalidValue);
    copy_attributes(&((Node *)to)->operation.kernel, &((Node *)from)->operation.kernel);
    return cudaSuccess;
}
