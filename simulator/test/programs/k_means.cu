// expect: exit 0
// k-means in the plane: points find their nearest centre, sums gather in shared memory by atomics on doubles, a small kernel
// moves the centres; beside the host until both stand still.
#include "numbers.h"

enum { POINTS = 1000, CENTRES = 5, STEPS = 15 };

struct Sum { double x, y; int count; };

__device__ double2 centre[CENTRES];
__device__ Sum total[CENTRES];

__global__ void assign(int *of, const double2 *point)
{
    __shared__ Sum own[CENTRES];
    if (threadIdx.x < CENTRES) own[threadIdx.x] = { 0, 0, 0 };
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < POINTS) {
        double2 p = point[i];
        double least = INFINITY;
        int nearest = 0;
        for (int c = 0; c < CENTRES; c++) {
            double dx = p.x - centre[c].x, dy = p.y - centre[c].y, square = dx * dx + dy * dy;
            if (square < least) least = square, nearest = c;
        }
        of[i] = nearest;
        atomicAdd(&own[nearest].x, p.x), atomicAdd(&own[nearest].y, p.y), atomicAdd(&own[nearest].count, 1);
    }
    __syncthreads();
    if (threadIdx.x >= CENTRES || !own[threadIdx.x].count) return;
    atomicAdd(&total[threadIdx.x].x, own[threadIdx.x].x);
    atomicAdd(&total[threadIdx.x].y, own[threadIdx.x].y);
    atomicAdd(&total[threadIdx.x].count, own[threadIdx.x].count);
}

__global__ void move()
{
    Sum &s = total[threadIdx.x];
    if (s.count) centre[threadIdx.x] = make_double2(s.x / s.count, s.y / s.count);
    s = { 0, 0, 0 };
}

static int nearest_host(const std::vector<double> &c, double x, double y)
{
    int nearest = 0;
    double least = INFINITY;
    for (int k = 0; k < CENTRES; k++) {
        double square = pow(x - c[2 * k], 2) + pow(y - c[2 * k + 1], 2);
        if (square < least) least = square, nearest = k;
    }
    return nearest;
}

int main()
{
    std::vector<double> points = real_numbers<double>(2 * POINTS, 191), c(points.begin(), points.begin() + 2 * CENTRES);
    std::vector<int> of(POINTS);
    double2 *device_points = (double2 *)on_device(points);
    int *device_of = room_for<int>(POINTS);
    OK(cudaMemcpyToSymbol(centre, c.data(), sizeof centre));
    for (int step = 0; step < STEPS; step++) {
        assign<<<(POINTS + 127) / 128, 128>>>(device_of, device_points);
        move<<<1, CENTRES>>>();
        std::vector<Sum> sums(CENTRES);
        for (int i = 0; i < POINTS; i++) {
            Sum &s = sums[of[i] = nearest_host(c, points[2 * i], points[2 * i + 1])];
            s.x += points[2 * i], s.y += points[2 * i + 1], s.count++;
        }
        for (int k = 0; k < CENTRES; k++)
            if (sums[k].count) c[2 * k] = sums[k].x / sums[k].count, c[2 * k + 1] = sums[k].y / sums[k].count;
    }
    CHECK(from_device(device_of, POINTS) == of);
    std::vector<double> got(2 * CENTRES);
    OK(cudaMemcpyFromSymbol(got.data(), centre, sizeof centre));
    check_close(got, c, 1e-12);
    free_all(device_points, device_of);
}
