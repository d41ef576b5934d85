// Calls that take lists: batches of copies, prefetches and discards; several attributes at once;
// the newest of the pools' calls.
#include "ask.h"

enum { BYTES = 4096 };
static char host[BYTES];

static struct cudaMemLocation place(enum cudaMemLocationType type, int id)
{
    return (struct cudaMemLocation){ .type = type, .id = id };
}

GROUP(batches, 1)
{
    char *d, *e;
    cudaStream_t s;
    DO(cudaStreamCreate(&s));
    DO(cudaMalloc((void **)&d, BYTES));
    DO(cudaMalloc((void **)&e, BYTES));
    DO(cudaMemset(e, 7, BYTES));
    void *to[] = { d, d + 64, d + 128 };
    const void *from[] = { e, e + 64, e + 128 };
    size_t sizes[] = { 16, 16, 16 }, first[] = { 0, 1 };
    struct cudaMemcpyAttributes attributes[] = {
        { .srcAccessOrder = cudaMemcpySrcAccessOrderStream },
        { .srcAccessOrder = cudaMemcpySrcAccessOrderAny }
    };
    ask("three copies", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    ask("two kinds", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 2, s));
    ask("on the legacy stream", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, 0));
    ask("on cudaStreamLegacy",
        cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, cudaStreamLegacy));
    ask("on the thread's stream",
        cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, cudaStreamPerThread));
    ask("no copies", cudaMemcpyBatchAsync(to, from, sizes, 0, attributes, first, 1, s));
    ask("no attributes", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 0, s));
    ask("null attributes", cudaMemcpyBatchAsync(to, from, sizes, 3, NULL, first, 1, s));
    ask("null indices", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, NULL, 1, s));
    ask("null destinations", cudaMemcpyBatchAsync(NULL, from, sizes, 3, attributes, first, 1, s));
    ask("null sizes", cudaMemcpyBatchAsync(to, from, NULL, 3, attributes, first, 1, s));
    size_t late[] = { 1, 2 }, alike[] = { 0, 0 }, far[] = { 0, 3 };
    ask("the first not for the first",
        cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, late, 2, s));
    ask("two for the first", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, alike, 2, s));
    ask("one for none", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, far, 2, s));
    ask("more attributes than copies",
        cudaMemcpyBatchAsync(to, from, sizes, 1, attributes, first, 2, s));
    attributes[0].srcAccessOrder = 0;
    ask("order 0", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    attributes[0].srcAccessOrder = 9;
    ask("order 9", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    ask("order during the call", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    attributes[0].flags = cudaMemcpyFlagPreferOverlapWithCompute;
    ask("flag to overlap", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    attributes[0].flags = 8;
    ask("flag 8", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    attributes[0].flags = 0;
    sizes[1] = 0;
    ask("one of no bytes", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    sizes[1] = BYTES;
    ask("one past the end", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    sizes[1] = 16;
    to[1] = NULL;
    ask("one to null", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    to[1] = host;
    ask("one to the host", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    from[1] = host + 64;
    ask("one between the host's",
        cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    to[1] = d + 64;
    ask("one from the host", cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, first, 1, s));
    ask("wait", cudaStreamSynchronize(s));
    tell("the host got", "%d", host[0]);
    struct cudaMemcpy3DBatchOp box = {
        .src = { .type = cudaMemcpyOperandTypePointer,
                 .op.ptr = { .ptr = e, .rowLength = 0, .layerHeight = 0 } },
        .dst = { .type = cudaMemcpyOperandTypePointer,
                 .op.ptr = { .ptr = d, .rowLength = 0, .layerHeight = 0 } },
        .extent = { 16, 2, 2 },
        .srcAccessOrder = cudaMemcpySrcAccessOrderStream
    };
    ask("a box", cudaMemcpy3DBatchAsync(1, &box, 0, s));
    ask("no boxes", cudaMemcpy3DBatchAsync(0, &box, 0, s));
    ask("null boxes", cudaMemcpy3DBatchAsync(1, NULL, 0, s));
    ask("a box, flags 1", cudaMemcpy3DBatchAsync(1, &box, 1, s));
    ask("a box, on the legacy stream", cudaMemcpy3DBatchAsync(1, &box, 0, 0));
    box.src.op.ptr.rowLength = 8;
    ask("a box wider than its row", cudaMemcpy3DBatchAsync(1, &box, 0, s));
    box.src.op.ptr.rowLength = 32;
    ask("a box with rows apart", cudaMemcpy3DBatchAsync(1, &box, 0, s));
    box.src.type = 9;
    ask("a box of kind 9", cudaMemcpy3DBatchAsync(1, &box, 0, s));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(batches_managed, 1)
{
    char *m, *d;
    cudaStream_t s;
    DO(cudaStreamCreate(&s));
    DO(cudaMallocManaged((void **)&m, 4 << 20, cudaMemAttachGlobal));
    DO(cudaMalloc((void **)&d, 4 << 20));
    memset(m, 1, 4 << 20);
    void *ranges[] = { m, m + (2 << 20) };
    size_t sizes[] = { 1 << 20, 1 << 20 }, first[] = { 0, 1 };
    struct cudaMemLocation places[] = { place(cudaMemLocationTypeDevice, 0),
                                        place(cudaMemLocationTypeHost, 0) };
    ask("prefetch two", cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, first, 1, 0, s));
    ask("prefetch two to two places",
        cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, first, 2, 0, s));
    ask("prefetch on the legacy stream",
        cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, first, 1, 0, 0));
    ask("prefetch with flags", cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, first, 1, 1, s));
    ask("prefetch none", cudaMemPrefetchBatchAsync(ranges, sizes, 0, places, first, 1, 0, s));
    ask("prefetch to no places",
        cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, first, 0, 0, s));
    ask("prefetch null", cudaMemPrefetchBatchAsync(NULL, sizes, 2, places, first, 1, 0, s));
    ask("discard two", cudaMemDiscardBatchAsync(ranges, sizes, 2, 0, s));
    ask("discard with flags", cudaMemDiscardBatchAsync(ranges, sizes, 2, 1, s));
    ask("discard none", cudaMemDiscardBatchAsync(ranges, sizes, 0, 0, s));
    ask("discard on the legacy stream", cudaMemDiscardBatchAsync(ranges, sizes, 2, 0, 0));
    ask("discard and prefetch",
        cudaMemDiscardAndPrefetchBatchAsync(ranges, sizes, 2, places, first, 1, 0, s));
    sizes[1] = 100;
    ask("discard a hundred bytes", cudaMemDiscardBatchAsync(ranges, sizes, 2, 0, s));
    ranges[1] = d;
    ask("prefetch device memory",
        cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, first, 1, 0, s));
    ask("discard device memory", cudaMemDiscardBatchAsync(ranges, sizes, 2, 0, s));
    ask("wait", cudaStreamSynchronize(s));

    int read_mostly = 9, preferred = 9, by[4] = { 9, 9, 9, 9 }, last = 9;
    void *data[] = { &read_mostly, &preferred, by, &last };
    size_t bytes[] = { 4, 4, 16, 4 };
    enum cudaMemRangeAttribute which[] = { cudaMemRangeAttributeReadMostly,
                                           cudaMemRangeAttributePreferredLocation,
                                           cudaMemRangeAttributeAccessedBy,
                                           cudaMemRangeAttributeLastPrefetchLocation };
    DO(cudaMemAdvise(m, 4 << 20, cudaMemAdviseSetReadMostly, places[0]));
    DO(cudaMemAdvise(m, 4 << 20, cudaMemAdviseSetAccessedBy, places[0]));
    DO(cudaMemAdvise(m, 4 << 20, cudaMemAdviseSetPreferredLocation, places[1]));
    ask("four attributes", cudaMemRangeGetAttributes(data, bytes, which, 4, m, 4 << 20));
    tell("they are", "%d, %d, %d %d %d %d, %d", read_mostly, preferred, by[0], by[1], by[2], by[3],
         last);
    ask("no attributes", cudaMemRangeGetAttributes(data, bytes, which, 0, m, 4 << 20));
    ask("to null", cudaMemRangeGetAttributes(NULL, bytes, which, 4, m, 4 << 20));
    bytes[1] = 2;
    ask("one into 2 bytes", cudaMemRangeGetAttributes(data, bytes, which, 4, m, 4 << 20));
    bytes[1] = 4, bytes[2] = 6;
    ask("a list of 6 bytes", cudaMemRangeGetAttributes(data, bytes, which, 4, m, 4 << 20));
    bytes[2] = 16, which[3] = 99;
    ask("attribute 99", cudaMemRangeGetAttributes(data, bytes, which, 4, m, 4 << 20));
    which[3] = cudaMemRangeAttributeLastPrefetchLocation;
    ask("of device memory", cudaMemRangeGetAttributes(data, bytes, which, 4, d, 4096));
    DO(cudaMemAdvise(m, 4 << 20, cudaMemAdviseUnsetReadMostly, places[0]));
    DO(cudaMemAdvise(m, 4 << 20, cudaMemAdviseUnsetAccessedBy, places[0]));
    DO(cudaMemAdvise(m, 4 << 20, cudaMemAdviseUnsetPreferredLocation, places[0]));
    DO(cudaMemPrefetchAsync(m, 4 << 20, places[0], 0, s));
    DO(cudaStreamSynchronize(s));
    ask("then", cudaMemRangeGetAttributes(data, bytes, which, 4, m, 4 << 20));
    tell("then they are", "%d, %d, %d %d %d %d, %d", read_mostly, preferred, by[0], by[1], by[2],
         by[3], last);
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(pools_by_place, 1)
{
    cudaMemPool_t pool = NULL, mine = NULL, by_place = NULL;
    struct cudaMemLocation here = place(cudaMemLocationTypeDevice, 0),
                           far = place(cudaMemLocationTypeDevice, 99),
                           cpu = place(cudaMemLocationTypeHost, 0);
    struct cudaMemPoolProps props = { .allocType = cudaMemAllocationTypePinned, .location = here };
    DO(cudaDeviceGetDefaultMemPool(&pool, 0));
    DO(cudaMemPoolCreate(&mine, &props));
    ask("default", cudaMemGetDefaultMemPool(&by_place, &here, cudaMemAllocationTypePinned));
    tell("default is", "%s", by_place == pool ? "the device's" : "another");
    ask("default, device 99",
        cudaMemGetDefaultMemPool(&by_place, &far, cudaMemAllocationTypePinned));
    ask("default, kind 9",
        cudaMemGetDefaultMemPool(&by_place, &here, (enum cudaMemAllocationType)9));
    ask("default, to nowhere", cudaMemGetDefaultMemPool(NULL, &here, cudaMemAllocationTypePinned));
    ask("default, of nowhere",
        cudaMemGetDefaultMemPool(&by_place, NULL, cudaMemAllocationTypePinned));
    ask("default, of the host",
        cudaMemGetDefaultMemPool(&by_place, &cpu, cudaMemAllocationTypePinned));
    ask("default, managed",
        cudaMemGetDefaultMemPool(&by_place, &here, cudaMemAllocationTypeManaged));
    ask("set", cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, mine));
    ask("current", cudaMemGetMemPool(&by_place, &here, cudaMemAllocationTypePinned));
    tell("current is", "%s", by_place == mine ? "the one that was set" : "another");
    ask("current, of the host", cudaMemGetMemPool(&by_place, &cpu, cudaMemAllocationTypePinned));
    ask("set null", cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, NULL));
    ask("set for device 99", cudaMemSetMemPool(&far, cudaMemAllocationTypePinned, mine));
    ask("set for managed", cudaMemSetMemPool(&here, cudaMemAllocationTypeManaged, mine));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(newest, 1)
{
    unsigned capabilities[2] = { 9, 9 };
    enum cudaAtomicOperation operations[] = { 0, 1 };
    ask("the host's atomics", cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0));
    ask("the host's atomics of device 99",
        cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 99));
    ask("a peer's atomics of itself",
        cudaDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 0));
    cudaLogIterator at;
    char text[256];
    size_t size = sizeof text;
    ask("the log", cudaLogsCurrent(&at, 0));
    ask("the log, flags 1", cudaLogsCurrent(&at, 1));
    ask("the log in memory", cudaLogsDumpToMemory(NULL, text, &size, 0));
    cudaKernel_t kernel;
    ask("a kernel's handle", cudaGetKernel(&kernel, (const void *)add_one));
    ask("its attribute", cudaKernelSetAttributeForDevice(
                             kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000, 0));
    ask("its attribute on device 99",
        cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000,
                                        99));
    ask("its attribute, too large",
        cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 600000,
                                        0));
    void *p = NULL;
    enum cudaDriverEntryPointQueryResult found = 9;
    ask("driver's entry point",
        cudaGetDriverEntryPointByVersion("cuMemAlloc", &p, 12000, cudaEnableDefault, &found));
    tell("driver's entry point", "%d, %s", (int)found, p ? "some" : "null");
    ask("flush writes",
        cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                           cudaFlushGPUDirectRDMAWritesToOwner));
    ask("afterwards", cudaDeviceSynchronize());
}
