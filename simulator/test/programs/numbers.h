// What the programs that compute something share: vectors on the device and back, numbers from a seed, and comparing
// with a reference in double.
#pragma once
#include <math.h>

#include <vector>

#include "check.h"

template <typename T> T *on_device(const std::vector<T> &from)
{
    T *to;
    OK(cudaMalloc(&to, from.size() * sizeof(T)));
    OK(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

template <typename T> T *room_for(size_t count)
{
    T *room;
    OK(cudaMalloc(&room, count * sizeof(T)));
    return room;
}

template <typename T> std::vector<T> from_device(const T *from, size_t count)
{
    std::vector<T> to(count);
    OK(cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
}

// The same for every run: whole numbers from 0 up to below `below`, and real ones from -1 to 1.
inline unsigned next_number(unsigned *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

inline std::vector<int> whole_numbers(size_t count, unsigned seed, int below)
{
    std::vector<int> v(count);
    for (int &x : v) x = (int)(next_number(&seed) % (unsigned)below);
    return v;
}

template <typename T> std::vector<T> real_numbers(size_t count, unsigned seed)
{
    std::vector<T> v(count);
    for (T &x : v) x = (T)(next_number(&seed) / (double)(1 << 23) - 1);
    return v;
}

// `tolerance` is of the size of the expected number, or of 1 where that is larger.
template <typename T> void check_close(const std::vector<T> &got, const std::vector<double> &want, double tolerance)
{
    CHECK(got.size() == want.size());
    for (size_t k = 0; k < got.size(); k++) {
        double scale = fabs(want[k]) > 1 ? fabs(want[k]) : 1;
        if (fabs((double)got[k] - want[k]) <= tolerance * scale) continue;
        fprintf(stderr, "number %zu is %.9g and should be %.9g\n", k, (double)got[k], want[k]);
        exit(99);
    }
}

template <typename... T> void free_all(T *...memory)
{
    int expand[] = { (cudaFree(memory) == cudaSuccess ? 0 : (exit(99), 1))... };
    (void)expand;
}
