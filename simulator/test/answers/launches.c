// Launches, attributes of kernels, occupancy, what is left of an error, and errors that stick.
#include "ask.h"

static cudaError_t launch_dims(const void *kernel, dim3 grid, dim3 block)
{
    return cudaLaunchKernel(kernel, grid, block, NULL, 0, 0);
}

GROUP(launches, 1)
{
    int *d;
    DO(cudaMalloc((void **)&d, 1 << 20));
    void *arguments[] = { &d };
    const void *empty = (const void *)nothing, *dynamic = (const void *)dynamic_shared;
    ask("null", launch(NULL, 1, 1, NULL, 0, 0));
    ask("host memory", launch(&d, 1, 1, NULL, 0, 0));
    ask("no blocks", launch(empty, 0, 1, NULL, 0, 0));
    ask("no threads", launch(empty, 1, 0, NULL, 0, 0));
    ask("no slices of blocks", launch_dims(empty, (dim3){ 1, 1, 0 }, (dim3){ 1, 1, 1 }));
    ask("1024 threads", launch(empty, 1, 1024, NULL, 0, 0));
    ask("1025 threads", launch(empty, 1, 1025, NULL, 0, 0));
    ask("2048 threads", launch(empty, 1, 2048, NULL, 0, 0));
    ask("32 x 33 threads", launch_dims(empty, (dim3){ 1, 1, 1 }, (dim3){ 32, 33, 1 }));
    ask("1025 rows of threads", launch_dims(empty, (dim3){ 1, 1, 1 }, (dim3){ 1, 1025, 1 }));
    ask("64 slices of threads", launch_dims(empty, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 64 }));
    ask("65 slices of threads", launch_dims(empty, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 65 }));
    ask("65535 rows of blocks", launch_dims(empty, (dim3){ 1, 65535, 1 }, (dim3){ 1, 1, 1 }));
    ask("65536 rows of blocks", launch_dims(empty, (dim3){ 1, 65536, 1 }, (dim3){ 1, 1, 1 }));
    ask("65536 slices of blocks", launch_dims(empty, (dim3){ 1, 1, 65536 }, (dim3){ 1, 1, 1 }));
    ask("2^31 blocks", launch_dims(empty, (dim3){ 1u << 31, 1, 1 }, (dim3){ 1, 1, 1 }));
    ask("more threads than the bounds", launch((const void *)bounded, 1, 257, arguments, 0, 0));
    ask("shared memory of 48 KiB", launch(dynamic, 1, 1, arguments, 49152, 0));
    ask("a byte more", launch(dynamic, 1, 1, arguments, 49153, 0));
    ask("a byte more, beside none that is used", launch(empty, 1, 1, NULL, 49153, 0));
    ask("48 KiB beside 4 KiB", launch((const void *)static_shared, 1, 1, arguments, 49152, 0));
    ask("44 KiB beside 4 KiB", launch((const void *)static_shared, 1, 1, arguments, 45056, 0));
    ask("allow 227 KiB",
        cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    ask("allow a byte more",
        cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
    ask("allow -1", cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    ask("allow 227 KiB beside 4",
        cudaFuncSetAttribute((const void *)static_shared,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    ask("allow 223 KiB beside 4",
        cudaFuncSetAttribute((const void *)static_shared,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, 228352));
    ask("227 KiB", launch(dynamic, 1, 1, arguments, 232448, 0));
    ask("a byte more, once 227 KiB are allowed", launch(dynamic, 1, 1, arguments, 232449, 0));
    ask("allow 64 KiB",
        cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    ask("65 KiB, once 64 are allowed", launch(dynamic, 1, 1, arguments, 66560, 0));
    ask("carveout 101",
        cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    ask("carveout -2",
        cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
    ask("carveout -1",
        cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
    ask("carveout 50",
        cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    ask("attribute 99 of a kernel", cudaFuncSetAttribute(dynamic, (enum cudaFuncAttribute)99, 1));
    ask("attribute of null",
        cudaFuncSetAttribute(NULL, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    ask("attribute of host memory",
        cudaFuncSetAttribute(&d, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    ask("cache preference", cudaFuncSetCacheConfig(dynamic, cudaFuncCachePreferShared));
    ask("cache preference 9", cudaFuncSetCacheConfig(dynamic, (enum cudaFuncCache)9));
    ask("cache preference of null", cudaFuncSetCacheConfig(NULL, cudaFuncCachePreferShared));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(cooperative, 1)
{
    int *d;
    DO(cudaMalloc((void **)&d, 1 << 20));
    void *arguments[] = { &d };
    ask("as many as there is room for",
        cudaLaunchCooperativeKernel((const void *)nothing, (dim3){ 132 * 32, 1, 1 },
                                    (dim3){ 32, 1, 1 }, NULL, 0, 0));
    ask("a block more",
        cudaLaunchCooperativeKernel((const void *)nothing, (dim3){ 132 * 32 + 1, 1, 1 },
                                    (dim3){ 32, 1, 1 }, NULL, 0, 0));
    ask("two of 1024 threads a multiprocessor",
        cudaLaunchCooperativeKernel((const void *)nothing, (dim3){ 264, 1, 1 },
                                    (dim3){ 1024, 1, 1 }, NULL, 0, 0));
    ask("and a block more", cudaLaunchCooperativeKernel((const void *)nothing, (dim3){ 265, 1, 1 },
                                                        (dim3){ 1024, 1, 1 }, NULL, 0, 0));
    ask("no blocks", cudaLaunchCooperativeKernel((const void *)nothing, (dim3){ 0, 1, 1 },
                                                 (dim3){ 32, 1, 1 }, NULL, 0, 0));
    ask("1025 threads", cudaLaunchCooperativeKernel((const void *)nothing, (dim3){ 1, 1, 1 },
                                                    (dim3){ 1025, 1, 1 }, NULL, 0, 0));
    ask("shared memory for four a multiprocessor",
        cudaLaunchCooperativeKernel((const void *)dynamic_shared, (dim3){ 528, 1, 1 },
                                    (dim3){ 32, 1, 1 }, arguments, 49152, 0));
    ask("and one block more",
        cudaLaunchCooperativeKernel((const void *)dynamic_shared, (dim3){ 529, 1, 1 },
                                    (dim3){ 32, 1, 1 }, arguments, 49152, 0));
    ask("null",
        cudaLaunchCooperativeKernel(NULL, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, NULL, 0, 0));
    ask("afterwards", cudaDeviceSynchronize());
}

static cudaError_t launch_cluster(const void *kernel, unsigned blocks, unsigned size)
{
    cudaLaunchAttribute attribute = { .id = cudaLaunchAttributeClusterDimension };
    attribute.val.clusterDim.x = size, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {
        .gridDim = { blocks, 1, 1 }, .blockDim = { 32, 1, 1 }, .attrs = &attribute, .numAttrs = 1
    };
    return cudaLaunchKernelExC(&config, kernel, NULL);
}

GROUP(clusters, 1)
{
    const void *empty = (const void *)nothing;
    cudaLaunchAttribute attribute = { .id = (cudaLaunchAttributeID)99 };
    cudaLaunchConfig_t config = {
        .gridDim = { 1, 1, 1 }, .blockDim = { 32, 1, 1 }, .attrs = &attribute, .numAttrs = 1
    };
    ask("config null", cudaLaunchKernelExC(NULL, empty, NULL));
    ask("kernel null", cudaLaunchKernelExC(&config, NULL, NULL));
    ask("attribute 99", cudaLaunchKernelExC(&config, empty, NULL));
    attribute.id = cudaLaunchAttributeIgnore;
    ask("attribute to be ignored", cudaLaunchKernelExC(&config, empty, NULL));
    attribute.id = cudaLaunchAttributePriority, attribute.val.priority = 50;
    ask("priority 50", cudaLaunchKernelExC(&config, empty, NULL));
    attribute.id = cudaLaunchAttributeSynchronizationPolicy;
    ask("how to wait", cudaLaunchKernelExC(&config, empty, NULL));
    config.attrs = NULL;
    ask("one attribute, no list", cudaLaunchKernelExC(&config, empty, NULL));
    ask("of 2", launch_cluster(empty, 4, 2));
    ask("of 2, three blocks", launch_cluster(empty, 3, 2));
    ask("of 3", launch_cluster(empty, 9, 3));
    ask("of 0", launch_cluster(empty, 8, 0));
    ask("of 8", launch_cluster(empty, 8, 8));
    ask("of 9", launch_cluster(empty, 9, 9));
    ask("of 16", launch_cluster(empty, 16, 16));
    ask("allow what is not portable",
        cudaFuncSetAttribute(empty, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    ask("of 16, allowed", launch_cluster(empty, 16, 16));
    ask("of 17, allowed", launch_cluster(empty, 17, 17));
    int size = 0;
    cudaLaunchConfig_t plain = { .gridDim = { 64, 1, 1 }, .blockDim = { 256, 1, 1 } };
    ask("largest", cudaOccupancyMaxPotentialClusterSize(&size, empty, &plain));
    tell("largest is", "%d", size);
    ask("afterwards", cudaDeviceSynchronize());
}

static void attributes_of(const char *whose, const void *kernel)
{
    struct cudaFuncAttributes a;
    cudaError_t error = cudaFuncGetAttributes(&a, kernel);
    if (error) {
        tell(whose, "%s, last error %s", cudaGetErrorName(error),
             cudaGetErrorName(cudaGetLastError()));
        return;
    }
    tell(whose,
         "shared %zu, constant %zu, local %zu, threads %d, ptx %d, binary %d, ca %d, dynamic %d, "
         "carveout %d, cluster %d of %d %d %d, "
         "policy %d, not portable %d",
         a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock, a.ptxVersion,
         a.binaryVersion, a.cacheModeCA, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout,
         a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight,
         a.requiredClusterDepth, a.clusterSchedulingPolicyPreference,
         a.nonPortableClusterSizeAllowed);
}

GROUP(kernels, 1)
{
    int x;
    attributes_of("empty", (const void *)nothing);
    attributes_of("with static shared memory", (const void *)static_shared);
    attributes_of("with dynamic shared memory", (const void *)dynamic_shared);
    attributes_of("with bounds", (const void *)bounded);
    DO(cudaFuncSetAttribute((const void *)dynamic_shared,
                            cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    DO(cudaFuncSetAttribute((const void *)dynamic_shared,
                            cudaFuncAttributePreferredSharedMemoryCarveout, 30));
    attributes_of("with 100000 bytes allowed", (const void *)dynamic_shared);
    attributes_of("null", NULL);
    attributes_of("host memory", &x);
    ask("to nowhere", cudaFuncGetAttributes(NULL, (const void *)nothing));
}

static void resident(const char *question, const void *kernel, int threads, size_t shared)
{
    int blocks = -7;
    cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
    tell(question, "%s, %d", cudaGetErrorName(error), blocks);
    cudaGetLastError();
}

GROUP(occupancy, 1)
{
    const void *empty = (const void *)nothing, *dynamic = (const void *)dynamic_shared;
    resident("no threads", empty, 0, 0);
    resident("-1 threads", empty, -1, 0);
    resident("1 thread", empty, 1, 0);
    resident("32 threads", empty, 32, 0);
    resident("33 threads", empty, 33, 0);
    resident("100 threads", empty, 100, 0);
    resident("256 threads", empty, 256, 0);
    resident("1024 threads", empty, 1024, 0);
    resident("1025 threads", empty, 1025, 0);
    resident("257 threads of 256", (const void *)bounded, 257, 0);
    resident("128 threads, 1 byte", dynamic, 128, 1);
    resident("128 threads, 10000 bytes", dynamic, 128, 10000);
    resident("128 threads, 48 KiB", dynamic, 128, 49152);
    resident("128 threads, 49153 bytes", dynamic, 128, 49153);
    resident("128 threads, 300000 bytes", dynamic, 128, 300000);
    DO(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    resident("128 threads, 49153 bytes, allowed", dynamic, 128, 49153);
    resident("128 threads, 115712 bytes, allowed", dynamic, 128, 115712);
    resident("128 threads, 115713 bytes, allowed", dynamic, 128, 115713);
    resident("128 threads, 227 KiB, allowed", dynamic, 128, 232448);
    resident("null", NULL, 128, 0);
    ask("to nowhere", cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, empty, 128, 0));
    int blocks;
    ask("flags 9",
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, empty, 128, 0, 9));
    static const struct {
        int blocks, threads;
    } shapes[] = { { 1, 128 }, { 2, 128 }, { 3, 128 }, { 8, 128 },
                   { 32, 32 }, { 33, 32 }, { 0, 128 }, { 3, 1024 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char question[80];
        size_t bytes = 7;
        cudaError_t error = cudaOccupancyAvailableDynamicSMemPerBlock(
            &bytes, dynamic, shapes[i].blocks, shapes[i].threads);
        snprintf(question, sizeof question, "shared memory for %d blocks of %d", shapes[i].blocks,
                 shapes[i].threads);
        tell(question, "%s, %zu", cudaGetErrorName(error), bytes);
        cudaGetLastError();
    }
    cudaLaunchAttribute attribute = { .id = cudaLaunchAttributeClusterDimension };
    cudaLaunchConfig_t config = {
        .gridDim = { 1024, 1, 1 }, .blockDim = { 1024, 1, 1 }, .attrs = &attribute, .numAttrs = 1
    };
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    for (unsigned size = 1; size <= 8; size *= 2) {
        char question[80];
        int clusters = -7;
        attribute.val.clusterDim.x = size;
        cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, empty, &config);
        snprintf(question, sizeof question, "clusters of %u blocks of 1024 threads", size);
        tell(question, "%s, %d", cudaGetErrorName(error), clusters);
    }
}

// ---- Errors that do not stick

GROUP(last_errors, 1)
{
    void *p;
    int value;
    cudaEvent_t e;
    const void *empty = (const void *)nothing;
    DO(cudaFree(NULL));
    DO(cudaEventCreate(&e));
    launch(empty, 0, 1, NULL, 0, 0);
    tell("after a bad launch", "%s", cudaGetErrorName(cudaPeekAtLastError()));
    cudaError_t error = cudaMalloc(&p, 16);
    tell("a good call then", "%s, last error %s", cudaGetErrorName(error),
         cudaGetErrorName(cudaPeekAtLastError()));
    error = launch(empty, 1, 1, NULL, 0, 0);
    tell("a good launch then", "%s, last error %s", cudaGetErrorName(error),
         cudaGetErrorName(cudaPeekAtLastError()));
    error = cudaDeviceSynchronize();
    tell("waiting then", "%s, last error %s", cudaGetErrorName(error),
         cudaGetErrorName(cudaPeekAtLastError()));
    error = cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0);
    tell("another error then", "%s, last error %s", cudaGetErrorName(error),
         cudaGetErrorName(cudaPeekAtLastError()));
    tell("asked", "%s", cudaGetErrorName(cudaGetLastError()));
    tell("asked again", "%s", cudaGetErrorName(cudaGetLastError()));
    error = cudaSetDevice(4711);
    tell("an ordinal too large", "%s, last error %s", cudaGetErrorName(error),
         cudaGetErrorName(cudaGetLastError()));
    error = cudaGetDevice(&value);
    tell("the device then", "%s, %d", cudaGetErrorName(error), value);
    tell("name of 12345", "%s", cudaGetErrorName((cudaError_t)12345));
    tell("words of 12345", "%s", cudaGetErrorString((cudaError_t)12345));
    tell("words of 1", "%s", cudaGetErrorString(cudaErrorInvalidValue));
    tell("words of 700", "%s", cudaGetErrorString(cudaErrorIllegalAddress));
    tell("words of 719", "%s", cudaGetErrorString(cudaErrorLaunchFailure));
}

// ---- Errors that do

static void after_fault(void)
{
    void *p;
    ask("then malloc", cudaMalloc(&p, 16));
    ask("then wait", cudaDeviceSynchronize());
    ask("then launch", launch((const void *)nothing, 1, 1, NULL, 0, 0));
}

GROUP(sticky, 1)
{
    char *d, *q, *pinned, *null = NULL;
    void *p, *arguments[] = { &null };
    int value = 0;
    unsigned flags;
    size_t size;
    float ms;
    cudaStream_t s;
    cudaEvent_t a, b;
    cudaGraph_t g;
    struct cudaDeviceProp prop;
    struct cudaFuncAttributes attributes;
    struct cudaPointerAttributes pointer;
    static char host[4096];
    DO(cudaMalloc((void **)&d, 4096));
    DO(cudaMalloc((void **)&q, 4096));
    DO(cudaMallocHost((void **)&pinned, 4096));
    DO(cudaStreamCreate(&s));
    DO(cudaEventCreate(&a));
    DO(cudaEventCreate(&b));
    DO(cudaEventRecord(a, s));
    DO(cudaEventRecord(b, s));
    DO(cudaDeviceSynchronize());
    ask("the launch", launch((const void *)write_at, 1, 1, arguments, 0, 0));
    ask("waiting", cudaDeviceSynchronize());
    ask("waiting again", cudaDeviceSynchronize());
    ask("last error", cudaGetLastError());
    ask("last error again", cudaPeekAtLastError());
    ask("malloc", cudaMalloc(&p, 16));
    ask("malloc of nothing", cudaMalloc(&p, 0));
    ask("free", cudaFree(d));
    ask("free null", cudaFree(NULL));
    ask("pinned", cudaMallocHost(&p, 16));
    ask("free pinned", cudaFreeHost(pinned));
    ask("managed", cudaMallocManaged(&p, 16, cudaMemAttachGlobal));
    ask("from a pool", cudaMallocAsync(&p, 16, s));
    ask("register", cudaHostRegister(host, 16, 0));
    ask("copy", cudaMemcpy(host, q, 16, cudaMemcpyDeviceToHost));
    ask("copy of nothing", cudaMemcpy(host, q, 0, cudaMemcpyDeviceToHost));
    ask("copy of kind 9", cudaMemcpy(host, q, 16, (enum cudaMemcpyKind)9));
    ask("copy between host and host", cudaMemcpy(host, host + 64, 16, cudaMemcpyHostToHost));
    ask("fill", cudaMemset(q, 0, 16));
    ask("how much is free", cudaMemGetInfo(&size, &size));
    ask("pointer", cudaPointerGetAttributes(&pointer, q));
    ask("pointer of the host", cudaPointerGetAttributes(&pointer, host));
    ask("symbol's address", cudaGetSymbolAddress(&p, variable));
    ask("stream, create", cudaStreamCreate(&(cudaStream_t){ 0 }));
    ask("stream, wait", cudaStreamSynchronize(s));
    ask("stream, query", cudaStreamQuery(s));
    ask("stream, flags", cudaStreamGetFlags(s, &flags));
    ask("stream, destroy", cudaStreamDestroy(s));
    ask("event, create", cudaEventCreate(&(cudaEvent_t){ 0 }));
    ask("event, record", cudaEventRecord(a, 0));
    ask("event, query", cudaEventQuery(a));
    ask("event, wait", cudaEventSynchronize(a));
    ask("event, time", cudaEventElapsedTime(&ms, a, b));
    ask("event, destroy", cudaEventDestroy(b));
    ask("launch", launch((const void *)nothing, 1, 1, NULL, 0, 0));
    ask("launch of 2048 threads", launch((const void *)nothing, 1, 2048, NULL, 0, 0));
    ask("kernel's attributes", cudaFuncGetAttributes(&attributes, (const void *)nothing));
    ask("kernel's attribute set",
        cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             100));
    ask("occupancy",
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, (const void *)nothing, 32, 0));
    ask("device", cudaGetDevice(&value));
    ask("devices", cudaGetDeviceCount(&value));
    ask("set device", cudaSetDevice(0));
    ask("set device 4711", cudaSetDevice(4711));
    ask("properties", cudaGetDeviceProperties(&prop, 0));
    ask("attribute", cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    ask("limit", cudaDeviceGetLimit(&size, cudaLimitStackSize));
    ask("set limit", cudaDeviceSetLimit(cudaLimitStackSize, 2048));
    ask("versions", cudaRuntimeGetVersion(&value));
    ask("graph, create", cudaGraphCreate(&g, 0));
    ask("capture", cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
    ask("host function", cudaLaunchHostFunc(0, (cudaHostFn_t)free, NULL));
    ask("reset", cudaDeviceReset());
    ask("malloc after that", cudaMalloc(&p, 16));
}

GROUP(fault_trap, 1)
{
    DO(launch((const void *)trap, 1, 1, NULL, 0, 0));
    ask("waiting", cudaDeviceSynchronize());
    after_fault();
}

GROUP(fault_assert, 1)
{
    int x = 0;
    void *arguments[] = { &x };
    DO(launch((const void *)fail_assert, 1, 1, arguments, 0, 0));
    ask("waiting", cudaDeviceSynchronize());
    after_fault();
}

GROUP(fault_misaligned, 1)
{
    char *d;
    void *arguments[] = { &d };
    DO(cudaMalloc((void **)&d, 64));
    DO(launch((const void *)misaligned, 1, 1, arguments, 0, 0));
    ask("waiting", cudaStreamSynchronize(0));
    after_fault();
}

GROUP(fault_in_copy, 1)
{
    char *d, *q, host[16];
    void *arguments[] = { &d };
    DO(cudaMalloc((void **)&q, 64));
    DO(cudaMalloc((void **)&d, 64));
    DO(launch((const void *)misaligned, 1, 1, arguments, 0, 0));
    ask("copying", cudaMemcpy(host, q, 16, cudaMemcpyDeviceToHost));
    after_fault();
}

GROUP(fault_past_shared, 1)
{
    int *d, at = 1 << 20;
    void *arguments[] = { &at, &d };
    DO(cudaMalloc((void **)&d, 64));
    DO(launch((const void *)past_shared, 1, 1, arguments, 0, 0));
    ask("waiting", cudaDeviceSynchronize());
    after_fault();
}

GROUP(fault_stack, 1)
{
    int *d, n = 1;
    void *arguments[] = { &n, &d };
    DO(cudaMalloc((void **)&d, 64));
    DO(launch((const void *)recurse, 1, 1, arguments, 0, 0));
    ask("waiting", cudaDeviceSynchronize());
    after_fault();
}

GROUP(fault_null_function, 1)
{
    int *d;
    void *arguments[] = { &d };
    DO(cudaMalloc((void **)&d, 64));
    DO(cudaMemset(d, 0, 64));
    DO(launch((const void *)call_null, 1, 1, arguments, 0, 0));
    ask("waiting", cudaDeviceSynchronize());
    after_fault();
}

GROUP(fault_host_memory, 1)
{
    char *p = malloc(64);
    int supported = 0;
    void *arguments[] = { &p };
    DO(cudaDeviceGetAttribute(&supported, cudaDevAttrPageableMemoryAccess, 0));
    if (supported) {
        tell("waiting", "this machine's devices read malloc's memory");
        return;
    }
    DO(launch((const void *)write_at, 1, 1, arguments, 0, 0));
    ask("waiting", cudaDeviceSynchronize());
    after_fault();
}

// ---- Kernels that launch kernels

static void print_codes(const char *question, const int *codes, int count)
{
    char words[512] = "";
    for (int i = 0; i < count; i++) sprintf(words + strlen(words), " %d", codes[i]);
    tell(question, "%s", words + 1);
}

GROUP(nested, 1)
{
    int *d, codes[64], n, depth = 0;
    void *deeper[] = { &d, &depth }, *many[] = { &d, &n };
    DO(cudaMalloc((void **)&d, sizeof codes));
    DO(cudaMemset(d, 0, sizeof codes));
    DO(launch((const void *)launch_deeper, 1, 1, deeper, 0, 0));
    ask("deep launches", cudaDeviceSynchronize());
    DO(cudaMemcpy(codes, d, sizeof codes, cudaMemcpyDeviceToHost));
    tell("deepest", "%d, then error %d", codes[0], codes[1]);
    static const int counts[] = { 2500, 2501, -2500 };
    for (int i = 0; i < 3; i++) {
        char question[64];
        n = counts[i];
        DO(cudaMemset(d, 0, sizeof codes));
        DO(launch((const void *)launch_many, 1, 1, many, 0, 0));
        snprintf(question, sizeof question, "2500 launches %s",
                 n < 0   ? "at the tail"
                 : n & 1 ? "fire and forget"
                         : "in a row");
        ask(question, cudaDeviceSynchronize());
        DO(cudaMemcpy(codes, d, sizeof codes, cudaMemcpyDeviceToHost));
        tell(question, "%d ran, %d were launched, error %d", codes[0], codes[1], codes[2]);
    }
}

// What the kernel writes down of the calls that it makes.
static void codes_of(const void *kernel, int count)
{
    int *d, codes[64];
    void *arguments[] = { &d };
    DO(cudaMalloc((void **)&d, sizeof codes));
    DO(cudaMemset(d, 0, sizeof codes));
    DO(launch(kernel, 1, 1, arguments, 0, 0));
    ask("waiting", cudaDeviceSynchronize());
    DO(cudaMemcpy(codes, d, sizeof codes, cudaMemcpyDeviceToHost));
    print_codes("codes", codes, count);
}

GROUP(nested_calls, 1) { codes_of((const void *)call_runtime, 19); }
GROUP(nested_questions, 1) { codes_of((const void *)ask_runtime, 18); }
GROUP(nested_errors, 1) { codes_of((const void *)launch_wrongly, 15); }

GROUP(nested_limited, 1)
{
    int *d, codes[4], depth = 0, n = -300;
    void *deeper[] = { &d, &depth }, *many[] = { &d, &n };
    ask("100 pending", cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
    DO(cudaMalloc((void **)&d, sizeof codes));
    DO(cudaMemset(d, 0, sizeof codes));
    DO(launch((const void *)launch_deeper, 1, 1, deeper, 0, 0));
    ask("deep launches", cudaDeviceSynchronize());
    DO(cudaMemcpy(codes, d, sizeof codes, cudaMemcpyDeviceToHost));
    tell("deepest", "%d, then error %d", codes[0], codes[1]);
    DO(cudaMemset(d, 0, sizeof codes));
    DO(launch((const void *)launch_many, 1, 1, many, 0, 0));
    ask("300 at the tail", cudaDeviceSynchronize());
    DO(cudaMemcpy(codes, d, sizeof codes, cudaMemcpyDeviceToHost));
    tell("300 at the tail", "%d ran, %d were launched, error %d", codes[0], codes[1], codes[2]);
}
