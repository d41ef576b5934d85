// Arguments at the edge, of calls that the other files ask little of: devices, pools, launches'
// attributes, libraries, errors' words.
#include "ask.h"

// The calls for the banks of shared memory are old.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static char host[4096];

GROUP(error_words, 1)
{
    for (int code = 0; code <= 1000; code++) {
        char question[16];
        const char *name = cudaGetErrorName((cudaError_t)code);
        snprintf(question, sizeof question, "%d", code);
        if (strcmp(name, "unrecognized error code"))
            tell(question, "%s, %s", name, cudaGetErrorString((cudaError_t)code));
    }
    tell("-1", "%s, %s", cudaGetErrorName((cudaError_t)-1), cudaGetErrorString((cudaError_t)-1));
}

GROUP(device_edges, 1)
{
    int value = -7, list[] = { 0, 0 };
    char id[64];
    unsigned flags = 99;
    struct cudaDeviceProp prop;
    enum cudaSharedMemConfig banks = 9;
    static const unsigned some_flags[] = { 8, 0x10, 0x18, 0x20, 0x40, 0x80, 0x100, 7, 5, 6, 4 };
    for (size_t i = 0; i < sizeof some_flags / sizeof *some_flags; i++) {
        char question[40];
        snprintf(question, sizeof question, "set flags %#x", some_flags[i]);
        ask(question, cudaSetDeviceFlags(some_flags[i]));
        cudaGetDeviceFlags(&flags);
        tell(question, "%u", flags);
    }
    ask("flags to nowhere", cudaGetDeviceFlags(NULL));
    ask("initialise device -1", cudaInitDevice(-1, 0, 0));
    ask("initialise with flags to block",
        cudaInitDevice(0, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid));
    ask("initialise with flags 0x400", cudaInitDevice(0, 0x400, cudaInitDeviceFlagsAreValid));
    ask("initialise with flags not said to be valid", cudaInitDevice(0, 0x400, 0));
    ask("valid devices, null", cudaSetValidDevices(NULL, 1));
    ask("valid devices, none", cudaSetValidDevices(list, 0));
    ask("valid devices, -1 of them", cudaSetValidDevices(list, -1));
    ask("valid devices, one twice", cudaSetValidDevices(list, 2));
    memset(&prop, 0, sizeof prop);
    ask("choose", cudaChooseDevice(&value, &prop));
    tell("choose", "%d", value);
    prop.major = 99;
    ask("choose one of capability 99", cudaChooseDevice(&value, &prop));
    tell("choose one of capability 99", "%d", value);
    ask("choose to nowhere", cudaChooseDevice(NULL, &prop));
    ask("bus to nowhere", cudaDeviceGetPCIBusId(NULL, 64, 0));
    ask("bus into no bytes", cudaDeviceGetPCIBusId(id, 0, 0));
    ask("bus into -1 bytes", cudaDeviceGetPCIBusId(id, -1, 0));
    ask("bus into 13 bytes", cudaDeviceGetPCIBusId(id, 13, 0));
    tell("bus into 13 bytes", "%zu characters", strlen(id));
    ask("bus of device -1", cudaDeviceGetPCIBusId(id, sizeof id, -1));
    ask("device of null", cudaDeviceGetByPCIBusId(&value, NULL));
    ask("device to nowhere", cudaDeviceGetByPCIBusId(NULL, id));
    ask("device of nothing", cudaDeviceGetByPCIBusId(&value, ""));
    ask("banks", cudaDeviceGetSharedMemConfig(&banks));
    tell("banks", "%d", (int)banks);
    ask("banks to nowhere", cudaDeviceGetSharedMemConfig(NULL));
    ask("set banks of eight bytes", cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    DO(cudaDeviceGetSharedMemConfig(&banks));
    tell("banks then", "%d", (int)banks);
    ask("set banks to 9", cudaDeviceSetSharedMemConfig(9));
    ask("set a kernel's banks",
        cudaFuncSetSharedMemConfig((const void *)nothing, cudaSharedMemBankSizeEightByte));
    ask("set a kernel's banks to 9", cudaFuncSetSharedMemConfig((const void *)nothing, 9));
    ask("set null's banks", cudaFuncSetSharedMemConfig(NULL, cudaSharedMemBankSizeFourByte));
    ask("cache preference to nowhere", cudaDeviceGetCacheConfig(NULL));
    ask("may reach, to nowhere", cudaDeviceCanAccessPeer(NULL, 0, 0));
    ask("may reach from 99", cudaDeviceCanAccessPeer(&value, 99, 0));
    ask("may reach -1", cudaDeviceCanAccessPeer(&value, 0, -1));
    ask("peer attribute to nowhere",
        cudaDeviceGetP2PAttribute(NULL, cudaDevP2PAttrAccessSupported, 0, 0));
    ask("peer attribute 99", cudaDeviceGetP2PAttribute(&value, 99, 0, 0));
    ask("peer attribute of 99",
        cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 99));
    ask("peer access taken of 99", cudaDeviceDisablePeerAccess(99));
    value = -7;
    ask("least priority alone", cudaDeviceGetStreamPriorityRange(&value, NULL));
    tell("least priority alone", "%d", value);
    ask("graphs' memory to nowhere",
        cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, NULL));
    ask("set graphs' memory from nowhere",
        cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, NULL));
    ask("trim graphs' memory of -1", cudaDeviceGraphMemTrim(-1));
    ask("default pool of -1", cudaDeviceGetDefaultMemPool(&(cudaMemPool_t){ 0 }, -1));
    ask("pool of -1", cudaDeviceGetMemPool(&(cudaMemPool_t){ 0 }, -1));
    ask("pool to nowhere", cudaDeviceGetMemPool(NULL, 0));
    size_t bytes = 77;
    ask("how much is free, alone", cudaMemGetInfo(&bytes, NULL));
    ask("how much there is, alone", cudaMemGetInfo(NULL, &bytes));
    ask("symbol's address of a constant", cudaGetSymbolAddress((void **)&(char *){ 0 }, constant));
    ask("symbol's size of a constant", cudaGetSymbolSize(&bytes, constant));
    tell("symbol's size of a constant", "%zu", bytes);
    ask("afterwards", cudaDeviceSynchronize());
}

// What tells one machine from another is left out, and what belongs to textures.
GROUP(properties, 1)
{
    struct cudaDeviceProp p;
    DO(cudaGetDeviceProperties(&p, 0));
#define SAY(field) tell(#field, "%lld", (long long)p.field)
    SAY(regsPerBlock);
    SAY(warpSize);
    SAY(maxThreadsPerBlock);
    SAY(multiProcessorCount);
    SAY(integrated);
    SAY(canMapHostMemory);
    SAY(concurrentKernels);
    SAY(tccDriver);
    SAY(memoryBusWidth);
    SAY(maxThreadsPerMultiProcessor);
    SAY(streamPrioritiesSupported);
    SAY(globalL1CacheSupported);
    SAY(localL1CacheSupported);
    SAY(regsPerMultiprocessor);
    SAY(managedMemory);
    SAY(isMultiGpuBoard);
    SAY(hostNativeAtomicSupported);
    SAY(pageableMemoryAccess);
    SAY(concurrentManagedAccess);
    SAY(cooperativeLaunch);
    SAY(pageableMemoryAccessUsesHostPageTables);
    SAY(directManagedMemAccessFromHost);
    SAY(maxBlocksPerMultiProcessor);
    SAY(hostRegisterSupported);
    SAY(memoryPoolsSupported);
    SAY(ipcEventSupported);
    SAY(clusterLaunch);
    SAY(unifiedFunctionPointers);
    SAY(deviceNumaConfig);
    SAY(mpsEnabled);
    SAY(luidDeviceNodeMask);
#undef SAY
}

GROUP(launch_attributes, 1)
{
    cudaLaunchAttribute attribute = { 0 };
    cudaLaunchConfig_t config = {
        .gridDim = { 4, 1, 1 }, .blockDim = { 32, 1, 1 }, .attrs = &attribute, .numAttrs = 1
    };
    cudaEvent_t timed, untimed;
    cudaStream_t s;
    const void *kernel = (const void *)nothing;
    char *d;
    DO(cudaMalloc((void **)&d, 4096));
    DO(cudaStreamCreate(&s));
    DO(cudaEventCreate(&timed));
    DO(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    config.stream = s;
    for (int id = 0; id <= 20; id++) {
        char question[40];
        memset(&attribute, 0, sizeof attribute);
        attribute.id = id;
        snprintf(question, sizeof question, "attribute %d, zeros", id);
        ask(question, cudaLaunchKernelExC(&config, kernel, NULL));
    }
#define WITH(question, kind, ...)                                                                  \
    (memset(&attribute, 0, sizeof attribute), attribute.id = (kind), __VA_ARGS__,                  \
     ask(question, cudaLaunchKernelExC(&config, kernel, NULL)))
    WITH("serialization 1", cudaLaunchAttributeProgrammaticStreamSerialization,
         attribute.val.programmaticStreamSerializationAllowed = 1);
    WITH("serialization 5", cudaLaunchAttributeProgrammaticStreamSerialization,
         attribute.val.programmaticStreamSerializationAllowed = 5);
    WITH("event without times", cudaLaunchAttributeProgrammaticEvent,
         attribute.val.programmaticEvent.event = untimed);
    WITH("event with times", cudaLaunchAttributeProgrammaticEvent,
         attribute.val.programmaticEvent.event = timed);
    WITH("event, external", cudaLaunchAttributeProgrammaticEvent,
         attribute.val.programmaticEvent.event = untimed,
         attribute.val.programmaticEvent.flags = cudaEventRecordExternal);
    WITH("completion event without times", cudaLaunchAttributeLaunchCompletionEvent,
         attribute.val.launchCompletionEvent.event = untimed);
    WITH("completion event with times", cudaLaunchAttributeLaunchCompletionEvent,
         attribute.val.launchCompletionEvent.event = timed);
    WITH("updatable", cudaLaunchAttributeDeviceUpdatableKernelNode,
         attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 1);
    WITH("carveout 50", cudaLaunchAttributePreferredSharedMemoryCarveout,
         attribute.val.sharedMemCarveout = 50);
    WITH("carveout 101", cudaLaunchAttributePreferredSharedMemoryCarveout,
         attribute.val.sharedMemCarveout = 101);
    WITH("carveout -1", cudaLaunchAttributePreferredSharedMemoryCarveout,
         attribute.val.sharedMemCarveout = (unsigned)-1);
    WITH("priority -3", cudaLaunchAttributePriority, attribute.val.priority = -3);
    WITH("domain 1", cudaLaunchAttributeMemSyncDomain, attribute.val.memSyncDomain = 1);
    WITH("domain 9", cudaLaunchAttributeMemSyncDomain, attribute.val.memSyncDomain = 9);
    WITH("domains 1 and 2", cudaLaunchAttributeMemSyncDomainMap,
         attribute.val.memSyncDomainMap.default_ = 1, attribute.val.memSyncDomainMap.remote = 2);
    WITH("domains 9 and 9", cudaLaunchAttributeMemSyncDomainMap,
         attribute.val.memSyncDomainMap.default_ = 9, attribute.val.memSyncDomainMap.remote = 9);
    WITH("window", cudaLaunchAttributeAccessPolicyWindow,
         attribute.val.accessPolicyWindow = (struct cudaAccessPolicyWindow){
             d, 4096, 1, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming });
    WITH("window of ratio 2", cudaLaunchAttributeAccessPolicyWindow,
         attribute.val.accessPolicyWindow = (struct cudaAccessPolicyWindow){
             d, 4096, 2, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming });
    WITH("cooperative 1", cudaLaunchAttributeCooperative, attribute.val.cooperative = 1);
    WITH("cooperative 5", cudaLaunchAttributeCooperative, attribute.val.cooperative = 5);
#undef WITH
    config.attrs = NULL, config.numAttrs = 0;
    config.dynamicSmemBytes = 300000;
    ask("too much shared memory", cudaLaunchKernelExC(&config, kernel, NULL));
    config.dynamicSmemBytes = 0, config.gridDim.x = 0;
    ask("no blocks", cudaLaunchKernelExC(&config, kernel, NULL));
    cudaStreamSynchronize(s);
    ask("the event with times", cudaEventQuery(timed));
    ask("afterwards", cudaDeviceSynchronize());
}

static void set_pool(const char *what, cudaMemPool_t pool, int attribute, unsigned long long value,
                     int wide)
{
    int narrow = (int)value;
    unsigned long long got = 0;
    char question[80];
    snprintf(question, sizeof question, "set %s to %llu", what, value);
    ask(question,
        cudaMemPoolSetAttribute(pool, attribute, wide ? (void *)&value : (void *)&narrow));
    cudaMemPoolGetAttribute(pool, attribute, &got);
    tell(question, "%llu", got);
    cudaGetLastError();
}

GROUP(pool_edges, 1)
{
    cudaMemPool_t pool, mine, other;
    cudaStream_t s;
    char *p = host, *q;
    unsigned long long value = 0;
    enum cudaMemAccessFlags access = 99;
    struct cudaMemLocation here = { .type = cudaMemLocationTypeDevice, .id = 0 },
                           cpu = { .type = cudaMemLocationTypeHost }, none = { 0 };
    struct cudaMemPoolProps props = { .allocType = cudaMemAllocationTypePinned, .location = here },
                            odd;
    DO(cudaStreamCreate(&s));
    DO(cudaDeviceGetDefaultMemPool(&pool, 0));
    ask("attribute of null",
        cudaMemPoolGetAttribute(NULL, cudaMemPoolReuseFollowEventDependencies, &value));
    ask("attribute to nowhere",
        cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, NULL));
    ask("attribute -1", cudaMemPoolGetAttribute(pool, -1, &value));
    ask("set attribute of null",
        cudaMemPoolSetAttribute(NULL, cudaMemPoolAttrReleaseThreshold, &value));
    for (int a = 1; a <= 3; a++) {
        char what[20];
        snprintf(what, sizeof what, "attribute %d", a);
        set_pool(what, pool, a, 0, 0);
        set_pool(what, pool, a, 5, 0);
        set_pool(what, pool, a, 1, 0);
    }
    set_pool("the threshold", pool, cudaMemPoolAttrReleaseThreshold, 12345, 1);
    set_pool("the threshold", pool, cudaMemPoolAttrReleaseThreshold, ~0ull, 1);
    set_pool("the threshold", pool, cudaMemPoolAttrReleaseThreshold, 0, 1);
    set_pool("what is reserved", pool, cudaMemPoolAttrReservedMemCurrent, 0, 1);
    set_pool("the most reserved", pool, cudaMemPoolAttrReservedMemHigh, 7, 1);
    ask("trim to more than there is", cudaMemPoolTrimTo(pool, (size_t)1 << 50));
    ask("create to nowhere", cudaMemPoolCreate(NULL, &props));
    odd = props, odd.maxSize = 1 << 20;
    ask("create with a size", cudaMemPoolCreate(&other, &odd));
    ask("from that", cudaMallocFromPoolAsync((void **)&p, 1 << 19, other, s));
    ask("more from that than it may have", cudaMallocFromPoolAsync((void **)&q, 1 << 26, other, s));
    odd = props, odd.allocType = 9;
    ask("create of kind 9", cudaMemPoolCreate(&other, &odd));
    odd = props, odd.location.type = 9;
    ask("create at a place of kind 9", cudaMemPoolCreate(&other, &odd));
    odd = props, odd.location.id = -1;
    ask("create on device -1", cudaMemPoolCreate(&other, &odd));
    odd = props, odd.reserved[3] = 1;
    ask("create with a reserved byte", cudaMemPoolCreate(&other, &odd));
    odd = props, odd.usage = 9;
    ask("create with usage 9", cudaMemPoolCreate(&other, &odd));
    DO(cudaMemPoolCreate(&mine, &props));
    ask("from a pool to nowhere", cudaMallocFromPoolAsync(NULL, 16, mine, s));
    ask("nothing from a pool", cudaMallocFromPoolAsync((void **)&q, 0, mine, s));
    ask("a petabyte from a pool", cudaMallocFromPoolAsync((void **)&q, (size_t)1 << 50, mine, s));
    ask("access to nowhere", cudaMemPoolGetAccess(NULL, mine, &here));
    ask("access of null", cudaMemPoolGetAccess(&access, NULL, &here));
    ask("access from nowhere", cudaMemPoolGetAccess(&access, mine, NULL));
    ask("access of the host", cudaMemPoolGetAccess(&access, mine, &cpu));
    ask("access of no kind of place", cudaMemPoolGetAccess(&access, mine, &none));
    struct cudaMemAccessDesc desc = { here, cudaMemAccessFlagsProtReadWrite };
    ask("let the device", cudaMemPoolSetAccess(mine, &desc, 1));
    ask("let one that is null", cudaMemPoolSetAccess(mine, NULL, 1));
    ask("let one, of null", cudaMemPoolSetAccess(NULL, &desc, 1));
    desc.flags = 9;
    ask("let the device, flags 9", cudaMemPoolSetAccess(mine, &desc, 1));
    desc = (struct cudaMemAccessDesc){ cpu, cudaMemAccessFlagsProtReadWrite };
    ask("let the host", cudaMemPoolSetAccess(mine, &desc, 1));
    DO(cudaMallocFromPoolAsync((void **)&p, 4096, mine, s));
    ask("destroy with memory", cudaMemPoolDestroy(mine));
    ask("fill that memory", cudaMemsetAsync(p, 0, 4096, s));
    ask("free that memory", cudaFreeAsync(p, s));
    ask("free on the legacy stream",
        (DO(cudaMallocAsync((void **)&p, 64, s)), cudaFreeAsync(p, 0)));
    ask("free on the thread's stream",
        (DO(cudaMallocAsync((void **)&p, 64, s)), cudaFreeAsync(p, cudaStreamPerThread)));
    ask("allocate on the legacy stream", cudaMallocAsync((void **)&p, 64, 0));
    ask("free it by cudaFree", cudaFree(p));
    ask("free it by cudaFreeHost", (DO(cudaMallocAsync((void **)&p, 64, s)), cudaFreeHost(p)));
    ask("register it", cudaHostRegister(p, 64, 0));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(library_edges, 1)
{
    cudaLibrary_t library;
    cudaKernel_t kernels[4] = { 0 }, kernel = NULL;
    struct cudaFuncAttributes a;
    void *p;
    size_t bytes;
    unsigned count = 77;
    int blocks;
    const char *name = NULL;
    static const char ptx[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 v;\n.visible .entry k() { "
        "ret; }\n.visible .entry other(.param .u64 p) { ret; }\n";
    ask("to nowhere", cudaLibraryLoadData(NULL, ptx, NULL, NULL, 0, NULL, NULL, 0));
    ask("load", cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    ask("kernels to nowhere", cudaLibraryGetKernelCount(NULL, library));
    ask("kernels of null", cudaLibraryGetKernelCount(&count, NULL));
    ask("list none", cudaLibraryEnumerateKernels(kernels, 0, library));
    ask("list one", cudaLibraryEnumerateKernels(kernels, 1, library));
    tell("list one", "%s, then %s", kernels[0] ? "some" : "null", kernels[1] ? "some" : "null");
    ask("list more than there are", cudaLibraryEnumerateKernels(kernels, 4, library));
    tell("list more than there are", "%s, then %s", kernels[1] ? "some" : "null",
         kernels[2] ? "some" : "null");
    ask("list to nowhere", cudaLibraryEnumerateKernels(NULL, 1, library));
    ask("list of null", cudaLibraryEnumerateKernels(kernels, 1, NULL));
    ask("kernel to nowhere", cudaLibraryGetKernel(NULL, library, "k"));
    ask("kernel of no name", cudaLibraryGetKernel(&kernel, library, NULL));
    ask("kernel of null", cudaLibraryGetKernel(&kernel, NULL, "k"));
    ask("kernel that is a variable", cudaLibraryGetKernel(&kernel, library, "v"));
    ask("variable, both to nowhere", cudaLibraryGetGlobal(NULL, NULL, library, "v"));
    ask("variable's bytes alone", cudaLibraryGetGlobal(NULL, &bytes, library, "v"));
    ask("variable of null", cudaLibraryGetGlobal(&p, &bytes, NULL, "v"));
    ask("variable that is a kernel", cudaLibraryGetGlobal(&p, &bytes, library, "k"));
    DO(cudaLibraryGetKernel(&kernel, library, "other"));
    ask("its attributes", cudaFuncGetAttributes(&a, kernel));
    tell("its attributes", "threads %d, ptx %d, binary %d, local %zu, shared %zu",
         a.maxThreadsPerBlock, a.ptxVersion, a.binaryVersion, a.localSizeBytes, a.sharedSizeBytes);
    ask("its name", cudaFuncGetName(&name, kernel));
    tell("its name", "%s", name ? name : "null");
    size_t offset = 77, size = 77;
    ask("its parameter", cudaFuncGetParamInfo(kernel, 0, &offset, &size));
    tell("its parameter", "%zu at %zu", size, offset);
    ask("its parameter -1", cudaFuncGetParamInfo(kernel, (size_t)-1, &offset, &size));
    ask("its occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0));
    ask("its cache preference", cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1));
    ask("its shared memory",
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    ask("kernel to nowhere by its handle", cudaGetKernel(NULL, (const void *)nothing));
    ask("function to nowhere", cudaGetFuncBySymbol(NULL, (const void *)nothing));
    ask("function of null", cudaGetFuncBySymbol(&(cudaFunction_t){ 0 }, NULL));
    ask("a folder", cudaLibraryLoadFromFile(&library, "/tmp", NULL, NULL, 0, NULL, NULL, 0));
    ask("an empty file",
        cudaLibraryLoadFromFile(&library, "/dev/null", NULL, NULL, 0, NULL, NULL, 0));
    ask("a file of no name", cudaLibraryLoadFromFile(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    ask("no text", cudaLibraryLoadData(&library, "", NULL, NULL, 0, NULL, NULL, 0));
    ask("unload", cudaLibraryUnload(library));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(stream_edges, 1)
{
    cudaStream_t s;
    cudaEvent_t e;
    unsigned long long id = 77;
    int value = -7;
    cudaLaunchAttributeValue v = { 0 };
    enum cudaStreamCaptureStatus status;
    DO(cudaStreamCreate(&s));
    DO(cudaEventCreate(&e));
    ask("id to nowhere", cudaStreamGetId(s, NULL));
    ask("id", cudaStreamGetId(s, &id));
    ask("device to nowhere", cudaStreamGetDevice(s, NULL));
    ask("device of the legacy stream", cudaStreamGetDevice(0, &value));
    tell("device of the legacy stream", "%d", value);
    ask("device of cudaStreamLegacy", cudaStreamGetDevice(cudaStreamLegacy, &value));
    ask("capturing to nowhere", cudaStreamIsCapturing(s, NULL));
    ask("capturing, cudaStreamLegacy", cudaStreamIsCapturing(cudaStreamLegacy, &status));
    ask("end a capture to nowhere", cudaStreamEndCapture(s, NULL));
    ask("copy attributes from itself", cudaStreamCopyAttributes(s, s));
    ask("copy attributes to the legacy stream", cudaStreamCopyAttributes(0, s));
    ask("get attribute -1", cudaStreamGetAttribute(s, -1, &v));
    ask("create with flags to nowhere", cudaStreamCreateWithFlags(NULL, cudaStreamNonBlocking));
    ask("create with flags 2", cudaStreamCreateWithFlags(&s, 2));
    ask("create with priority to nowhere", cudaStreamCreateWithPriority(NULL, 0, 0));
    ask("create with priority and flags 9", cudaStreamCreateWithPriority(&s, 9, 0));
    ask("wait on the legacy stream", cudaStreamWaitEvent(0, e, 0));
    ask("wait for an external one, outside of a capture",
        cudaStreamWaitEvent(s, e, cudaEventWaitExternal));
    ask("record on the thread's stream", cudaEventRecord(e, cudaStreamPerThread));
    ask("record with flags on the legacy stream", cudaEventRecordWithFlags(e, 0, 0));
    ask("record with flags, null", cudaEventRecordWithFlags(NULL, s, 0));
    ask("create an event with flags to nowhere", cudaEventCreateWithFlags(NULL, 0));
    ask("create an event with flags 7", cudaEventCreateWithFlags(&e, 7));
    ask("create an event with flags 16", cudaEventCreateWithFlags(&e, 16));
    ask("attach, flags 0", cudaStreamAttachMemAsync(s, host, 0, 0));
    ask("afterwards", cudaDeviceSynchronize());
}

// A launch's event is over when its kernel is.
GROUP(launch_events, 1)
{
    cudaLaunchAttribute attribute = { .id = cudaLaunchAttributeProgrammaticEvent };
    cudaEvent_t e, f;
    cudaStream_t s;
    int milliseconds = 20;
    void *arguments[] = { &milliseconds };
    DO(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    DO(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    DO(cudaEventCreateWithFlags(&f, cudaEventDisableTiming));
    cudaLaunchConfig_t config = { .gridDim = { 1, 1, 1 },
                                  .blockDim = { 1, 1, 1 },
                                  .stream = s,
                                  .attrs = &attribute,
                                  .numAttrs = 1 };
    DO(launch((const void *)nothing, 1, 1, NULL, 0, s));
    DO(cudaDeviceSynchronize());
    attribute.val.programmaticEvent.event = e;
    ask("programmatic", cudaLaunchKernelExC(&config, (const void *)last_for, arguments));
    ask("query it at once", cudaEventQuery(e));
    ask("wait for it", cudaEventSynchronize(e));
    ask("query the stream then", cudaStreamQuery(s));
    attribute.val.programmaticEvent.flags = 2;
    ask("programmatic, flags 2", cudaLaunchKernelExC(&config, (const void *)nothing, NULL));
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    memset(&attribute.val, 0, sizeof attribute.val);
    attribute.val.launchCompletionEvent.event = f;
    DO(cudaStreamSynchronize(s));
    ask("completion", cudaLaunchKernelExC(&config, (const void *)last_for, arguments));
    ask("wait for that", cudaEventSynchronize(f));
    attribute.val.launchCompletionEvent.flags = 2;
    ask("completion, flags 2", cudaLaunchKernelExC(&config, (const void *)nothing, NULL));
    ask("afterwards", cudaDeviceSynchronize());
}
