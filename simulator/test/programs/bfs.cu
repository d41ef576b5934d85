// expect: exit 0
// Distances in a graph: breadth first, a level for each launch, with the frontier as a queue that atomics fill, until a
// managed counter says that it is empty.
#include <deque>

#include "numbers.h"

__global__ void expand(int *distance, const int *first, const int *to, const int *frontier, int size, int *next, int *next_size,
                       int level)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int from = frontier[i];
    for (int e = first[from]; e < first[from + 1]; e++)
        if (atomicCAS(&distance[to[e]], -1, level) == -1) next[atomicAdd(next_size, 1)] = to[e];
}

int main()
{
    int nodes = 1000;
    std::vector<int> first(1), to;
    unsigned seed = 111;
    for (int n = 0; n < nodes; n++) {
        if (n + 1 < nodes && n % 100 != 99) to.push_back(n + 1);
        if (n % 7 == 0) to.push_back((int)(next_number(&seed) % 700));
        first.push_back((int)to.size());
    }
    std::vector<int> distance(nodes, -1);
    std::deque<int> queue = { 0 };
    distance[0] = 0;
    while (!queue.empty()) {
        int n = queue.front();
        queue.pop_front();
        for (int e = first[n]; e < first[n + 1]; e++)
            if (distance[to[e]] < 0) distance[to[e]] = distance[n] + 1, queue.push_back(to[e]);
    }
    std::vector<int> start(nodes, -1);
    start[0] = 0;
    int *d = on_device(start), *f = on_device(first), *t = on_device(to), *size, level = 0, last = 1;
    int *frontier = on_device(std::vector<int>(nodes)), *next = room_for<int>(nodes);
    OK(cudaMallocManaged(&size, sizeof *size));
    while (last) {
        *size = 0;
        expand<<<(last + 63) / 64, 64>>>(d, f, t, frontier, last, next, size, ++level);
        OK(cudaDeviceSynchronize());
        last = *size;
        std::swap(frontier, next);
    }
    CHECK(from_device(d, nodes) == distance);
    free_all(d, f, t, frontier, next, size);
}
