// How a GPU's profile is measured: each room measures some figures and writes them, with how it was
// done.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

extern cudaDeviceProp device;
extern double clock_hz; // of the multiprocessors, under load

enum { LANES = 32, THREADS = 1024, ROUNDS = 9 };

// Writes a line of the profile: the figure, four digits of it, and how it came about.
void figure(const char *name, double value, const char *how);
void heading(const char *words);

template <typename T> T *allocate(size_t bytes)
{
    T *memory;
    OK(cudaMalloc(&memory, bytes));
    OK(cudaMemset(memory, 0, bytes));
    return memory;
}

inline double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// The median seconds that events see around launch(), after a first one that is not counted.
template <typename Launch> double seconds(Launch launch)
{
    cudaEvent_t start, stop;
    std::vector<double> times;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    for (int i = 0; i <= ROUNDS; i++) {
        float ms;
        OK(cudaEventRecord(start));
        launch();
        OK(cudaEventRecord(stop));
        OK(cudaGetLastError());
        OK(cudaEventSynchronize(stop));
        OK(cudaEventElapsedTime(&ms, start, stop));
        if (i) times.push_back(ms * 1e-3);
    }
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
    return median(times);
}

void measure_clock();    // sets clock_hz
void measure_memory();   // DRAM and the caches
void measure_pipes();    // arithmetic, shared memory, barriers
void measure_clusters(); // other blocks' shared memory
void measure_tensor();   // Tensor Cores
void measure_atomics();
void measure_host(); // launches, copies, managed memory
