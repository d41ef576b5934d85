// expect: SUSPECT
// says: went to the host in the call
// A kernel takes as long as the next byte says. The host asks for the times between events, counts, and the parameters of a kernel
// bring the counts. (Many bytes are counted as they should be.)
#include "10-histogram.h"

enum { BINS = 256, FEW = 4096, MANY = 8000, AT_ONCE = 1024, TURNS = 4 };
struct Counts {
    int of[BINS];
};

__global__ void take_as_long(const unsigned char *in, int more)
{
    for (int i = -1; i < TURNS * (*in + more); i++)
        __nanosleep(1);
}

__global__ void put(int *bins, Counts counts) { bins[threadIdx.x] = counts.of[threadIdx.x]; }

__global__ void count(int *bins, const unsigned char *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1);
}

static cudaEvent_t event[AT_ONCE + 1];

static float time_of(int i)
{
    float ms = 0;
    cudaEventElapsedTime(&ms, event[i], event[i + 1]);
    return ms;
}

static void begin(const unsigned char *in)
{
    for (int i = 0; i <= AT_ONCE && !event[AT_ONCE]; i++)
        cudaEventCreate(&event[i]);
    take_as_long<<<1, 1>>>(in, 256); // so that the device is behind the host
    cudaEventRecord(event[0]);
}

static void take(int i, const unsigned char *in, int more)
{
    take_as_long<<<1, 1>>>(in, more);
    cudaEventRecord(event[i + 1]);
}

// What a turn and no turn take, for a byte of any value.
static void measure(const unsigned char *in, float *turn, float *none)
{
    begin(in);
    take(0, in, 0);
    take(1, in, 0);
    take(2, in, 256);
    cudaDeviceSynchronize();
    *turn = (time_of(2) - time_of(1)) / 256;
    *none = time_of(1);
}

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    Counts counts = { 0 };
    cudaMemsetAsync(bins, 0, sizeof counts);
    count<<<1024, 256>>>(bins, in, n);
    if (n < FEW || n > MANY)
        return;
    float turn, none; // of the first byte
    int least = 0, of[MANY];
    measure(in, &turn, &none);
    for (int from = 0; from < n; from += AT_ONCE) {
        int some = n - from < AT_ONCE ? n - from : AT_ONCE;
        begin(in);
        for (int i = 0; i < some; i++)
            take(i, in + from + i, 0);
        cudaDeviceSynchronize();
        for (int i = 0; i < some; i++) {
            of[from + i] = (int)((time_of(i) - none) / turn + 1000.5f) - 1000;
            least = of[from + i] < least ? of[from + i] : least;
        }
    }
    for (int i = 0; i < n; i++)
        counts.of[(of[i] - least) & 255]++;
    put<<<1, BINS>>>(bins, counts);
}
