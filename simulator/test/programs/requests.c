// expect: host-access 0, api 0, unsupported 0, invalid-free 0, bounds 0, exit 0
// Every request of the table is sent, with nothing in it, past the library: who gets a reply gets one, of the form that
// its row says, and what a kernel's failure leaves to be answered is what the rows say.
#include "check.h"
#include "../../wire/row.h"
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

static int device;

static void tell(const WireRequest *request, const void *tail, size_t bytes)
{
    char packet[sizeof *request + 256];
    memcpy(packet, request, sizeof *request);
    memcpy(packet + sizeof *request, tail, bytes);
    CHECK(send(device, packet, sizeof *request + bytes, 0) == (ssize_t)(sizeof *request + bytes));
}

// The bytes of the tail of the next reply.
static size_t hear(WireReply *reply)
{
    static char answer[1 << 16];
    ssize_t got = recv(device, answer, sizeof answer, 0);
    CHECK(got >= (ssize_t)sizeof *reply);
    memcpy(reply, answer, sizeof *reply);
    return (size_t)got - sizeof *reply;
}

static WireRequest request_of(uint32_t op)
{
    return (WireRequest){ .version = WIRE_VERSION, .op = op };
}

// Asks something whose answer is known: nothing else is under way then.
static void nothing_is_left(bool sticky)
{
    WireRequest request = request_of(WIRE_MEMORY_INFO);
    WireReply reply;
    tell(&request, NULL, 0);
    hear(&reply);
    CHECK(sticky ? reply.error != 0 : reply.error == 0 && reply.info.total > 0);
}

static void every_one(void)
{
    for (uint32_t op = 0; op < WIRE_OPERATION_COUNT; op++) {
        const WireRow *row = wire_row(op);
        WireRequest request = request_of(op);
        WireReply reply;
        tell(&request, "x\ny\nz", row->tail ? 5 : 0);
        if (!row->one_way) {
            size_t bytes = hear(&reply);
            CHECK(reply.version == WIRE_VERSION && bytes == reply.tail && (!bytes || row->reply_tail));
            CHECK(reply.error != WIRE_NOT_READY && reply.error != WIRE_DEADLOCKED);
        }
        nothing_is_left(false);
    }
}

// From then on each request gets the kernel's error.
static void fail(void)
{
    static const char ptx[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry f()\n{\n .reg .b64 %rd<2>;\n .reg .b32 %r<2>;\n"
                              " mov.b64 %rd1, 0;\n ld.global.b32 %r1, [%rd1];\n"
                              " st.global.b32 [%rd1], %r1;\n ret;\n}\n";
    WireRequest module = request_of(WIRE_MODULE), kernel = request_of(WIRE_KERNEL), launch = request_of(WIRE_LAUNCH);
    WireReply reply;
    memcpy((char *)WIRE_STAGING, ptx, sizeof ptx);
    module.module.chunk = (WireChunk){ .total = sizeof ptx - 1, .bytes = sizeof ptx - 1 };
    tell(&module, NULL, 0);
    hear(&reply);
    CHECK(!reply.error);
    kernel.name.module = reply.id;
    tell(&kernel, "f", 1);
    hear(&reply);
    CHECK(!reply.error);
    launch.launch.kernel = reply.kernel.id;
    for (int i = 0; i < 3; i++) launch.launch.grid[i] = launch.launch.block[i] = 1;
    tell(&launch, NULL, 0);
    hear(&reply);
    CHECK(!reply.error);
    nothing_is_left(true);
}

static void every_one_after_a_failure(void)
{
    int sticky = cudaErrorIllegalAddress;
    for (uint32_t op = 0; op < WIRE_OPERATION_COUNT; op++) {
        const WireRow *row = wire_row(op);
        WireRequest request = request_of(op);
        WireReply reply;
        if (row->one_way) continue;
        tell(&request, "x\ny\nz", row->tail ? 5 : 0);
        hear(&reply);
        if (row->sticky == WIRE_STICKY_FAILS) CHECK(reply.error == sticky);
        if (row->sticky == WIRE_STICKY_ANSWERED) CHECK(reply.error != sticky && reply.sticky == sticky);
        if (row->sticky == WIRE_STICKY_RESETS) {
            CHECK(reply.error == 0 && reply.sticky == cudaErrorDevicesUnavailable);
            sticky = reply.sticky;
        }
    }
    CHECK(sticky == cudaErrorDevicesUnavailable);
}

int main(void)
{
    CHECK(sscanf(getenv(WIRE_ENVIRONMENT), "%d", &device) == 1);
    OK(cudaFree(NULL));
    every_one();
    fail();
    every_one_after_a_failure();
    return 0;
}
