// expect: SUSPECT
// says: went to the host in the call
// A kernel sets the conditions of graphs to the bytes, four in each. The host asks for their values in requests of its own making,
// counts, and the parameters of a kernel bring the counts. (Many bytes are counted as they should be.)
#include "10-histogram.h"
#include "../../simulator/wire/wire.h"

#include <stdlib.h>
#include <sys/socket.h>

enum { BINS = 256, WORDS = 1 << 14 };
struct Counts {
    int of[BINS];
};

__global__ void tell(const unsigned char *in, int n, unsigned long long first)
{
    int at = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    unsigned word = 0;
    for (int i = 0; i < 4 && at + i < n; i++)
        word |= in[at + i] << 8 * i;
    if (at < n)
        cudaGraphSetConditional(first + at / 4, word);
}

__global__ void put(int *bins, Counts counts) { bins[threadIdx.x] = counts.of[threadIdx.x]; }

__global__ void count(int *bins, const unsigned char *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1);
}

static uint64_t ask(enum wire_condition what, uint64_t id)
{
    int device = atoi(getenv(WIRE_ENVIRONMENT));
    WireRequest r = { WIRE_VERSION, WIRE_CONDITION, "cudaGraphLaunch" };
    WireReply reply = { 0 };
    r.condition.what = what;
    r.condition.id = id;
    send(device, &r, sizeof r, MSG_NOSIGNAL);
    recv(device, &reply, sizeof reply, 0);
    return reply.id;
}

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    static uint64_t first, last;
    Counts counts = { 0 };
    if (n > 4 * WORDS) {
        cudaMemsetAsync(bins, 0, sizeof counts);
        count<<<1024, 256>>>(bins, in, n);
        return;
    }
    if (!first)
        first = last = ask(WIRE_CONDITION_MAKE, 0);
    while (last < first + n / 4)
        last = ask(WIRE_CONDITION_MAKE, 0);
    if (n > 0)
        tell<<<n / 1024 + 1, 256>>>(in, n, first);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i += 4) {
        uint64_t word = ask(WIRE_CONDITION_READ, first + i / 4);
        for (int k = 0; k < 4 && i + k < n; k++)
            counts.of[word >> 8 * k & 0xff]++;
    }
    put<<<1, BINS>>>(bins, counts);
}
