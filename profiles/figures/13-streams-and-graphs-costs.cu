// Measures what lesson 13 says that things cost: what the host spends on a call, what a graph saves and what making it
// takes, a journey over the bus without copies. On a machine with a GPU, from the repository's root:
//
//     nvcc -std=c++17 -O3 -arch=native -Igrader/lessons -o build/measure profiles/figures/13-streams-and-graphs-costs.cu
//     build/measure >profiles/figures/13-streams-and-graphs-costs.txt
//
// Each line it writes has what was measured and its microseconds, the median of nine times.
static int version;
#define VERSION version
#include "../../solutions/13-streams-and-graphs.cu"

#include <chrono>
#include <cooperative_groups.h>
#include <time.h>

enum { CELLS = 4096, STEPS = 1000, CALLS = 200, MILLION = 1000003, MOST = 1 << 22 };
enum { WORDS_OF_TABLES = 8 * TABLE };   // for a million numbers in the smallest chunks

static unsigned *out, *in, *tables, *room;
static float *cells[3];

static double microseconds()
{
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The middle one of nine times that a function returns.
template <typename Time>
static double median(Time time)
{
    double times[9];
    for (int t = 0; t < 9; t++) {
        double took = time();
        int at = t;
        for (; at > 0 && times[at - 1] > took; at--)
            times[at] = times[at - 1];
        times[at] = took;
    }
    return times[4];
}

static void says(const char *what, double took)
{
    printf("%s\t%.4g\n", what, took);
    fflush(stdout);
}

// Work and the wait for it.
template <typename Work>
static double whole(Work work)
{
    return median([=] {
        CHECK(cudaDeviceSynchronize());
        double began = microseconds();
        work();
        CHECK(cudaDeviceSynchronize());
        return microseconds() - began;
    });
}

// What a call costs the host, one behind the other.
template <typename Call>
static double issued(Call call)
{
    return median([=] {
        CHECK(cudaDeviceSynchronize());
        double began = microseconds();
        for (int c = 0; c < CALLS; c++)
            call();
        return (microseconds() - began) / CALLS;
    });
}

// ---- The host's calls

static void of_calls()
{
    cudaEvent_t timing, quick;
    CHECK(cudaEventCreate(&timing));
    CHECK(cudaEventCreateWithFlags(&quick, cudaEventDisableTiming));
    says("the host: launch a kernel", issued([] { step(cells[0], cells[1], CELLS, stream[0]); }));
    says("the host: record an event", issued([=] { CHECK(cudaEventRecord(timing, stream[0])); }));
    says("the host: record an event that keeps no time", issued([=] { CHECK(cudaEventRecord(quick, stream[0])); }));

    double pinned = median([] {
        void *p;
        double began = microseconds();
        CHECK(cudaMallocHost(&p, MOST * 32));
        double took = microseconds() - began;
        CHECK(cudaFreeHost(p));
        return took;
    });
    says("the host: pin 134,217,728 bytes", pinned);
}

// ---- Graphs

static cudaGraph_t captured(int size)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal));
    for (int s = 0; s < size; s++)
        step(cells[(s + 1) % 2], cells[s % 2], CELLS, stream[0]);
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    return graph;
}

static cudaGraphExec_t instantiated(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void launch_all(cudaGraphExec_t exec, int size)
{
    for (int s = 0; s < STEPS; s += size)
        CHECK(cudaGraphLaunch(exec, stream[0]));
}

static void of_a_graph(int size)
{
    enum { CAPTURE, INSTANTIATE, UPDATE, DESTROY, PARTS };
    static const char *const part[] = {"capture", "instantiate", "update", "destroy"};
    for (int p = 0; p < PARTS; p++) {
        double took = median([=] {
            double at[PARTS + 1];
            at[CAPTURE] = microseconds();
            cudaGraph_t graph = captured(size);
            at[INSTANTIATE] = microseconds();
            cudaGraphExec_t exec = instantiated(graph);
            at[UPDATE] = microseconds();
            cudaGraphExecUpdateResultInfo info;
            CHECK(cudaGraphExecUpdate(exec, graph, &info));
            at[DESTROY] = microseconds();
            CHECK(cudaGraphDestroy(graph));
            CHECK(cudaGraphExecDestroy(exec));
            at[PARTS] = microseconds();
            return at[p + 1] - at[p];
        });
        printf("a graph of %d: %s it\t%.4g\n", size, part[p], took);
    }
}

static void of_steps()
{
    version = 4;
    says("a step of 1,000: a launch for each", whole([] { diffuse(cells[0], cells[1], cells[2], CELLS, STEPS); }) / STEPS);
    version = 5;
    says("a step of 1,000: version 5", whole([] { diffuse(cells[0], cells[1], cells[2], CELLS, STEPS); }) / STEPS);
    for (int size : {10, 20, 50, 100, 200, 1000}) {
        double in_call = whole([=] {
            cudaGraph_t graph = captured(size);
            cudaGraphExec_t exec = instantiated(graph);
            CHECK(cudaGraphDestroy(graph));
            launch_all(exec, size);
            CHECK(cudaGraphExecDestroy(exec));
        });
        cudaGraph_t graph = captured(size);
        cudaGraphExec_t exec = instantiated(graph);
        double before = whole([=] { launch_all(exec, size); });
        CHECK(cudaGraphDestroy(graph));
        CHECK(cudaGraphExecDestroy(exec));
        printf("a step of 1,000: graphs of %d, made in the call\t%.4g\n", size, in_call / STEPS);
        printf("a step of 1,000: graphs of %d, made before\t%.4g\n", size, before / STEPS);
    }
}

__global__ void all_steps(float *to, float *from, int steps)
{
    auto grid = cooperative_groups::this_grid();
    int i = blockIdx.x * THREADS + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        to[i] = 0.25f * from[i > 0 ? i - 1 : CELLS - 1] + 0.5f * from[i] + 0.25f * from[i + 1 < CELLS ? i + 1 : 0];
        float *old = from;
        from = to;
        to = old;
        grid.sync();
    }
}

static void of_one_launch()
{
    double took = whole([] {
        int steps = STEPS;
        void *arguments[] = {&cells[0], &cells[1], &steps};
        CHECK(cudaLaunchCooperativeKernel((void *)all_steps, CELLS / THREADS, THREADS, arguments, 0, stream[0]));
    });
    says("a step of 1,000: one launch, in which blocks wait for each other", took / STEPS);
}

// ---- Over the bus

// The device's time for rounds of a small copy in, a kernel and a small copy out, in one stream, all issued before the first
// begins: by turns, or each kind in a row.
static double rounds(bool in_turns)
{
    enum { ROUNDS_OF = 50, WORDS = 256 };
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    double took = median([=] {
        float milliseconds;
        for (int k = 0; k < 20; k++)        // keeps the device busy while the rest is issued
            stretch_kernel<<<blocks_for(MOST), THREADS, 0, stream[0]>>>(room, room + MOST, MOST);
        CHECK(cudaEventRecord(start, stream[0]));
        for (int r = 0; r < 3 * ROUNDS_OF; r++) {
            int kind = in_turns ? r % 3 : r / ROUNDS_OF;
            if (kind == 0)
                CHECK(cudaMemcpyAsync(room, in, 4 * WORDS, cudaMemcpyHostToDevice, stream[0]));
            else if (kind == 1)
                stretch_kernel<<<blocks_for(WORDS), THREADS, 0, stream[0]>>>(room, room + MOST, WORDS);
            else
                CHECK(cudaMemcpyAsync(out, room, 4 * WORDS, cudaMemcpyDeviceToHost, stream[0]));
        }
        CHECK(cudaEventRecord(stop, stream[0]));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
        return milliseconds * 1e3;
    });
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return took / ROUNDS_OF;
}

// stretch without copies of the numbers: the kernel follows the host's pointers.
__global__ void stretch_mapped(unsigned *out, const unsigned *in, const unsigned *table, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = in[i], h = x ^ table[x % TABLE];
    for (int round = 0; round < ROUNDS; round++)
        h = mix(h);
    out[i] = h;
}

static double mapped(int n)
{
    return whole([=] {
        CHECK(cudaMemcpyAsync(room, tables, TABLE * sizeof *room, cudaMemcpyHostToDevice, stream[0]));
        stretch_mapped<<<blocks_for(n), THREADS, 0, stream[0]>>>(out, in, room, n);
        CHECK(cudaGetLastError());
    });
}

static void of_the_bus()
{
    says("a small copy in, a kernel, a small copy out: 50 of each in a row", rounds(false));
    says("a small copy in, a kernel, a small copy out: by turns", rounds(true));
    for (int v : {1, 4, 6})
        for (int chunk = 1 << 15; chunk <= 1 << 19; chunk *= 2) {
            version = v;
            double took = whole([=] { stretch(out, in, MILLION, chunk, tables, room); });
            printf("1,000,003 numbers: version %d, chunks of %d\t%.4g\n", v, chunk, took);
        }
    says("1,000,003 numbers: no copies", mapped(MILLION));
    says("33,554,432 numbers: no copies", mapped(8 * MOST));
}

int main(void)
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    char day[20];
    time_t now = time(NULL);
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));

    CHECK(cudaMallocHost(&in, 8 * MOST * sizeof *in));
    CHECK(cudaMallocHost(&out, 8 * MOST * sizeof *out));
    CHECK(cudaMallocHost(&tables, WORDS_OF_TABLES * sizeof *tables));
    CHECK(cudaMalloc(&room, (2 * TABLE + MOST) * sizeof *room));
    CHECK(cudaMemset(room, 1, (2 * TABLE + MOST) * sizeof *room));
    for (int i = 0; i < 8 * MOST; i++)
        in[i] = 2654435761u * i;
    for (int i = 0; i < WORDS_OF_TABLES; i++)
        tables[i] = 2246822519u * i;
    for (float *&c : cells) {
        CHECK(cudaMalloc(&c, CELLS * sizeof *c));
        CHECK(cudaMemset(c, 0, CELLS * sizeof *c));
    }
    set_up();
    for (int k = 0; k < 1000; k++)          // until the clocks have risen
        stretch_kernel<<<blocks_for(MOST), THREADS, 0, stream[0]>>>(room, room + MOST, MOST);

    printf("# Written by profiles/figures/13-streams-and-graphs-costs.cu on %s, on an %s\n", day, device.name);
    printf("# what, microseconds\n");
    of_calls();
    of_a_graph(20);
    of_a_graph(100);
    of_steps();
    of_one_launch();
    of_the_bus();
}
