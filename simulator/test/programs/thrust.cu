// expect: exit 0
// run: --shuffle 1
// Thrust's sort and reduce, through the toolkit's headers; and its scan, which is CUB's, and its union, which wait for the block
// of the next lower blockIdx: shuffled, their blocks begin by number still. And its intersection, which compares what lies
// behind a tile, where nothing was written, and drops the outcome.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"

struct Later { __host__ __device__ bool operator()(double a, double b) const { return a > b; } };

int main()
{
    for (int size : { 1, 100, 10000 }) {
        std::vector<int> keys(size);
        std::vector<double> numbers(size);
        unsigned state = 99;
        for (int k = 0; k < size; k++) {
            keys[k] = (int)((state = state * 1664525u + 1013904223u) >> 4) - (1 << 27);
            numbers[k] = keys[k] % 1000 / 8.0;
        }
        thrust::device_vector<int> d(keys.begin(), keys.end());
        thrust::device_vector<double> x(numbers.begin(), numbers.end());
        CHECK(thrust::reduce(x.begin(), x.end(), 0.0, thrust::plus<double>())
              == std::accumulate(numbers.begin(), numbers.end(), 0.0));
        thrust::sort(d.begin(), d.end());
        thrust::sort(x.begin(), x.end(), Later());
        std::sort(keys.begin(), keys.end());
        std::sort(numbers.begin(), numbers.end(), Later());
        std::vector<int> got(size);
        thrust::copy(d.begin(), d.end(), got.begin());
        CHECK(got == keys);
        std::vector<double> sorted(size);
        thrust::copy(x.begin(), x.end(), sorted.begin());
        CHECK(sorted == numbers);
        thrust::inclusive_scan(x.begin(), x.end(), x.begin());
        std::partial_sum(numbers.begin(), numbers.end(), numbers.begin());
        thrust::copy(x.begin(), x.end(), sorted.begin());
        CHECK(sorted == numbers);
        std::vector<int> united, odd(keys);
        for (int &key : odd) key |= 1;
        std::set_union(keys.begin(), keys.end(), odd.begin(), odd.end(), std::back_inserter(united));
        thrust::device_vector<int> e(odd.begin(), odd.end()), both(2 * size);
        both.resize(thrust::set_union(d.begin(), d.end(), e.begin(), e.end(), both.begin()) - both.begin());
        got.resize(both.size());
        thrust::copy(both.begin(), both.end(), got.begin());
        CHECK(got == united);
        std::vector<int> common, often(size);
        for (int k = 0; k < size; k++) keys[k] >>= 22, often[k] = keys[k] | 1;
        std::set_intersection(keys.begin(), keys.end(), often.begin(), often.end(), std::back_inserter(common));
        thrust::copy(keys.begin(), keys.end(), d.begin());
        thrust::copy(often.begin(), often.end(), e.begin());
        both.resize(thrust::set_intersection(d.begin(), d.end(), e.begin(), e.end(), both.begin()) - both.begin());
        got.resize(both.size());
        thrust::copy(both.begin(), both.end(), got.begin());
        CHECK(got == common);
    }
}
