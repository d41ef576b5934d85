// Launching kernels.

#include "operation.h"
#include "symbol.h"
#include <string.h>
#include <cuda_runtime_api.h>

// A stack of the configurations between <<< and >>>, each kept from its evaluation to the launch in
// the stub.
static __thread struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed[16];
static __thread int pushed_count;

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                            cudaStream_t stream)
{
    if (pushed_count == sizeof pushed / sizeof *pushed) return 1; // then the stub is not called
    pushed[pushed_count].grid = grid;
    pushed[pushed_count].block = block;
    pushed[pushed_count].shared = shared;
    pushed[pushed_count++].stream = stream;
    return 0;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (!pushed_count) return client_done(cudaErrorMissingConfiguration);
    pushed_count--;
    *grid = pushed[pushed_count].grid;
    *block = pushed[pushed_count].block;
    *shared = pushed[pushed_count].shared;
    *(cudaStream_t *)stream = pushed[pushed_count].stream;
    return cudaSuccess;
}

// Copies the arguments into the kernel's parameter block. False: they do not fit.
static bool pack(Symbol *symbol, void **arguments, char *block, size_t total)
{
    memset(block, 0, total);
    for (uint32_t i = 0; i < symbol_here(symbol)->found.kernel.count; i++) {
        WireParameter p = symbol->parameters[i];
        if (p.offset > total || p.size > total - p.offset) return false;
        memcpy(block + p.offset, arguments[i], p.size);
    }
    return true;
}

cudaError_t operation_kernel(const void *key, void **arguments, KernelOperation *kernel,
                             char parameters[WIRE_TAIL])
{
    cudaError_t error = client_open();
    if (error) return error;
    Symbol *symbol = symbol_find(key, false);
    if (!symbol) return symbol_no_kernel(key);
    error = symbol_resolve(symbol);
    if (error) return error;
    kernel->key = symbol->host ? symbol->host : key;
    kernel->symbol = symbol;
    kernel->parameters = parameters;
    kernel->bytes = symbol_here(symbol)->found.kernel.bytes;
    if (symbol_here(symbol)->found.kernel.count && !arguments)
        return client_refuse("a launch", cudaErrorInvalidValue,
                             "Each argument of the kernel is read from where its pointer points.",
                             "Give an array with a pointer to each argument.",
                             "was given no arguments, and its kernel has %u",
                             symbol_here(symbol)->found.kernel.count);
    if (kernel->bytes > WIRE_TAIL || !pack(symbol, arguments, parameters, kernel->bytes))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

cudaError_t operation_run_kernel(const Operation *operation, uint64_t stream)
{
    const KernelOperation *kernel = &operation->kernel;
    const Resolved *here = symbol_here(kernel->symbol);
    WireRequest request =
        operation_request(operation, kernel->only_checked ? WIRE_LAUNCH_CHECK : WIRE_LAUNCH);
    request.stream = stream;
    request.launch.kernel = here->found.kernel.id;
    memcpy(request.launch.grid, &kernel->grid, sizeof request.launch.grid);
    memcpy(request.launch.block, &kernel->block, sizeof request.launch.block);
    request.launch.dynamic_shared = kernel->shared;
    request.launch.dynamic_limit = here->dynamic_limit;
    request.launch.unchecked = kernel->unchecked;
    request.launch.cooperative = kernel->cooperative;
    const uint32_t cluster[] = { kernel->cluster.x, kernel->cluster.y, kernel->cluster.z };
    if (cluster[0] && here->cluster[0] && memcmp(cluster, here->cluster, sizeof cluster))
        return client_refuse(operation->call, cudaErrorInvalidClusterSize,
                             "__cluster_dims__ fixes the size when the kernel is compiled.",
                             "Leave the attribute out, or __cluster_dims__.",
                             "asks for clusters of %ux%ux%u, and the kernel has %ux%ux%u",
                             cluster[0], cluster[1], cluster[2], here->cluster[0], here->cluster[1],
                             here->cluster[2]);
    memcpy(request.launch.cluster, cluster[0] ? cluster : here->cluster, sizeof cluster);
    request.launch.cluster_limit =
        here->not_portable ? CLIENT_CLUSTER_BLOCKS : CLIENT_PORTABLE_CLUSTER_BLOCKS;
    request.launch.in_graph = kernel->in_graph;
    request.launch.reaches_all = kernel->reaches_all;
    WireReply reply;
    return client_call(&request, kernel->parameters, kernel->bytes, &reply, NULL, 0);
}

static cudaError_t launch_here(const char *call, const void *key, KernelOperation kernel,
                               void **arguments, cudaStream_t stream)
{
    char parameters[WIRE_TAIL];
    cudaError_t error = operation_kernel(key, arguments, &kernel, parameters);
    Operation operation = { .kind = OPERATION_KERNEL, .call = call, .kernel = kernel };
    return error ? error : operation_issue(&operation, stream);
}

// A launch runs on the device of its stream, even if another device is current.
static cudaError_t launch(const char *call, const void *key, KernelOperation kernel,
                          void **arguments, cudaStream_t stream)
{
    cudaError_t error = client_open();
    WireReply facts = { .stream.device = client_device() };
    if (!error && client_facts()->device_count > 1
        && (uintptr_t)stream > (uintptr_t)cudaStreamPerThread)
        error = client_stream_facts(call, client_stream(stream), &facts);
    if (error) return client_done(error);
    if (facts.stream.device == client_device())
        return launch_here(call, key, kernel, arguments, stream);
    uint32_t before = client_use_device(facts.stream.device);
    error = launch_here(call, key, kernel, arguments, stream);
    client_use_device(before);
    return error;
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
    KernelOperation how = { .grid = grid, .block = block, .shared = shared, .unchecked = true };
    cudaError_t error = launch("a launch", kernel, how, arguments, stream);
    if (error) client_unchecked();
    return client_done(error);
}
TWIN(__cudaLaunchKernel, __cudaLaunchKernel_ptsz,
     (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
      cudaStream_t stream),
     (kernel, grid, block, arguments, shared, stream))

EXPORT cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared, cudaStream_t stream)
{
    KernelOperation how = { .grid = grid, .block = block, .shared = shared };
    return client_done(launch("cudaLaunchKernel", kernel, how, arguments, stream));
}
TWIN(cudaLaunchKernel, cudaLaunchKernel_ptsz,
     (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
      cudaStream_t stream),
     (kernel, grid, block, arguments, shared, stream))

EXPORT cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block,
                                               void **arguments, size_t shared, cudaStream_t stream)
{
    KernelOperation how = { .grid = grid, .block = block, .shared = shared, .cooperative = true };
    return client_done(launch("cudaLaunchCooperativeKernel", kernel, how, arguments, stream));
}
TWIN(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz,
     (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
      cudaStream_t stream),
     (kernel, grid, block, arguments, shared, stream))

// Applies the attribute to the launch. Returns the name of a feature that the device lacks. NULL:
// the attribute is applied, or ignored because it changes no result. (Programmatic stream
// serialization allows a kernel to begin before the kernel before it ends; here it begins
// afterwards.)
static const char *apply(const cudaLaunchAttribute *attribute, KernelOperation *kernel)
{
    switch (attribute->id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling: return NULL;
    case cudaLaunchAttributeCooperative:
        kernel->cooperative = attribute->val.cooperative != 0;
        return NULL;
    case cudaLaunchAttributeClusterDimension:
        kernel->cluster = (dim3){ attribute->val.clusterDim.x, attribute->val.clusterDim.y,
                                  attribute->val.clusterDim.z };
        return NULL;
    case cudaLaunchAttributePreferredClusterDimension: // larger clusters are not used
        return NULL;
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        kernel->policy = (int)attribute->val.clusterSchedulingPolicyPreference;
        return NULL;
    case cudaLaunchAttributeProgrammaticEvent: // record_events() records it
    case cudaLaunchAttributeLaunchCompletionEvent: return NULL;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        return "cudaLaunchKernelEx with a node that kernels update";
    default: return NULL;
    }
}

// The event that the launch is to record; NULL: this is another attribute.
static const cudaEvent_t *event_of(const cudaLaunchAttribute *attribute)
{
    switch (attribute->id) {
    case cudaLaunchAttributeProgrammaticEvent: return &attribute->val.programmaticEvent.event;
    case cudaLaunchAttributeLaunchCompletionEvent:
        return &attribute->val.launchCompletionEvent.event;
    default: return NULL;
    }
}

static cudaError_t check_event(const cudaLaunchAttribute *attribute)
{
    bool programmatic = attribute->id == cudaLaunchAttributeProgrammaticEvent;
    int flags = programmatic ? attribute->val.programmaticEvent.flags
                             : attribute->val.launchCompletionEvent.flags;
    if (!*event_of(attribute)) return cudaErrorInvalidResourceHandle;
    return flags == cudaEventRecordExternal ? cudaErrorIllegalState
         : flags                            ? cudaErrorInvalidValue
                                            : cudaSuccess;
}

enum { NO_ATTRIBUTE = 15 }; // a gap in the numbers of attributes

static cudaError_t check_attribute(const cudaLaunchAttribute *attribute)
{
    unsigned id = attribute->id;
    const struct {
        unsigned x, y, z;
    } size = { attribute->val.clusterDim.x, attribute->val.clusterDim.y,
               attribute->val.clusterDim.z };
    if (id > cudaLaunchAttributeNvlinkUtilCentricScheduling || id == NO_ATTRIBUTE
        || id == cudaLaunchAttributeSynchronizationPolicy)
        return cudaErrorInvalidValue; // no attribute, or no attribute of launches
    if (!client_good_attribute(attribute->id, &attribute->val)) return cudaErrorInvalidValue;
    if (event_of(attribute)) return check_event(attribute);
    if (id == cudaLaunchAttributeClusterSchedulingPolicyPreference
        && (unsigned)attribute->val.clusterSchedulingPolicyPreference
               > cudaClusterSchedulingPolicyLoadBalancing)
        return cudaErrorInvalidValue;
    bool some = size.x || size.y || size.z, all = size.x && size.y && size.z;
    return id == cudaLaunchAttributeClusterDimension && some && !all ? cudaErrorInvalidClusterSize
                                                                     : cudaSuccess;
}

static cudaError_t record_events(const cudaLaunchConfig_t *config)
{
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < config->numAttrs && !error; i++)
        if (event_of(&config->attrs[i]))
            error = cudaEventRecord(*event_of(&config->attrs[i]), config->stream);
    return error;
}

// Are the preferred cluster sizes multiples of the required cluster size?
static bool may_prefer(const cudaLaunchConfig_t *config, dim3 cluster)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttributeValue *value = &config->attrs[i].val;
        const dim3 size = { value->preferredClusterDim.x, value->preferredClusterDim.y,
                            value->preferredClusterDim.z };
        if (config->attrs[i].id != cudaLaunchAttributePreferredClusterDimension
            || (!size.x && !size.y && !size.z))
            continue;
        if (!cluster.x || !size.x || !size.y || !size.z || size.x % cluster.x || size.y % cluster.y
            || size.z % cluster.z)
            return false;
    }
    return true;
}

EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **arguments)
{
    if (!config || (config->numAttrs && !config->attrs)) return client_done(cudaErrorInvalidValue);
    KernelOperation how = { .grid = config->gridDim,
                            .block = config->blockDim,
                            .shared = config->dynamicSmemBytes };
    if (!symbol_find(kernel, false)) return client_done(symbol_no_kernel(kernel));
    for (unsigned i = 0; i < config->numAttrs; i++) {
        cudaError_t error = check_attribute(&config->attrs[i]);
        if (error) return client_done(error);
        const char *missing = apply(&config->attrs[i], &how);
        if (missing) return client_unsupported(missing);
    }
    if (!may_prefer(config, how.cluster)) return client_done(cudaErrorInvalidClusterSize);
    cudaError_t error = launch("cudaLaunchKernelEx", kernel, how, arguments, config->stream);
    return client_done(error ? error : record_events(config));
}
TWIN(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz,
     (const cudaLaunchConfig_t *config, const void *kernel, void **arguments),
     (config, kernel, arguments))
