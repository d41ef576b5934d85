// expect: exit 0
// CUB's device-wide algorithms, through the toolkit's headers: small sizes, odd ones, and more than a tile.
#include <cub/cub.cuh>

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"

static const int sizes[] = { 1, 31, 1000, 12345 };

static std::vector<int> numbers(int count, int below)
{
    std::vector<int> v(count);
    unsigned state = 12345 + count;
    for (int &x : v) x = (int)((state = state * 1664525u + 1013904223u) >> 8) % below;
    return v;
}

template <typename T> struct Device {
    T *at;
    size_t count;
    explicit Device(size_t n) : count(n) { OK(cudaMalloc(&at, n * sizeof(T))); }
    explicit Device(const std::vector<T> &from) : Device(from.size())
    {
        OK(cudaMemcpy(at, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    Device(const Device &) = delete;
    ~Device() { OK(cudaFree(at)); }
    std::vector<T> get(size_t n)
    {
        std::vector<T> to(n);
        OK(cudaMemcpy(to.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
};

// Calls an algorithm twice, as CUB wants it: once for the size of its temporary storage, once to do it.
#define RUN(algorithm, ...)                                                 \
    do {                                                                    \
        size_t bytes = 0;                                                   \
        OK(algorithm(nullptr, bytes, __VA_ARGS__));                         \
        Device<char> storage(bytes);                                        \
        OK(algorithm(storage.at, bytes, __VA_ARGS__));                      \
        OK(cudaDeviceSynchronize());                                        \
    } while (0)

static void reduce(const std::vector<int> &v)
{
    int n = (int)v.size();
    Device<int> in(v), out(1);
    RUN(cub::DeviceReduce::Sum, in.at, out.at, n);
    CHECK(out.get(1)[0] == std::accumulate(v.begin(), v.end(), 0));
    RUN(cub::DeviceReduce::Max, in.at, out.at, n);
    CHECK(out.get(1)[0] == *std::max_element(v.begin(), v.end()));
}

static void scan(const std::vector<int> &v)
{
    int n = (int)v.size();
    Device<int> in(v), out(n);
    std::vector<int> want(n);
    RUN(cub::DeviceScan::ExclusiveSum, in.at, out.at, n);
    std::exclusive_scan(v.begin(), v.end(), want.begin(), 0);
    CHECK(out.get(n) == want);
    RUN(cub::DeviceScan::InclusiveSum, in.at, out.at, n);
    std::inclusive_scan(v.begin(), v.end(), want.begin());
    CHECK(out.get(n) == want);
}

static void sort(const std::vector<int> &v)
{
    int n = (int)v.size();
    std::vector<int> places(n), want(n);
    std::iota(places.begin(), places.end(), 0);
    Device<int> keys(v), values(places), sorted(n), moved(n);
    RUN(cub::DeviceRadixSort::SortPairs, keys.at, sorted.at, values.at, moved.at, n);
    std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return v[a] < v[b]; });
    for (int k = 0; k < n; k++) want[k] = v[places[k]];
    CHECK(sorted.get(n) == want);
    CHECK(moved.get(n) == places);
}

static void histogram(const std::vector<int> &v)
{
    enum { BINS = 64 };
    int n = (int)v.size();
    std::vector<int> want(BINS);
    for (int x : v)
        if (x < 2 * BINS) want[x / 2]++;
    Device<int> in(v), out(BINS);
    RUN(cub::DeviceHistogram::HistogramEven, in.at, out.at, BINS + 1, 0, 2 * BINS, n);
    CHECK(out.get(BINS) == want);
}

struct IsOdd { __host__ __device__ bool operator()(int x) const { return x % 2; } };

static void select(const std::vector<int> &v)
{
    int n = (int)v.size();
    std::vector<int> want;
    std::copy_if(v.begin(), v.end(), std::back_inserter(want), IsOdd());
    Device<int> in(v), out(n), count(1);
    RUN(cub::DeviceSelect::If, in.at, out.at, count.at, n, IsOdd());
    CHECK(count.get(1)[0] == (int)want.size());
    CHECK(out.get(want.size()) == want);
}

static void run_lengths(std::vector<int> v)
{
    int n = (int)v.size();
    std::vector<int> values, lengths;
    for (int &x : v) x = x / 40 % 4;
    for (int k = 0; k < n; k++) {
        if (!k || v[k] != v[k - 1]) values.push_back(v[k]), lengths.push_back(0);
        lengths.back()++;
    }
    Device<int> in(v), out(n), long_(n), count(1);
    RUN(cub::DeviceRunLengthEncode::Encode, in.at, out.at, long_.at, count.at, n);
    CHECK(count.get(1)[0] == (int)values.size());
    CHECK(out.get(values.size()) == values);
    CHECK(long_.get(lengths.size()) == lengths);
}

int main()
{
    for (int size : sizes) {
        std::vector<int> v = numbers(size, 200);
        reduce(v);
        scan(v);
        sort(v);
        histogram(v);
        select(v);
        run_lengths(v);
    }
}
