// expect: exit 0
// A quarter of a circle, and an option's price, by random numbers of our own (SplitMix64), counted by ballots and summed in
// doubles; the host draws the same numbers.
#include "numbers.h"

enum { BLOCKS = 4, THREADS = 64, DRAWS = 50 };

__host__ __device__ inline unsigned long long draw(unsigned long long *state)
{
    unsigned long long z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

__host__ __device__ inline double uniform(unsigned long long *state) { return ((draw(state) >> 11) + 0.5) * 0x1p-53; }

__global__ void quarter(unsigned *inside)
{
    unsigned long long state = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned count = 0;
    for (int k = 0; k < DRAWS; k++) {
        double x = uniform(&state), y = uniform(&state);
        count += __popc(__ballot_sync(~0u, x * x + y * y < 1));
    }
    if (threadIdx.x % 32 == 0) atomicAdd(inside, count);
}

// Box and Muller's normal numbers, of which only one is used.
__host__ __device__ inline double payoff(unsigned long long *state)
{
    double u = uniform(state), v = uniform(state);
    double price = 100 * exp(0.2 * sqrt(-2 * log(u)) * cos(6.283185307179586 * v) - 0.02);
    return price > 105 ? price - 105 : 0;
}

__global__ void option(double *sums)
{
    unsigned long long state = 1000 + blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < DRAWS; k++) sum += payoff(&state);
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main()
{
    unsigned *inside = on_device(std::vector<unsigned>(1)), want = 0;
    std::vector<double> sums(BLOCKS * THREADS);
    for (int t = 0; t < BLOCKS * THREADS; t++) {
        unsigned long long state = t;
        for (int k = 0; k < DRAWS; k++) {
            double x = uniform(&state), y = uniform(&state);
            want += x * x + y * y < 1;
        }
        state = 1000 + t;
        for (int k = 0; k < DRAWS; k++) sums[t] += payoff(&state);
    }
    quarter<<<BLOCKS, THREADS>>>(inside);
    CHECK(from_device(inside, 1)[0] == want);
    CHECK(fabs(4.0 * want / (BLOCKS * THREADS * DRAWS) - M_PI) < 0.05);
    double *out = room_for<double>(sums.size());
    option<<<BLOCKS, THREADS>>>(out);
    check_close(from_device(out, sums.size()), sums, 1e-11);
    free_all(inside, out);
}
