// expect: exit 0
// Run-length encoding and back: heads of runs are marked and numbered by a scan in one block; decoding finds its run by
// halving.
#include "numbers.h"

enum { BLOCK = 512, N = 2000, EACH = (N + BLOCK - 1) / BLOCK };

__device__ bool is_head(const int *in, int i) { return i == 0 || in[i] != in[i - 1]; }

__global__ void encode(int *values, int *starts, int *runs, const int *in, int n)
{
    __shared__ int before[BLOCK];
    int t = threadIdx.x, first = t * EACH, count = 0;
    for (int i = first; i < min(first + EACH, n); i++) count += is_head(in, i);
    before[t] = count;
    for (int step = 1; step < BLOCK; step *= 2) {
        __syncthreads();
        int left = t >= step ? before[t - step] : 0;
        __syncthreads();
        before[t] += left;
    }
    int at = before[t] - count;
    for (int i = first; i < min(first + EACH, n); i++)
        if (is_head(in, i)) values[at] = in[i], starts[at++] = i;
    if (t == BLOCK - 1) *runs = at;
}

__global__ void decode(int *out, const int *values, const int *starts, const int *runs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int low = 0, high = *runs;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (starts[middle] <= i) low = middle;
        else high = middle;
    }
    out[i] = values[low];
}

int main()
{
    std::vector<int> host(N), values, starts;
    unsigned seed = 181;
    for (int i = 0; i < N; i++) host[i] = i && next_number(&seed) % 5 ? host[i - 1] : (int)(next_number(&seed) % 9);
    for (int i = 0; i < N; i++)
        if (!i || host[i] != host[i - 1]) values.push_back(host[i]), starts.push_back(i);
    int *in = on_device(host), *v = room_for<int>(N), *s = room_for<int>(N), *runs = room_for<int>(1), *out = room_for<int>(N);
    encode<<<1, BLOCK>>>(v, s, runs, in, N);
    CHECK(from_device(runs, 1)[0] == (int)values.size());
    CHECK(from_device(v, values.size()) == values);
    CHECK(from_device(s, starts.size()) == starts);
    decode<<<(N + 127) / 128, 128>>>(out, v, s, runs, N);
    CHECK(from_device(out, N) == host);
    free_all(in, v, s, runs, out);
}
