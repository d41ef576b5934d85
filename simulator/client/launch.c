// Launching kernels.

#include "symbol.h"
#include <string.h>
#include <cuda_runtime_api.h>

// The configuration between <<< and >>>, from its evaluation to the stub's launch.
static __thread struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed[16];
static __thread int pushed_count;

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                            cudaStream_t stream)
{
    if (pushed_count == sizeof pushed / sizeof *pushed)
        return 1;                               // the stub is not called then
    pushed[pushed_count].grid = grid;
    pushed[pushed_count].block = block;
    pushed[pushed_count].shared = shared;
    pushed[pushed_count++].stream = stream;
    return 0;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                              void *stream)
{
    if (!pushed_count)
        return client_done(cudaErrorMissingConfiguration);
    pushed_count--;
    *grid = pushed[pushed_count].grid;
    *block = pushed[pushed_count].block;
    *shared = pushed[pushed_count].shared;
    *(cudaStream_t *)stream = pushed[pushed_count].stream;
    return cudaSuccess;
}

static size_t pack(Symbol *symbol, void **arguments, char *block)
{
    size_t total = symbol_here(symbol)->found.kernel.bytes;
    if (total > WIRE_TAIL)
        return SIZE_MAX;
    memset(block, 0, total);
    for (uint32_t i = 0; i < symbol_here(symbol)->found.kernel.count; i++) {
        WireParameter p = symbol->parameters[i];
        if (p.offset > total || p.size > total - p.offset)
            return SIZE_MAX;
        memcpy(block + p.offset, arguments[i], p.size);
    }
    return total;
}

static cudaError_t launch(const char *call, const void *key, dim3 grid, dim3 block,
                          void **arguments, size_t shared, cudaStream_t stream, bool unchecked)
{
    cudaError_t error = client_open();
    if (error)
        return error;
    Symbol *symbol = symbol_find(key, false);
    if (!symbol)
        return cudaErrorInvalidDeviceFunction;
    error = symbol_resolve(symbol);
    if (error)
        return error;
    char parameters[WIRE_TAIL];
    size_t bytes = pack(symbol, arguments, parameters);
    if (bytes == SIZE_MAX)
        return cudaErrorInvalidValue;
    WireRequest request = client_request(WIRE_LAUNCH, call);
    request.stream = client_stream(stream);
    request.launch.kernel = symbol_here(symbol)->found.kernel.id;
    memcpy(request.launch.grid, &grid, sizeof request.launch.grid);
    memcpy(request.launch.block, &block, sizeof request.launch.block);
    request.launch.dynamic_shared = shared;
    request.launch.dynamic_limit = symbol_here(symbol)->dynamic_limit;
    request.launch.unchecked = unchecked;
    WireReply reply;
    return client_call(&request, parameters, bytes, &reply, NULL, 0);
}

EXPORT cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    Symbol *symbol = symbol_find(host, false);
    if (!kernel || !symbol)
        return client_done(kernel ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
    *kernel = (cudaKernel_t)symbol;
    return cudaSuccess;
}

EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    return cudaGetKernel(kernel, host);
}

EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                      size_t shared, cudaStream_t stream)
{
    cudaError_t error = launch("a launch", kernel, grid, block, arguments, shared, stream, true);
    if (error)
        client_unchecked();
    return client_done(error);
}
TWIN(__cudaLaunchKernel, __cudaLaunchKernel_ptsz);

EXPORT cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared, cudaStream_t stream)
{
    return client_done(
        launch("cudaLaunchKernel", kernel, grid, block, arguments, shared, stream, false));
}
TWIN(cudaLaunchKernel, cudaLaunchKernel_ptsz);

// The attributes that only tell the hardware how to go about the same work.
static bool is_hint(const cudaLaunchAttribute *attribute)
{
    switch (attribute->id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
        return true;
    case cudaLaunchAttributeCooperative:
        return !attribute->val.cooperative;
    case cudaLaunchAttributeClusterDimension:
        return attribute->val.clusterDim.x * attribute->val.clusterDim.y
            * attribute->val.clusterDim.z <= 1;
    default:
        return false;
    }
}

EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **arguments)
{
    if (!config)
        return client_done(cudaErrorInvalidValue);
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (!is_hint(&config->attrs[i]))
            return client_unsupported("cudaLaunchKernelEx with clusters or cooperation");
    return client_done(launch("cudaLaunchKernelEx", kernel, config->gridDim, config->blockDim,
                              arguments, config->dynamicSmemBytes, config->stream, false));
}
TWIN(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz);
