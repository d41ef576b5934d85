// What lesson 13 draws. Its solution at work, on a few chunks or a few steps, for 13-streams-and-graphs.sh:
//
//     PROGRAM stretch VERSION CHUNKS          so many chunks
//     PROGRAM diffuse VERSION STEPS
//
// and on a machine with a GPU, from the repository's root, the bytes a second that go there and as many back, over the bytes of
// a chunk:
//
//     nvcc -std=c++17 -O3 -arch=native -Igrader/lessons -o build/measure profiles/figures/13-streams-and-graphs.cu
//     build/measure chunks >profiles/figures/13-streams-and-graphs-chunks.txt
static int version;
#define VERSION version
#include "../../solutions/13-streams-and-graphs.cu"

#include <algorithm>
#include <chrono>
#include <string.h>
#include <time.h>

enum { CHUNK = 3 << 15, CELLS = 1 << 16 };

static unsigned *out, *in, *tables, *room;

// For n numbers in chunks of `chunk` or more.
static void allocate(int n, int chunk, int most)
{
    int words = TABLE * ((n + SERVES * chunk - 1) / (SERVES * chunk));
    CHECK(cudaMallocHost(&in, n * sizeof *in));
    CHECK(cudaMallocHost(&out, n * sizeof *out));
    CHECK(cudaMallocHost(&tables, words * sizeof *tables));
    CHECK(cudaMalloc(&room, (3 * most + 2 * TABLE) * sizeof *room));
    for (int i = 0; i < n; i++)
        in[i] = 2654435761u * i;
    for (int i = 0; i < words; i++)
        tables[i] = 2246822519u * i;
}

static void let_go()
{
    CHECK(cudaFree(room));
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    CHECK(cudaFreeHost(tables));
}

static void stretches(int chunks)
{
    int n = chunks * CHUNK;
    allocate(n, CHUNK, CHUNK);
    stretch(out, in, n, CHUNK, tables, room);
    let_go();
}

static void diffuses(int steps)
{
    float *cells[3];
    for (int c = 0; c < 3; c++) {
        CHECK(cudaMalloc(&cells[c], CELLS * sizeof *cells[c]));
        CHECK(cudaMemset(cells[c], 0, CELLS * sizeof *cells[c]));
    }
    diffuse(cells[0], cells[1], cells[2], CELLS, steps);
    CHECK(cudaDeviceSynchronize());
    for (int c = 0; c < 3; c++)
        CHECK(cudaFree(cells[c]));
}

// ---- On a GPU, by the clock

static double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The median of nine calls, behind one that warms up.
template <typename Call>
static double timed(Call call)
{
    double times[9];
    call();
    for (int t = 0; t < 9; t++) {
        double began = seconds();
        call();
        double took = seconds() - began;
        int at = t;
        for (; at > 0 && times[at - 1] > took; at--)
            times[at] = times[at - 1];
        times[at] = took;
    }
    return times[4];
}

// From the host to the GPU and back, nothing else, both ways at once, in pieces of PIECE words: one's way back begins when
// its way there has ended, while the next is on its way there.
static void there_and_back(int n)
{
    enum { PIECE = 1 << 20, PIECES = 3 };
    static cudaStream_t stream[PIECES];
    for (int p = 0; p < PIECES && !stream[p]; p++)
        CHECK(cudaStreamCreate(&stream[p]));

    for (int first = 0; first < n; first += PIECE) {
        int p = first / PIECE % PIECES;
        size_t bytes = std::min(n - first, (int)PIECE) * sizeof *in;
        CHECK(cudaMemcpyAsync(room + p * PIECE, in + first, bytes, cudaMemcpyHostToDevice, stream[p]));
        CHECK(cudaMemcpyAsync(out + first, room + p * PIECE, bytes, cudaMemcpyDeviceToHost, stream[p]));
    }
    CHECK(cudaDeviceSynchronize());
}

static void chunks()
{
    static const struct { int version; const char *name; } series[] = {
        {6, "a stream for each engine"}, {4, "three streams"}, {2, "one stream"}, {1, "in turn"},
    };
    enum { N = 1 << 25, LEAST = 1 << 14, MOST = 1 << 22 };
    double bytes = 4.0 * N;
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    char day[20];
    time_t now = time(NULL);
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
    allocate(N, LEAST, MOST);
    printf("# Written by profiles/figures/13-streams-and-graphs.cu on %s, on an %s\n", day, device.name);
    printf("# There and back at once, with no kernel between: %.4g GB/s each way\n",
           1e-9 * bytes / timed([] { there_and_back(N); }));
    printf("# series, KiB of a chunk, GB/s each way\n");
    for (auto s : series)
        for (int chunk = LEAST; chunk <= MOST; chunk *= 2) {
            version = s.version;
            double took = timed([=] { stretch(out, in, N, chunk, tables, room); });
            printf("%s\t%d\t%.4g\n", s.name, chunk / 256, 1e-9 * bytes / took);
            fflush(stdout);
        }
    let_go();
}

int main(int argc, char **argv)
{
    version = argc > 2 ? atoi(argv[2]) : 0;
    if (argc == 4 && strcmp(argv[1], "stretch") == 0)
        stretches(atoi(argv[3]));
    else if (argc == 4 && strcmp(argv[1], "diffuse") == 0)
        diffuses(atoi(argv[3]));
    else if (argc == 2 && strcmp(argv[1], "chunks") == 0)
        chunks();
    else
        return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
