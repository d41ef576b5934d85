// expect: exit 0
// Thrust's sort and reduce, through the toolkit's headers.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
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
    }
}
