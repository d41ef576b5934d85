// Measures what lesson 29 draws: how long an all-reduce of 1,024 floats takes over the number of devices, with flags and with
// letters, launched by one thread of the host and by a thread for each device. On a machine with several GPUs, from the
// repository's root:
//
//     nvcc -std=c++17 -O2 -arch=native -Igrader/lessons -o build/measure profiles/figures/29-all-reduce.cu
//     build/measure >profiles/figures/29-all-reduce.txt
//
// Each line it writes has a series, the devices, and the microseconds of a call: the slope between 2,000 calls in a row and
// 4,000, median of 15.
#include "../../solutions/29-all-reduce.cu"

#include <algorithm>
#include <time.h>

enum { N = 1024, CALLS = 2000, RUNS = 15 };

static float *out[MOST], *in[MOST];

// The calls that are made here have numbers far from those of the versions' own.
static unsigned number = 1u << 30;

// Version 5, and version 6, as they are.
static void flags_by_one(int devices)
{
    Arrays to, from;
    std::copy(out, out + MOST, to.of);
    std::copy(in, in + MOST, from.of);
    one_launch(to, from, N, devices);
}

static void letters_by_all(int devices) { one_way(out, in, N, devices); }

// The letters of version 6, launched as in version 5. A call of version 6 has made the boxes.
static void letters_by_one(int devices)
{
    now = {out, in, N, devices, ++number};
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(launch_letters(d));
    }
}

// The flags of version 5, launched as in version 6.
static cudaError_t launch_flags(int d)
{
    Arrays to, from;
    std::copy(out, out + MOST, to.of);
    std::copy(in, in + MOST, from.of);
    add_for_all_flags<<<blocks_for(N / 4 / now.devices + 1), THREADS>>>(to, from, N, d, now.devices, flags, number);
    return cudaGetLastError();
}

static void flags_by_all(int devices)
{
    now.devices = devices;
    number++;
    side_by_side(launch_flags, devices);
}

static double seconds()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void wait_for_devices(int devices)
{
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
}

static double time_calls(void (*way)(int), int devices, int calls)
{
    wait_for_devices(devices);
    double start = seconds();
    for (int c = 0; c < calls; c++)
        way(devices);
    wait_for_devices(devices);
    return seconds() - start;
}

// Every device's sums, once a way is through with its calls.
static void look(const char *name, int devices)
{
    static float sums[N];
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemcpy(sums, out[d], sizeof sums, cudaMemcpyDeviceToHost));
        CHECK(cudaMemset(out[d], 0xff, sizeof sums));
        for (int i = 0; i < N; i++)
            if (sums[i] != devices * (float)i + devices * (devices - 1) / 2) {
                fprintf(stderr, "%s: out[%d][%d] is %g\n", name, d, i, sums[i]);
                exit(EXIT_FAILURE);
            }
    }
}

int main()
{
    static const struct { const char *name; void (*way)(int); } ways[] = {
        {"flags, one thread", flags_by_one},
        {"letters, one thread", letters_by_one},
        {"flags, a thread each", flags_by_all},
        {"letters, a thread each", letters_by_all},
    };
    static double us[4][MOST + 1][RUNS];
    int most;

    set_up();
    CHECK(cudaGetDeviceCount(&most));
    most = std::min(most, (int)MOST);
    for (int d = 0; d < most; d++) {
        float mine[N];
        for (int i = 0; i < N; i++)
            mine[i] = i + d;
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&in[d], sizeof mine));
        CHECK(cudaMalloc(&out[d], sizeof mine));
        CHECK(cudaMemcpy(in[d], mine, sizeof mine, cudaMemcpyHostToDevice));
    }
    for (int devices = 1; devices <= most; devices++) {
        letters_by_all(devices);    // makes the boxes and starts the helpers
        for (int run = 0; run < RUNS; run++)
            for (int w = 0; w < 4; w++) {
                time_calls(ways[w].way, devices, 10);
                double few = time_calls(ways[w].way, devices, CALLS), many = time_calls(ways[w].way, devices, 2 * CALLS);
                us[w][devices][run] = (many - few) / CALLS * 1e6;
                if (run == 0)
                    look(ways[w].name, devices);
            }
    }

    printf("# series, devices, us a call\n");
    for (int w = 0; w < 4; w++)
        for (int devices = 1; devices <= most; devices++) {
            double *t = us[w][devices];
            std::sort(t, t + RUNS);
            printf("%s\t%d\t%.2f\n", ways[w].name, devices, t[RUNS / 2]);
            fprintf(stderr, "%s, %d devices: %.2f to %.2f\n", ways[w].name, devices, t[0], t[RUNS - 1]);
        }
}
