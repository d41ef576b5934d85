// Devices: their attributes, limits and properties; several of them.
#include "ask.h"
#include <cuda_profiler_api.h>

static char host[64];

GROUP(devices, 1)
{
    int value = -7;
    struct cudaDeviceProp prop;
    unsigned flags = 99;
    char id[64];
    ask("set device -1", cudaSetDevice(-1));
    ask("set device 99", cudaSetDevice(99));
    ask("device to nowhere", cudaGetDevice(NULL));
    ask("devices to nowhere", cudaGetDeviceCount(NULL));
    ask("flags before", cudaGetDeviceFlags(&flags));
    tell("flags before", "%u", flags);
    ask("set flags 0x400", cudaSetDeviceFlags(0x400));
    ask("set flags to spin and to yield", cudaSetDeviceFlags(3));
    ask("set flags to block", cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    ask("initialise device 99", cudaInitDevice(99, 0, 0));
    ask("initialise with flags 9", cudaInitDevice(0, 0, 9));
    DO(cudaFree(NULL));
    ask("flags afterwards", cudaGetDeviceFlags(&flags));
    tell("flags afterwards", "%u", flags);
    ask("set flags afterwards", cudaSetDeviceFlags(cudaDeviceScheduleSpin));
    DO(cudaGetDeviceFlags(&flags));
    tell("flags then", "%u", flags);
    ask("attribute to nowhere", cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
    ask("attribute 0", cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)0, 0));
    ask("attribute 9999", cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0));
    ask("attribute of device 99", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99));
    ask("attribute of device -1", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, -1));
    ask("properties of device 99", cudaGetDeviceProperties(&prop, 99));
    ask("properties to nowhere", cudaGetDeviceProperties(NULL, 0));
    ask("device of a bus that is not there", cudaDeviceGetByPCIBusId(&value, "ffff:ff:1f.7"));
    ask("device of nonsense", cudaDeviceGetByPCIBusId(&value, "nonsense"));
    ask("bus of device 99", cudaDeviceGetPCIBusId(id, sizeof id, 99));
    ask("bus into 4 bytes", cudaDeviceGetPCIBusId(id, 4, 0));
    ask("choose from nothing", cudaChooseDevice(&value, NULL));
    int list[] = { 99 };
    ask("valid devices, 99", cudaSetValidDevices(list, 1));
    ask("driver's version to nowhere", cudaDriverGetVersion(NULL));
    ask("runtime's version to nowhere", cudaRuntimeGetVersion(NULL));
    DO(cudaRuntimeGetVersion(&value));
    tell("runtime's version", "%d", value);
    DO(cudaDriverGetVersion(&value));
    tell("driver's version", "%d", value);
    enum cudaFuncCache cache = 9;
    ask("cache preference", cudaDeviceGetCacheConfig(&cache));
    tell("cache preference", "%d", (int)cache);
    ask("set cache preference 9", cudaDeviceSetCacheConfig((enum cudaFuncCache)9));
    ask("set cache preference", cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    DO(cudaDeviceGetCacheConfig(&cache));
    tell("cache preference then", "%d", (int)cache);
    ask("may reach itself", cudaDeviceCanAccessPeer(&value, 0, 0));
    tell("may reach itself", "%d", value);
    ask("may reach device 99", cudaDeviceCanAccessPeer(&value, 0, 99));
    ask("peer access to itself", cudaDeviceEnablePeerAccess(0, 0));
    ask("peer access to 99", cudaDeviceEnablePeerAccess(99, 0));
    ask("peer access to itself taken", cudaDeviceDisablePeerAccess(0));
    ask("peer attribute of itself",
        cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    DO(cudaGetDeviceProperties(&prop, 0));
    tell("name", "%s", prop.name);
    tell("compute capability", "%d.%d", prop.major, prop.minor);
    tell("memory", "%zu", prop.totalGlobalMem);
    tell("constant memory", "%zu", prop.totalConstMem);
    tell("shared memory", "%zu, %zu a multiprocessor, %zu if asked for, %zu reserved",
         prop.sharedMemPerBlock, prop.sharedMemPerMultiprocessor, prop.sharedMemPerBlockOptin,
         prop.reservedSharedMemPerBlock);
    tell("pitch", "%zu, textures %zu, surfaces %zu, %zu", prop.memPitch, prop.textureAlignment,
         prop.surfaceAlignment, prop.texturePitchAlignment);
    tell("L2", "%d, persisting %d, window %d", prop.l2CacheSize, prop.persistingL2CacheMaxSize,
         prop.accessPolicyMaxWindowSize);
    tell("grid", "%d %d %d, block %d %d %d", prop.maxGridSize[0], prop.maxGridSize[1],
         prop.maxGridSize[2], prop.maxThreadsDim[0], prop.maxThreadsDim[1], prop.maxThreadsDim[2]);
    tell("engines", "%d, ECC %d, unified %d, NUMA %d", prop.asyncEngineCount, prop.ECCEnabled,
         prop.unifiedAddressing, prop.deviceNumaConfig);
    ask("after all this", cudaDeviceSynchronize());
}

// All that the runtime's header names, but those that tell one machine from another: where it is on
// the bus.
GROUP(attributes, 1)
{
    for (int a = 1; a <= 147; a++) {
        int value = -7;
        char question[16];
        if (a == cudaDevAttrPciBusId || a == cudaDevAttrPciDeviceId || a == cudaDevAttrPciDomainId)
            continue;
        cudaError_t error = cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)a, 0);
        snprintf(question, sizeof question, "%d", a);
        if (error)
            tell(question, "%s, last error %s", cudaGetErrorName(error),
                 cudaGetErrorName(cudaGetLastError()));
        else tell(question, "%d", value);
    }
}

static void limit(const char *question, enum cudaLimit which)
{
    size_t value = 77;
    cudaError_t error = cudaDeviceGetLimit(&value, which);
    tell(question, "%s, %zu", cudaGetErrorName(error), value);
    cudaGetLastError();
}

static void set_limit(const char *what, enum cudaLimit which, size_t value)
{
    char question[80];
    snprintf(question, sizeof question, "set %s to %zu", what, value);
    ask(question, cudaDeviceSetLimit(which, value));
    limit(what, which);
}

GROUP(limits, 1)
{
    size_t value;
    for (int i = 0; i <= 7; i++) {
        char question[16];
        snprintf(question, sizeof question, "limit %d", i);
        limit(question, (enum cudaLimit)i);
    }
    ask("to nowhere", cudaDeviceGetLimit(NULL, cudaLimitStackSize));
    ask("set limit 99", cudaDeviceSetLimit((enum cudaLimit)99, 1));
    static const size_t stacks[] = { 0, 1, 100, 1000, 32768, 1 << 20, (size_t)1 << 40, 4096 };
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++)
        set_limit("stack", cudaLimitStackSize, stacks[i]);
    static const size_t fifos[] = { 0, 1, 1000, 1 << 20, 10000000 };
    for (size_t i = 0; i < sizeof fifos / sizeof *fifos; i++)
        set_limit("printf", cudaLimitPrintfFifoSize, fifos[i]);
    static const size_t heaps[] = { 0, 1, 5000000, 100000000, (size_t)1 << 50 };
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++)
        set_limit("heap", cudaLimitMallocHeapSize, heaps[i]);
    static const size_t counts[] = { 0, 1, 100, 2048, 5000, 100000 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        set_limit("pending", cudaLimitDevRuntimePendingLaunchCount, counts[i]);
    set_limit("depth", cudaLimitDevRuntimeSyncDepth, 5);
    static const size_t granules[] = { 0, 1, 32, 48, 64, 128, 129, 1000 };
    for (size_t i = 0; i < sizeof granules / sizeof *granules; i++)
        set_limit("granule", cudaLimitMaxL2FetchGranularity, granules[i]);
    static const size_t lines[] = { 0, 1, 1 << 20, 1 << 30 };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        set_limit("persisting", cudaLimitPersistingL2CacheSize, lines[i]);
    DO(launch((const void *)nothing, 1, 1, NULL, 0, 0));
    DO(cudaDeviceSynchronize());
    set_limit("heap after a launch", cudaLimitMallocHeapSize, 20000000);
    set_limit("printf after a launch", cudaLimitPrintfFifoSize, 3000000);
    ask("reset", cudaDeviceReset());
    DO(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    tell("heap after a reset", "%zu", value);
    limit("stack after a reset", cudaLimitStackSize);
}

GROUP(reset, 1)
{
    char *d;
    cudaStream_t s;
    DO(cudaMalloc((void **)&d, 64));
    DO(cudaStreamCreate(&s));
    ask("reset", cudaDeviceReset());
    ask("copy from memory of before", cudaMemcpy(host, d, 16, cudaMemcpyDeviceToHost));
    ask("free memory of before", cudaFree(d));
    ask("reset twice", cudaDeviceReset());
    ask("launch", launch((const void *)nothing, 1, 1, NULL, 0, 0));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(libraries, 1)
{
    cudaLibrary_t library = NULL;
    cudaKernel_t kernel = NULL;
    cudaFunction_t function;
    void *p;
    size_t bytes;
    unsigned count = 99;
    enum cudaDriverEntryPointQueryResult found = 9;
    static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 "
                              "v;\n.visible .entry k() { ret; }\n";
    DO(cudaFree(NULL));
    ask("nonsense",
        cudaLibraryLoadData(&library, "nonsense that is no PTX", NULL, NULL, 0, NULL, NULL, 0));
    ask("wrong PTX",
        cudaLibraryLoadData(&library, ".version 8.0\n.target sm_90\n.address_size 64\nfoo;\n", NULL,
                            NULL, 0, NULL, NULL, 0));
    ask("PTX of a newer device",
        cudaLibraryLoadData(&library, ".version 8.7\n.target sm_120\n.address_size 64\n", NULL,
                            NULL, 0, NULL, NULL, 0));
    ask("null", cudaLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    ask("a file that is not there",
        cudaLibraryLoadFromFile(&library, "/nowhere/at/all", NULL, NULL, 0, NULL, NULL, 0));
    ask("PTX", cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    ask("its kernel", cudaLibraryGetKernel(&kernel, library, "k"));
    ask("a kernel that it has not", cudaLibraryGetKernel(&kernel, library, "nobody"));
    ask("a variable that it has not", cudaLibraryGetGlobal(&p, &bytes, library, "nobody"));
    ask("its variable", cudaLibraryGetGlobal(&p, &bytes, library, "v"));
    tell("its variable's bytes", "%zu", bytes);
    ask("managed variable that it has not", cudaLibraryGetManaged(&p, &bytes, library, "v"));
    ask("how many kernels", cudaLibraryGetKernelCount(&count, library));
    tell("kernels", "%u", count);
    DO(cudaLibraryGetKernel(&kernel, library, "k"));
    ask("launch", launch(kernel, 1, 1, NULL, 0, 0));
    ask("unload", cudaLibraryUnload(library));
    ask("unload null", cudaLibraryUnload(NULL));
    ask("function of a kernel", cudaGetFuncBySymbol(&function, (const void *)nothing));
    ask("function of host memory", cudaGetFuncBySymbol(&function, host));
    ask("kernel of host memory", cudaGetKernel(&kernel, host));
    ask("driver's entry point", cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &p,
                                                                 12000, cudaEnableDefault, &found));
    tell("driver's entry point", "%d", (int)found);
    ask("driver's entry point that is not",
        cudaGetDriverEntryPointByVersion("cuNobody", &p, 12000, cudaEnableDefault, &found));
    tell("driver's entry point that is not", "%d, %s", (int)found, p ? "something" : "null");
    ask("driver's entry point of a version too old",
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &p, 11000, cudaEnableDefault,
                                         &found));
    tell("driver's entry point of a version too old", "%d", (int)found);
    ask("driver's entry point, flags 99",
        cudaGetDriverEntryPointByVersion("cuMemAlloc", &p, 12000, 99, &found));
    ask("start the profiler", cudaProfilerStart());
    ask("stop the profiler", cudaProfilerStop());
}

GROUP(peers, 2)
{
    char *here, *there, *async;
    int value = -7;
    unsigned device;
    float ms;
    cudaEvent_t mine, theirs;
    cudaStream_t s, t;
    struct cudaPointerAttributes pointer;
    DO(cudaMalloc((void **)&here, 4096));
    DO(cudaStreamCreate(&s));
    DO(cudaEventCreate(&mine));
    DO(cudaSetDevice(1));
    DO(cudaMalloc((void **)&there, 4096));
    DO(cudaStreamCreate(&t));
    DO(cudaEventCreate(&theirs));
    DO(cudaSetDevice(0));
    DO(cudaMemset(here, 0, 4096));
    void *arguments[] = { &here };
    ask("may reach the other", cudaDeviceCanAccessPeer(&value, 0, 1));
    tell("may reach the other", "%d", value);
    for (int a = 0; a <= 5; a++) {
        char question[32];
        value = -7;
        cudaError_t error = cudaDeviceGetP2PAttribute(&value, (enum cudaDeviceP2PAttr)a, 0, 1);
        snprintf(question, sizeof question, "attribute %d", a);
        tell(question, "%s, %d", cudaGetErrorName(error), value);
    }
    cudaGetLastError();
    ask("record the other's event here", cudaEventRecord(theirs, s));
    ask("record an event on the other's stream", cudaEventRecord(mine, t));
    ask("record the other's event on its stream", cudaEventRecord(theirs, t));
    DO(cudaEventRecord(mine, s));
    ask("wait here for the other's event", cudaStreamWaitEvent(s, theirs, 0));
    ask("synchronize the other's event", cudaEventSynchronize(theirs));
    DO(cudaEventSynchronize(mine));
    ask("time between the devices", cudaEventElapsedTime(&ms, mine, theirs));
    ask("launch on the other's stream", launch((const void *)add_one, 1, 1, arguments, 0, t));
    ask("copy on the other's stream", cudaMemcpyAsync(host, here, 16, cudaMemcpyDeviceToHost, t));
    ask("fill on the other's stream", cudaMemsetAsync(here, 0, 16, t));
    ask("fill the other's memory", cudaMemset(there, 0, 16));
    ask("fill the other's memory on its stream", cudaMemsetAsync(there, 0, 16, t));
    ask("query the other's stream", cudaStreamQuery(t));
    ask("synchronize the other's stream", cudaStreamSynchronize(t));
    ask("copy from the other", cudaMemcpy(here, there, 16, cudaMemcpyDeviceToDevice));
    ask("copy from the other by default", cudaMemcpy(here, there, 16, cudaMemcpyDefault));
    ask("copy to the host from the other", cudaMemcpy(host, there, 16, cudaMemcpyDeviceToHost));
    ask("copy between peers", cudaMemcpyPeer(here, 0, there, 1, 16));
    ask("copy between peers, said the wrong way round", cudaMemcpyPeer(here, 1, there, 0, 16));
    ask("copy between peers, too much", cudaMemcpyPeer(here, 0, there, 1, 1 << 23));
    ask("pointer of the other", cudaPointerGetAttributes(&pointer, there));
    tell("pointer of the other", "type %d, device %d", (int)pointer.type, pointer.device);
    ask("peer access with flags 1", cudaDeviceEnablePeerAccess(1, 1));
    ask("peer access taken that is not", cudaDeviceDisablePeerAccess(1));
    ask("peer access", cudaDeviceEnablePeerAccess(1, 0));
    ask("peer access twice", cudaDeviceEnablePeerAccess(1, 0));
    ask("peer access taken", cudaDeviceDisablePeerAccess(1));
    ask("peer access taken twice", cudaDeviceDisablePeerAccess(1));
    DO(cudaSetDevice(1));
    DO(cudaMallocAsync((void **)&async, 64, t));
    DO(cudaStreamSynchronize(t));
    DO(cudaSetDevice(0));
    ask("free the other's memory", cudaFree(there));
    ask("free the other's pool's memory here", cudaFreeAsync(async, s));
    ask("allocate on the other's stream", cudaMallocAsync((void **)&async, 64, t));
    ask("destroy the other's event", cudaEventDestroy(theirs));
    ask("destroy the other's stream", cudaStreamDestroy(t));
    ask("device of nothing", cudaStreamGetDevice(s, (int *)&device));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(peer_fault, 2)
{
    char *there;
    void *p, *arguments[] = { &there };
    DO(cudaSetDevice(1));
    DO(cudaMalloc((void **)&there, 4096));
    DO(cudaSetDevice(0));
    ask("launch that writes the other's memory",
        launch((const void *)write_at, 1, 1, arguments, 0, 0));
    ask("waiting", cudaDeviceSynchronize());
    ask("malloc", cudaMalloc(&p, 16));
    DO(cudaSetDevice(1));
    ask("malloc on the other", cudaMalloc(&p, 16));
    ask("waiting for the other", cudaDeviceSynchronize());
    ask("launch on the other", launch((const void *)nothing, 1, 1, NULL, 0, 0));
    ask("waiting for the other again", cudaDeviceSynchronize());
}
