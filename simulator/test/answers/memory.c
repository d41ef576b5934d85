// Memory: copies, fills, allocating, freeing, registering, managed memory, pools, what is known of
// a pointer.
#include "ask.h"

enum { BYTES = 4096 };
static char host[BYTES], other[BYTES];

static struct cudaMemLocation place(enum cudaMemLocationType type, int id)
{
    return (struct cudaMemLocation){ .type = type, .id = id };
}

GROUP(copies, 1)
{
    char *d, *e, *freed;
    DO(cudaMalloc((void **)&d, BYTES));
    DO(cudaMalloc((void **)&e, BYTES));
    DO(cudaMalloc((void **)&freed, 64 << 20));
    DO(cudaMemset(d, 1, BYTES));
    DO(cudaMemset(e, 1, BYTES));
    DO(cudaFree(freed));
    ask("device to host, said to be host to device",
        cudaMemcpy(host, d, 16, cudaMemcpyHostToDevice));
    ask("host to device, said to be device to host",
        cudaMemcpy(d, host, 16, cudaMemcpyDeviceToHost));
    ask("device to device, said to be host to device",
        cudaMemcpy(d, e, 16, cudaMemcpyHostToDevice));
    ask("device to device, said to be device to host",
        cudaMemcpy(d, e, 16, cudaMemcpyDeviceToHost));
    ask("host to device, said to be device to device",
        cudaMemcpy(d, host, 16, cudaMemcpyDeviceToDevice));
    ask("device to host, said to be host to host", cudaMemcpy(host, d, 16, cudaMemcpyHostToHost));
    ask("host to host, said to be host to device",
        cudaMemcpy(host, other, 16, cudaMemcpyHostToDevice));
    ask("host to host, said to be device to device",
        cudaMemcpy(host, other, 16, cudaMemcpyDeviceToDevice));
    ask("host to host", cudaMemcpy(host, other, 16, cudaMemcpyHostToHost));
    ask("host to host by default", cudaMemcpy(host, other, 16, cudaMemcpyDefault));
    ask("device to host by default", cudaMemcpy(host, d, 16, cudaMemcpyDefault));
    ask("kind 5", cudaMemcpy(host, d, 16, (enum cudaMemcpyKind)5));
    ask("kind -1", cudaMemcpy(host, d, 16, (enum cudaMemcpyKind) - 1));
    ask("no bytes, kind 5", cudaMemcpy(host, d, 0, (enum cudaMemcpyKind)5));
    ask("no bytes, null pointers", cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    ask("no bytes, wrong way round", cudaMemcpy(host, d, 0, cudaMemcpyHostToDevice));
    ask("to null", cudaMemcpy(NULL, host, 16, cudaMemcpyHostToDevice));
    ask("from null", cudaMemcpy(host, NULL, 16, cudaMemcpyDeviceToHost));
    ask("host from null", cudaMemcpy(d, NULL, 16, cudaMemcpyHostToDevice));
    ask("to host past the device's end",
        cudaMemcpy(host, d + BYTES - 1, 2, cudaMemcpyDeviceToHost));
    ask("more than the device's allocation",
        cudaMemcpy(d, host, BYTES + 1, cudaMemcpyHostToDevice));
    ask("to what is freed", cudaMemcpy(freed, host, 16, cudaMemcpyHostToDevice));
    ask("from what is freed", cudaMemcpy(host, freed, 16, cudaMemcpyDeviceToHost));
    ask("from what is freed by default", cudaMemcpy(d, freed, 16, cudaMemcpyDeviceToDevice));
    ask("asynchronous, wrong way round", cudaMemcpyAsync(host, d, 16, cudaMemcpyHostToDevice, 0));
    ask("asynchronous, kind 9", cudaMemcpyAsync(host, d, 16, (enum cudaMemcpyKind)9, 0));
    ask("asynchronous, to null", cudaMemcpyAsync(NULL, host, 16, cudaMemcpyHostToDevice, 0));
    ask("overlapping", cudaMemcpy(d, d + 8, 16, cudaMemcpyDeviceToDevice));
    ask("onto itself", cudaMemcpy(d, d, 16, cudaMemcpyDeviceToDevice));
    ask("2D, rows wider than a pitch", cudaMemcpy2D(host, 8, d, 16, 9, 2, cudaMemcpyDeviceToHost));
    ask("2D, one row wider than a pitch",
        cudaMemcpy2D(host, 4, d, 16, 8, 1, cudaMemcpyDeviceToHost));
    ask("2D, no rows, wider than a pitch",
        cudaMemcpy2D(host, 4, d, 16, 8, 0, cudaMemcpyDeviceToHost));
    ask("2D, no width, null pointers",
        cudaMemcpy2D(NULL, 4, NULL, 16, 0, 4, cudaMemcpyDeviceToHost));
    ask("2D, a pitch of 2^31",
        cudaMemcpy2D(host, 16, d, (size_t)1 << 31, 8, 1, cudaMemcpyDeviceToHost));
    ask("2D, kind 7", cudaMemcpy2D(host, 16, d, 16, 8, 2, (enum cudaMemcpyKind)7));
    ask("2D, past the end", cudaMemcpy2D(host, 64, d, 64, 64, 65, cudaMemcpyDeviceToHost));
    ask("3D, null", cudaMemcpy3D(NULL));
    struct cudaMemcpy3DParms box = { .kind = cudaMemcpyDeviceToHost };
    ask("3D, nothing filled in", cudaMemcpy3D(&box));
    box.extent = (struct cudaExtent){ 4, 4, 4 };
    ask("3D, no pointers", cudaMemcpy3D(&box));
    ask("peer, the same device", cudaMemcpyPeer(d, 0, e, 0, 16));
    ask("peer, to device 99", cudaMemcpyPeer(d, 99, e, 0, 16));
    ask("peer, from device -1", cudaMemcpyPeer(d, 0, e, -1, 16));
    ask("peer, no bytes, to device 99", cudaMemcpyPeer(d, 99, e, 0, 0));
    ask("peer, host memory", cudaMemcpyPeer(d, 0, host, 0, 16));
    ask("a terabyte", cudaMemcpy(d, host, (size_t)1 << 40, cudaMemcpyHostToDevice));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(symbols, 1)
{
    char *d;
    size_t size = 0;
    DO(cudaMalloc((void **)&d, BYTES));
    ask("to a variable", cudaMemcpyToSymbol(variable, host, 64, 0, cudaMemcpyHostToDevice));
    ask("to a constant", cudaMemcpyToSymbol(constant, host, 64, 0, cudaMemcpyHostToDevice));
    ask("past a variable's end", cudaMemcpyToSymbol(variable, host, 64, 4, cudaMemcpyHostToDevice));
    ask("offset past a variable's end",
        cudaMemcpyToSymbol(variable, host, 4, 100, cudaMemcpyHostToDevice));
    ask("no bytes past a variable's end",
        cudaMemcpyToSymbol(variable, host, 0, 100, cudaMemcpyHostToDevice));
    ask("said to be device to host",
        cudaMemcpyToSymbol(variable, host, 4, 0, cudaMemcpyDeviceToHost));
    ask("said to be device to device, from the host",
        cudaMemcpyToSymbol(variable, host, 4, 0, cudaMemcpyDeviceToDevice));
    ask("from a variable, said to be host to device",
        cudaMemcpyFromSymbol(host, variable, 4, 0, cudaMemcpyHostToDevice));
    ask("kind 9", cudaMemcpyFromSymbol(host, variable, 4, 0, (enum cudaMemcpyKind)9));
    ask("null symbol", cudaMemcpyToSymbol(NULL, host, 4, 0, cudaMemcpyHostToDevice));
    ask("host memory as symbol", cudaMemcpyToSymbol(other, host, 4, 0, cudaMemcpyHostToDevice));
    ask("device memory as symbol", cudaMemcpyToSymbol(d, host, 4, 0, cudaMemcpyHostToDevice));
    ask("a kernel as symbol",
        cudaMemcpyToSymbol((const void *)nothing, host, 4, 0, cudaMemcpyHostToDevice));
    ask("address of host memory", cudaGetSymbolAddress((void **)&d, host));
    ask("address to null", cudaGetSymbolAddress(NULL, variable));
    ask("size of null", cudaGetSymbolSize(&size, NULL));
    ask("size to null", cudaGetSymbolSize(NULL, variable));
    ask("size", cudaGetSymbolSize(&size, variable));
    tell("size in bytes", "%zu", size);
}

GROUP(fills, 1)
{
    char *d, *freed, *pinned;
    DO(cudaMalloc((void **)&d, BYTES));
    DO(cudaMalloc((void **)&freed, 64 << 20));
    DO(cudaFree(freed));
    DO(cudaMallocHost((void **)&pinned, BYTES));
    ask("null", cudaMemset(NULL, 0, 16));
    ask("null, no bytes", cudaMemset(NULL, 0, 0));
    ask("host memory", cudaMemset(host, 0, 16));
    ask("host memory, no bytes", cudaMemset(host, 0, 0));
    ask("pinned memory", cudaMemset(pinned, 0, 16));
    ask("past the end", cudaMemset(d + BYTES - 1, 0, 2));
    ask("more than the allocation", cudaMemset(d, 0, BYTES + 1));
    ask("what is freed", cudaMemset(freed, 0, 16));
    ask("value 0x1ff", cudaMemset(d, 0x1ff, 16));
    ask("value -1", cudaMemset(d, -1, 16));
    DO(cudaMemcpy(host, d, 1, cudaMemcpyDeviceToHost));
    ask("2D, rows wider than the pitch", cudaMemset2D(d, 8, 0, 16, 2));
    ask("2D, one row wider than the pitch", cudaMemset2D(d, 8, 0, 16, 1));
    ask("2D, no rows", cudaMemset2D(d, 8, 0, 8, 0));
    ask("2D, no pitch, no width", cudaMemset2D(d, 0, 0, 0, 2));
    ask("3D, nothing filled in",
        cudaMemset3D((struct cudaPitchedPtr){ 0 }, 0, (struct cudaExtent){ 0, 0, 0 }));
    ask("3D, wider than the pitch",
        cudaMemset3D((struct cudaPitchedPtr){ d, 8, 8, 2 }, 0, (struct cudaExtent){ 16, 2, 2 }));
    ask("asynchronous, host memory", cudaMemsetAsync(host, 0, 16, 0));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(allocating, 1)
{
    char *p = host;
    size_t pitch = 0;
    struct cudaPitchedPtr box;
    ask("nowhere", cudaMalloc(NULL, 16));
    ask("nothing", cudaMalloc((void **)&p, 0));
    tell("nothing gives", "%s", p ? "a pointer" : "null");
    p = host;
    ask("a petabyte", cudaMalloc((void **)&p, (size_t)1 << 50));
    tell("a petabyte gives", "%s", p == host ? "what was there" : p ? "a pointer" : "null");
    ask("all bytes", cudaMalloc((void **)&p, SIZE_MAX));
    ask("200 GiB", cudaMalloc((void **)&p, (size_t)200 << 30));
    static const size_t widths[] = { 0, 1, 512, 513, 1000, 4097 };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char question[64];
        pitch = 7;
        cudaError_t error = cudaMallocPitch((void **)&p, &pitch, widths[i], 10);
        snprintf(question, sizeof question, "rows of %zu", widths[i]);
        tell(question, "%s, pitch %zu, %s", cudaGetErrorName(error), pitch,
             p ? "a pointer" : "null");
    }
    ask("no rows", cudaMallocPitch((void **)&p, &pitch, 100, 0));
    tell("no rows give", "pitch %zu, %s", pitch, p ? "a pointer" : "null");
    ask("rows without a pitch", cudaMallocPitch((void **)&p, NULL, 100, 10));
    ask("too many rows", cudaMallocPitch((void **)&p, &pitch, (size_t)1 << 40, (size_t)1 << 40));
    ask("rows of 2^31", cudaMallocPitch((void **)&p, &pitch, (size_t)1 << 31, 2));
    ask("a box", cudaMalloc3D(&box, (struct cudaExtent){ 100, 3, 2 }));
    tell("a box gives", "pitch %zu, %zu x %zu", box.pitch, box.xsize, box.ysize);
    ask("a box of nothing", cudaMalloc3D(&box, (struct cudaExtent){ 0, 0, 0 }));
    ask("pinned, nowhere", cudaMallocHost(NULL, 16));
    p = host;
    ask("pinned, nothing", cudaMallocHost((void **)&p, 0));
    tell("pinned, nothing gives", "%s", p ? "a pointer" : "null");
    ask("pinned, flag 0x80", cudaHostAlloc((void **)&p, 16, 0x80));
    ask("pinned, flag 8", cudaHostAlloc((void **)&p, 16, 8));
    ask("pinned, all flags", cudaHostAlloc((void **)&p, 16, 7));
    ask("managed, nowhere", cudaMallocManaged(NULL, 16, cudaMemAttachGlobal));
    ask("managed, no flag", cudaMallocManaged((void **)&p, 16, 0));
    ask("managed, flags 3", cudaMallocManaged((void **)&p, 16, 3));
    ask("managed, single", cudaMallocManaged((void **)&p, 16, cudaMemAttachSingle));
    ask("managed, host", cudaMallocManaged((void **)&p, 16, cudaMemAttachHost));
    ask("managed, a petabyte",
        cudaMallocManaged((void **)&p, (size_t)1 << 50, cudaMemAttachGlobal));
    ask("how much is free, to nowhere", cudaMemGetInfo(NULL, NULL));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(freeing, 1)
{
    char *p, *q, *pinned, *managed, *plain = malloc(BYTES);
    DO(cudaMalloc((void **)&p, BYTES));
    DO(cudaMalloc((void **)&q, 64 << 20));
    DO(cudaMallocHost((void **)&pinned, BYTES));
    DO(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
    ask("null", cudaFree(NULL));
    ask("null to FreeHost", cudaFreeHost(NULL));
    ask("inside of an allocation", cudaFree(p + 16));
    ask("a byte inside of a large one", cudaFree(q + 1));
    ask("malloc's memory", cudaFree(plain));
    ask("a local variable", cudaFree(&p));
    ask("pinned memory", cudaFree(pinned));
    ask("pinned memory by FreeHost", cudaFreeHost(pinned));
    ask("pinned memory twice", cudaFreeHost(pinned));
    ask("malloc's memory to FreeHost", cudaFreeHost(plain));
    ask("device memory to FreeHost", cudaFreeHost(p));
    ask("managed memory to FreeHost", cudaFreeHost(managed));
    ask("managed memory", cudaFree(managed));
    ask("managed memory twice", cudaFree(managed));
    ask("device memory", cudaFree(p));
    ask("device memory twice", cudaFree(p));
    ask("a large one", cudaFree(q));
    ask("a large one twice", cudaFree(q));
    ask("null to FreeArray", cudaFreeArray(NULL));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(registering, 1)
{
    char *page = aligned_alloc(BYTES, 4 * BYTES), *p = NULL, *d, *pinned, *managed, *written;
    unsigned flags = 99;
    memset(page, 0, 4 * BYTES);
    DO(cudaMalloc((void **)&d, BYTES));
    DO(cudaHostAlloc((void **)&pinned, BYTES, cudaHostAllocDefault));
    DO(cudaHostAlloc((void **)&written, BYTES, cudaHostAllocWriteCombined));
    DO(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
    ask("null", cudaHostRegister(NULL, BYTES, 0));
    ask("no bytes", cudaHostRegister(page, 0, 0));
    ask("flag 0x40", cudaHostRegister(page, BYTES, 0x40));
    ask("not registered: its device pointer", cudaHostGetDevicePointer((void **)&p, page, 0));
    ask("not registered: its flags", cudaHostGetFlags(&flags, page));
    ask("not registered: unregister", cudaHostUnregister(page));
    ask("register", cudaHostRegister(page, BYTES, cudaHostRegisterDefault));
    ask("register twice", cudaHostRegister(page, BYTES, cudaHostRegisterDefault));
    ask("register what overlaps", cudaHostRegister(page, 2 * BYTES, cudaHostRegisterDefault));
    ask("register a part", cudaHostRegister(page + 16, 16, cudaHostRegisterDefault));
    ask("its device pointer", cudaHostGetDevicePointer((void **)&p, page, 0));
    tell("its device pointer is", "%s", p == page ? "the same" : "another");
    ask("its device pointer, inside", cudaHostGetDevicePointer((void **)&p, page + 16, 0));
    tell("its device pointer, inside, is", "%s", p == page + 16 ? "the same" : "another");
    ask("its device pointer, flag 1", cudaHostGetDevicePointer((void **)&p, page, 1));
    ask("its device pointer, to nowhere", cudaHostGetDevicePointer(NULL, page, 0));
    ask("its flags", cudaHostGetFlags(&flags, page));
    tell("its flags are", "%u", flags);
    ask("unregister inside", cudaHostUnregister(page + 16));
    ask("unregister null", cudaHostUnregister(NULL));
    ask("FreeHost", cudaFreeHost(page));
    ask("unregister", cudaHostUnregister(page));
    ask("unregister twice", cudaHostUnregister(page));
    ask("device memory", cudaHostRegister(d, BYTES, 0));
    ask("pinned memory", cudaHostRegister(pinned, BYTES, 0));
    ask("managed memory", cudaHostRegister(managed, BYTES, 0));
    ask("unregister pinned memory", cudaHostUnregister(pinned));
    ask("pinned memory's device pointer", cudaHostGetDevicePointer((void **)&p, pinned, 0));
    ask("device memory's device pointer", cudaHostGetDevicePointer((void **)&p, d, 0));
    ask("managed memory's device pointer", cudaHostGetDevicePointer((void **)&p, managed, 0));
    ask("pinned memory's flags", cudaHostGetFlags(&flags, pinned));
    tell("pinned memory's flags are", "%u", flags);
    ask("write-combined memory's flags", cudaHostGetFlags(&flags, written));
    tell("write-combined memory's flags are", "%u", flags);
    ask("device memory's flags", cudaHostGetFlags(&flags, d));
    ask("managed memory's flags", cudaHostGetFlags(&flags, managed));
    ask("registered for all",
        cudaHostRegister(page, BYTES, cudaHostRegisterPortable | cudaHostRegisterMapped));
    ask("registered for all: its flags", cudaHostGetFlags(&flags, page));
    tell("registered for all: its flags are", "%u", flags);
}

static void kind_of(const char *question, const void *p)
{
    struct cudaPointerAttributes a;
    memset(&a, 0x55, sizeof a);
    cudaError_t error = cudaPointerGetAttributes(&a, p), last = cudaGetLastError();
    if (error) tell(question, "%s, last error %s", cudaGetErrorName(error), cudaGetErrorName(last));
    else
        tell(question, "type %d, device %d, device pointer %s, host pointer %s", (int)a.type,
             a.device,
             !a.devicePointer       ? "null"
             : a.devicePointer == p ? "the same"
                                    : "another",
             !a.hostPointer       ? "null"
             : a.hostPointer == p ? "the same"
                                  : "another");
}

GROUP(pointers, 1)
{
    char *d, *freed, *pinned, *mapped, *managed, *async, *page = aligned_alloc(BYTES, BYTES);
    void *symbol;
    struct cudaPointerAttributes a;
    DO(cudaMalloc((void **)&d, 4 << 20));
    DO(cudaMalloc((void **)&freed, 64 << 20));
    DO(cudaMallocHost((void **)&pinned, BYTES));
    DO(cudaHostAlloc((void **)&mapped, BYTES, cudaHostAllocMapped | cudaHostAllocPortable));
    DO(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
    DO(cudaMallocAsync((void **)&async, BYTES, 0));
    DO(cudaHostRegister(page, BYTES, 0));
    DO(cudaGetSymbolAddress(&symbol, variable));
    DO(cudaFree(freed));
    ask("to nowhere", cudaPointerGetAttributes(NULL, d));
    ask("of null", cudaPointerGetAttributes(&a, NULL));
    kind_of("null", NULL);
    kind_of("device memory", d);
    kind_of("inside of device memory", d + 100);
    kind_of("freed memory", freed);
    kind_of("pinned memory", pinned);
    kind_of("inside of pinned memory", pinned + 100);
    kind_of("mapped memory", mapped);
    kind_of("managed memory", managed);
    kind_of("memory of a pool", async);
    kind_of("registered memory", page);
    kind_of("inside of registered memory", page + 100);
    kind_of("a variable of the program", host);
    kind_of("a local variable", &a);
    kind_of("a variable of the device", symbol);
    kind_of("the program's handle of it", variable);
    kind_of("a kernel", (const void *)nothing);
    DO(cudaFreeAsync(async, 0));
    DO(cudaDeviceSynchronize());
    DO(cudaHostUnregister(page));
    kind_of("once registered memory", page);
}

GROUP(managed, 1)
{
    char *m, *d, *pinned;
    int value = 99;
    struct cudaMemLocation here = place(cudaMemLocationTypeDevice, 0),
                           cpu = place(cudaMemLocationTypeHost, 0);
    DO(cudaMallocManaged((void **)&m, 4 << 20, cudaMemAttachGlobal));
    DO(cudaMalloc((void **)&d, BYTES));
    DO(cudaMallocHost((void **)&pinned, BYTES));
    ask("prefetch", cudaMemPrefetchAsync(m, 1 << 20, here, 0, 0));
    ask("prefetch to the host", cudaMemPrefetchAsync(m, 1 << 20, cpu, 0, 0));
    ask("prefetch to device 99",
        cudaMemPrefetchAsync(m, BYTES, place(cudaMemLocationTypeDevice, 99), 0, 0));
    ask("prefetch to device -1",
        cudaMemPrefetchAsync(m, BYTES, place(cudaMemLocationTypeDevice, -1), 0, 0));
    ask("prefetch to no kind of place",
        cudaMemPrefetchAsync(m, BYTES, place(cudaMemLocationTypeInvalid, 0), 0, 0));
    ask("prefetch to kind of place 9",
        cudaMemPrefetchAsync(m, BYTES, place((enum cudaMemLocationType)9, 0), 0, 0));
    ask("prefetch to NUMA node 0",
        cudaMemPrefetchAsync(m, BYTES, place(cudaMemLocationTypeHostNuma, 0), 0, 0));
    ask("prefetch to this NUMA node",
        cudaMemPrefetchAsync(m, BYTES, place(cudaMemLocationTypeHostNumaCurrent, 0), 0, 0));
    ask("prefetch with flags", cudaMemPrefetchAsync(m, BYTES, here, 1, 0));
    ask("prefetch no bytes", cudaMemPrefetchAsync(m, 0, here, 0, 0));
    ask("prefetch past the end", cudaMemPrefetchAsync(m, (4 << 20) + 1, here, 0, 0));
    ask("prefetch far past the end", cudaMemPrefetchAsync(m, 64 << 20, here, 0, 0));
    ask("prefetch null", cudaMemPrefetchAsync(NULL, BYTES, here, 0, 0));
    ask("prefetch device memory", cudaMemPrefetchAsync(d, BYTES, here, 0, 0));
    ask("prefetch pinned memory", cudaMemPrefetchAsync(pinned, BYTES, here, 0, 0));
    ask("advise read mostly", cudaMemAdvise(m, BYTES, cudaMemAdviseSetReadMostly, here));
    ask("advise read mostly, device 99",
        cudaMemAdvise(m, BYTES, cudaMemAdviseSetReadMostly, place(cudaMemLocationTypeDevice, 99)));
    ask("advise preferred location",
        cudaMemAdvise(m, BYTES, cudaMemAdviseSetPreferredLocation, here));
    ask("advise preferred location, device 99",
        cudaMemAdvise(m, BYTES, cudaMemAdviseSetPreferredLocation,
                      place(cudaMemLocationTypeDevice, 99)));
    ask("advise preferred location, no kind of place",
        cudaMemAdvise(m, BYTES, cudaMemAdviseSetPreferredLocation,
                      place(cudaMemLocationTypeInvalid, 0)));
    ask("advise accessed by", cudaMemAdvise(m, BYTES, cudaMemAdviseSetAccessedBy, here));
    ask("advise accessed by the host", cudaMemAdvise(m, BYTES, cudaMemAdviseSetAccessedBy, cpu));
    ask("advise accessed by device 99",
        cudaMemAdvise(m, BYTES, cudaMemAdviseSetAccessedBy, place(cudaMemLocationTypeDevice, 99)));
    ask("advise 0", cudaMemAdvise(m, BYTES, (enum cudaMemoryAdvise)0, here));
    ask("advise 99", cudaMemAdvise(m, BYTES, (enum cudaMemoryAdvise)99, here));
    ask("advise no bytes", cudaMemAdvise(m, 0, cudaMemAdviseSetReadMostly, here));
    ask("advise past the end", cudaMemAdvise(m, (4 << 20) + 1, cudaMemAdviseSetReadMostly, here));
    ask("advise on device memory", cudaMemAdvise(d, BYTES, cudaMemAdviseSetReadMostly, here));
    ask("advise on pinned memory", cudaMemAdvise(pinned, BYTES, cudaMemAdviseSetReadMostly, here));
    DO(cudaDeviceSynchronize());
    for (int a = 0; a <= 9; a++) {
        char question[64];
        value = 99;
        cudaError_t error =
            cudaMemRangeGetAttribute(&value, sizeof value, (enum cudaMemRangeAttribute)a, m, BYTES);
        snprintf(question, sizeof question, "attribute %d of a range", a);
        tell(question, "%s, %d", cudaGetErrorName(error), value);
    }
    cudaGetLastError();
    ask("an attribute into 2 bytes",
        cudaMemRangeGetAttribute(&value, 2, cudaMemRangeAttributeReadMostly, m, BYTES));
    ask("an attribute to nowhere",
        cudaMemRangeGetAttribute(NULL, 4, cudaMemRangeAttributeReadMostly, m, BYTES));
    ask("an attribute of device memory",
        cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, d, BYTES));
    ask("an attribute of no bytes",
        cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, m, 0));
    ask("an attribute of a range with others",
        cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, m, 2 << 20));
    tell("it is", "%d", value);
    ask("attach to no stream", cudaStreamAttachMemAsync(0, m, 0, cudaMemAttachSingle));
    ask("attach to all", cudaStreamAttachMemAsync(0, m, 0, cudaMemAttachGlobal));
    ask("attach with flags 9", cudaStreamAttachMemAsync(0, m, 0, 9));
    ask("attach a part", cudaStreamAttachMemAsync(0, m, BYTES, cudaMemAttachGlobal));
    ask("attach device memory", cudaStreamAttachMemAsync(0, d, 0, cudaMemAttachGlobal));
    ask("attach null", cudaStreamAttachMemAsync(0, NULL, 0, cudaMemAttachGlobal));
    ask("afterwards", cudaDeviceSynchronize());
}

static void pool_figures(const char *when, cudaMemPool_t pool)
{
    for (int a = 5; a <= 8; a++) {
        char question[80];
        unsigned long long value = 99;
        cudaError_t error = cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)a, &value);
        snprintf(question, sizeof question, "attribute %d %s", a, when);
        tell(question, "%s, %llu", cudaGetErrorName(error), value);
    }
}

GROUP(pools, 1)
{
    cudaMemPool_t pool, mine, current;
    cudaStream_t s;
    char *p = host, *q, *d;
    DO(cudaStreamCreate(&s));
    DO(cudaMalloc((void **)&d, BYTES));
    ask("the default pool", cudaDeviceGetDefaultMemPool(&pool, 0));
    ask("the default pool of device 99", cudaDeviceGetDefaultMemPool(&pool, 99));
    ask("the default pool to nowhere", cudaDeviceGetDefaultMemPool(NULL, 0));
    for (int a = 0; a <= 9; a++) {
        char question[64];
        unsigned long long value = 0;
        cudaError_t error = cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)a, &value);
        snprintf(question, sizeof question, "attribute %d", a);
        tell(question, "%s, %llu", cudaGetErrorName(error), value);
    }
    cudaGetLastError();
    ask("nowhere", cudaMallocAsync(NULL, 16, s));
    ask("nothing", cudaMallocAsync((void **)&p, 0, s));
    tell("nothing gives", "%s", p == host ? "what was there" : p ? "a pointer" : "null");
    ask("a petabyte", cudaMallocAsync((void **)&p, (size_t)1 << 50, s));
    ask("a byte", cudaMallocAsync((void **)&p, 1, s));
    DO(cudaStreamSynchronize(s));
    pool_figures("with a byte", pool);
    ask("two thousand bytes", cudaMallocAsync((void **)&q, 2000, s));
    DO(cudaStreamSynchronize(s));
    pool_figures("with 2000 more", pool);
    ask("free null", cudaFreeAsync(NULL, s));
    ask("free malloc's memory", cudaFreeAsync(host, s));
    ask("free inside", cudaFreeAsync(p + 16, s));
    ask("free it", cudaFreeAsync(p, s));
    ask("free it twice", cudaFreeAsync(p, s));
    ask("free the other with cudaFree", cudaFree(q));
    ask("free the other again", cudaFreeAsync(q, s));
    ask("free cudaMalloc's memory", cudaFreeAsync(d, s));
    DO(cudaStreamSynchronize(s));
    pool_figures("with all freed", pool);
    DO(cudaMallocAsync((void **)&p, 40 << 20, s));
    DO(cudaStreamSynchronize(s));
    pool_figures("with 40 MiB", pool);
    DO(cudaFreeAsync(p, s));
    DO(cudaStreamSynchronize(s));
    pool_figures("with 40 MiB freed", pool);
    unsigned long long value = 0;
    ask("set the high mark to 0",
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
    value = 1;
    ask("set the high mark to 1",
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
    ask("set what is used", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
    ask("set the threshold",
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    ask("set attribute 0", cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)0, &value));
    ask("set attribute 99", cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)99, &value));
    ask("set to nothing", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, NULL));
    ask("trim", cudaMemPoolTrimTo(pool, 0));
    ask("trim null", cudaMemPoolTrimTo(NULL, 0));
    ask("destroy the default pool", cudaMemPoolDestroy(pool));
    struct cudaMemPoolProps props = { .allocType = cudaMemAllocationTypePinned,
                                      .location = { .type = cudaMemLocationTypeDevice, .id = 0 } };
    ask("create", cudaMemPoolCreate(&mine, &props));
    ask("create from null", cudaMemPoolCreate(&mine, NULL));
    struct cudaMemPoolProps none = { 0 }, away = props, kind = props;
    ask("create from nothing filled in", cudaMemPoolCreate(&current, &none));
    away.location.id = 99;
    ask("create on device 99", cudaMemPoolCreate(&current, &away));
    kind.handleTypes = (enum cudaMemAllocationHandleType)0x40;
    ask("create with handles of kind 0x40", cudaMemPoolCreate(&current, &kind));
    int fd;
    ask("export without handles",
        cudaMemPoolExportToShareableHandle(&fd, mine, cudaMemHandleTypePosixFileDescriptor, 0));
    enum cudaMemAccessFlags access = 99;
    struct cudaMemLocation here = place(cudaMemLocationTypeDevice, 0),
                           far = place(cudaMemLocationTypeDevice, 99);
    ask("who may access", cudaMemPoolGetAccess(&access, mine, &here));
    tell("the device's own access", "%d", (int)access);
    ask("who may access, device 99", cudaMemPoolGetAccess(&access, mine, &far));
    struct cudaMemAccessDesc desc = { here, cudaMemAccessFlagsProtNone };
    ask("take the device its own access", cudaMemPoolSetAccess(mine, &desc, 1));
    desc.flags = cudaMemAccessFlagsProtRead;
    ask("let the device only read", cudaMemPoolSetAccess(mine, &desc, 1));
    desc.location = far, desc.flags = cudaMemAccessFlagsProtReadWrite;
    ask("let device 99", cudaMemPoolSetAccess(mine, &desc, 1));
    ask("let nobody", cudaMemPoolSetAccess(mine, NULL, 0));
    ask("from it", cudaMallocFromPoolAsync((void **)&p, 16, mine, s));
    ask("from null", cudaMallocFromPoolAsync((void **)&q, 16, NULL, s));
    ask("the device's pool", cudaDeviceGetMemPool(&current, 0));
    tell("the device's pool is", "%s", current == pool ? "the default one" : "another");
    ask("set the device's pool", cudaDeviceSetMemPool(0, mine));
    ask("set device 99's pool", cudaDeviceSetMemPool(99, mine));
    ask("set the device's pool to null", cudaDeviceSetMemPool(0, NULL));
    ask("destroy the device's pool, with memory", cudaMemPoolDestroy(mine));
    ask("the device's pool again", cudaDeviceGetMemPool(&current, 0));
    tell("the device's pool again is", "%s", current == pool ? "the default one" : "another");
    ask("free that memory", cudaFreeAsync(p, s));
    ask("destroy null", cudaMemPoolDestroy(NULL));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(ipc, 1)
{
    char *d, *managed, *pinned, *async;
    void *opened;
    cudaIpcMemHandle_t memory, zero = { { 0 } };
    cudaIpcEventHandle_t event, nothing_there = { { 0 } };
    cudaEvent_t plain, shared, got;
    DO(cudaMalloc((void **)&d, BYTES));
    DO(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
    DO(cudaMallocHost((void **)&pinned, BYTES));
    DO(cudaMallocAsync((void **)&async, BYTES, 0));
    DO(cudaEventCreate(&plain));
    DO(cudaEventCreateWithFlags(&shared, cudaEventInterprocess | cudaEventDisableTiming));
    ask("device memory", cudaIpcGetMemHandle(&memory, d));
    ask("inside of it", cudaIpcGetMemHandle(&memory, d + 16));
    ask("to nowhere", cudaIpcGetMemHandle(NULL, d));
    ask("null", cudaIpcGetMemHandle(&memory, NULL));
    ask("managed memory", cudaIpcGetMemHandle(&memory, managed));
    ask("pinned memory", cudaIpcGetMemHandle(&memory, pinned));
    ask("malloc's memory", cudaIpcGetMemHandle(&memory, host));
    ask("memory of a pool", cudaIpcGetMemHandle(&memory, async));
    DO(cudaIpcGetMemHandle(&memory, d));
    ask("open in the same process",
        cudaIpcOpenMemHandle(&opened, memory, cudaIpcMemLazyEnablePeerAccess));
    ask("open without the flag", cudaIpcOpenMemHandle(&opened, memory, 0));
    ask("open zeros", cudaIpcOpenMemHandle(&opened, zero, cudaIpcMemLazyEnablePeerAccess));
    ask("close what was not opened", cudaIpcCloseMemHandle(d));
    ask("close null", cudaIpcCloseMemHandle(NULL));
    ask("an event", cudaIpcGetEventHandle(&event, shared));
    ask("an event that is not shared", cudaIpcGetEventHandle(&event, plain));
    ask("no event", cudaIpcGetEventHandle(&event, NULL));
    ask("open zeros as an event", cudaIpcOpenEventHandle(&got, nothing_there));
    DO(cudaIpcGetEventHandle(&event, shared));
    ask("open the event in the same process", cudaIpcOpenEventHandle(&got, event));
}
