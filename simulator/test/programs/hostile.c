// expect: bounds 0, bounds 0, exit 0
// Requests that the library would never send, each one step from a good one: all are refused, and nothing moves.
#include "check.h"
#include "../../wire/wire.h"
#include <string.h>
#include <sys/socket.h>

static int device;

static int ask(const WireRequest *request, const void *tail, size_t bytes, WireReply *reply)
{
    char packet[sizeof *request + 256], answer[1 << 16];
    memcpy(packet, request, sizeof *request);
    memcpy(packet + sizeof *request, tail, bytes);
    CHECK(send(device, packet, sizeof *request + bytes, 0) == (ssize_t)(sizeof *request + bytes));
    CHECK(recv(device, answer, sizeof answer, 0) >= (ssize_t)sizeof *reply);
    memcpy(reply, answer, sizeof *reply);
    return reply->error;
}

static int error_of(const WireRequest *request)
{
    WireReply reply;
    return ask(request, NULL, 0, &reply);
}

static WireRequest copy_in(const void *p)
{
    WireRequest r = { .version = WIRE_VERSION, .op = WIRE_COPY_IN };
    r.copy.device = (WireBox){ (uintptr_t)p, 1000, 0 };
    r.copy.width = 1000;
    r.copy.rows = 2;
    r.copy.slices = 1;
    r.copy.chunk = (WireChunk){ .total = 2000, .bytes = 2000 };
    return r;
}

static void copies(const void *p)
{
    WireRequest good = copy_in(p), r;
    CHECK(error_of(&good) == 0);
#define REFUSED(change) (r = good, change, error_of(&r) != 0)
    CHECK(REFUSED(r.copy.chunk.slot = WIRE_SLOTS));
    CHECK(REFUSED(r.copy.chunk.offset = 1));
    CHECK(REFUSED(r.copy.chunk.offset = ~0ull));
    CHECK(REFUSED(r.copy.chunk.bytes = 2001));
    CHECK(REFUSED(r.copy.chunk.total = 4000));
    CHECK(REFUSED(r.copy.rows = 0));
    CHECK(REFUSED(r.copy.slices = 0));
    CHECK(REFUSED(r.copy.width = 0));
    CHECK(REFUSED((r.copy.width = 1ull << 63, r.copy.rows = 2)));
    CHECK(REFUSED(r.copy.device.pitch = 999));
    CHECK(REFUSED(r.copy.device.pitch = 1ull << 63));
    CHECK(REFUSED(r.copy.device.pitch = 1001));          // told of: past the end
    CHECK(REFUSED(r.copy.device.address = 0));           // told of: no allocation
    CHECK(REFUSED((r.copy.width = 3 << 20, r.copy.rows = 1, r.copy.chunk.total = 3 << 20,
                   r.copy.chunk.bytes = 2 << 20)));
    CHECK(REFUSED(r.version = WIRE_VERSION + 1));
    CHECK(REFUSED(r.op = WIRE_OPERATION_COUNT));
    CHECK(error_of(&good) == 0);
}

static void objects(void)
{
    const enum wire_op ops[] = { WIRE_MODULE_UNLOAD, WIRE_KERNEL, WIRE_KERNEL_NAME, WIRE_VARIABLE };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        WireRequest r = { .version = WIRE_VERSION, .op = ops[i], .object.id = ~0ull };
        CHECK(error_of(&r) == cudaErrorInvalidResourceHandle);
    }
    WireRequest launch = { .version = WIRE_VERSION, .op = WIRE_LAUNCH, .launch.kernel = 0x3000000 };
    CHECK(error_of(&launch) == cudaErrorInvalidResourceHandle);
    WireRequest record = { .version = WIRE_VERSION, .op = WIRE_EVENT_RECORD, .event.event = 0xffffff };
    CHECK(error_of(&record) == cudaErrorInvalidResourceHandle);
    WireRequest alloc = { .version = WIRE_VERSION, .op = WIRE_ALLOC, .alloc = { 100, 3 } };
    CHECK(error_of(&alloc) == cudaErrorInvalidValue);
}

// What host code has touched, as the library would never tell it, and pages that are none.
static void managed(void)
{
    int *p;
    OK(cudaMallocManaged((void **)&p, 8192, cudaMemAttachGlobal));
    uint32_t page = (uint32_t)(((uintptr_t)p - WIRE_SHARED) / WIRE_PAGE), none = WIRE_SHARED_SPAN / WIRE_PAGE;
    const WirePages pages[] = { { 0, 1 }, { page, 0 }, { page, 3 }, { page, ~0u }, { none - 1, 1 }, { none, ~0u },
                                { ~0u, ~0u }, { page, 2 } };
    WireRequest r = { .version = WIRE_VERSION, .op = WIRE_TOUCHED };
    char packet[sizeof r + sizeof pages];
    memcpy(packet, &r, sizeof r);
    memcpy(packet + sizeof r, pages, sizeof pages);
    CHECK(send(device, packet, sizeof packet, 0) == sizeof packet);
    CHECK(send(device, packet, sizeof packet - 3, 0) == sizeof packet - 3);
    OK(cudaFree(p));
    CHECK(send(device, packet, sizeof packet, 0) == sizeof packet);

    WireRequest alloc = { .version = WIRE_VERSION, .op = WIRE_ALLOC, .alloc = { 100, 256, 99 } };
    CHECK(error_of(&alloc) == cudaErrorInvalidValue);
    alloc.alloc.kind = WIRE_OF_BOTH;
    alloc.alloc.bytes = WIRE_SHARED_SPAN;
    CHECK(error_of(&alloc) == cudaErrorMemoryAllocation);
    WireRequest range = { .version = WIRE_VERSION, .op = WIRE_PREFETCH, .stream = 77 };
    CHECK(error_of(&range) == cudaErrorInvalidResourceHandle);
}

// A module in chunks that do not follow each other, then one whose launch brings too few parameters.
static void modules(void)
{
    static const char ptx[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry f(.param .u64 p, .param .u64 q)\n{\n ret;\n}\n";
    WireRequest r = { .version = WIRE_VERSION, .op = WIRE_MODULE };
    WireReply reply;
    char *slots = (char *)WIRE_STAGING;
    memcpy(slots, ptx, sizeof ptx);
    r.module.chunk = (WireChunk){ .total = 1 << 30, .bytes = 10 };
    CHECK(error_of(&r) == 0);
    r.module.chunk.offset = (1 << 30) - 10;
    CHECK(error_of(&r) != 0);
    r.module.chunk = (WireChunk){ .total = 1ull << 40, .bytes = 10 };
    CHECK(error_of(&r) != 0);
    r.module.chunk = (WireChunk){ .total = 5, .bytes = 10 };
    CHECK(error_of(&r) != 0);
    r.module.chunk = (WireChunk){ .total = sizeof ptx - 1, .bytes = sizeof ptx - 1 };
    CHECK(ask(&r, NULL, 0, &reply) == 0);

    WireRequest kernel = { .version = WIRE_VERSION, .op = WIRE_KERNEL, .name.module = reply.id };
    CHECK(ask(&kernel, "f", 1, &reply) == 0 && reply.kernel.bytes == 16);
    WireRequest launch = { .version = WIRE_VERSION, .op = WIRE_LAUNCH };
    launch.launch.kernel = reply.kernel.id;
    for (int i = 0; i < 3; i++)
        launch.launch.grid[i] = launch.launch.block[i] = 1;
    char parameters[32] = { 0 };
    CHECK(ask(&launch, parameters, 16, &reply) == 0);
    CHECK(ask(&launch, parameters, 15, &reply) == cudaErrorInvalidValue);
    CHECK(ask(&launch, parameters, 17, &reply) == cudaErrorInvalidValue);
    launch.launch.cluster[0] = launch.launch.cluster[1] = 1u << 16, launch.launch.cluster[2] = 1;
    CHECK(ask(&launch, parameters, 16, &reply) == cudaErrorInvalidClusterSize);
    launch.launch.cluster[0] = launch.launch.cluster[1] = 17, launch.launch.grid[0] = launch.launch.grid[1] = 17;
    launch.launch.cluster_limit = ~0u;
    CHECK(ask(&launch, parameters, 16, &reply) == cudaErrorInvalidClusterSize);
    launch.launch.cluster[0] = 0, launch.launch.grid[0] = launch.launch.grid[1] = 1;
    launch.launch.dynamic_shared = 1ull << 32;
    launch.launch.dynamic_limit = ~0ull;
    CHECK(ask(&launch, parameters, 16, &reply) == cudaErrorInvalidValue);
}

int main(void)
{
    void *p;
    CHECK(sscanf(getenv(WIRE_ENVIRONMENT), "%d", &device) == 1);
    OK(cudaMalloc(&p, 2000));
    copies(p);
    objects();
    managed();
    modules();
    OK(cudaFree(p));
    return 0;
}
