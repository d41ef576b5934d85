// expect: exit 0
// Mandelbrot's set: lanes that leave their loop at very different times, in doubles, and in integers with 28 bits behind the
// point. The host works out the same.
#include "numbers.h"

enum { SIDE = 48, LIMIT = 200 };

template <typename Number> struct Rules;
template <> struct Rules<double> {
    static __host__ __device__ double of(double x) { return x; }
    static __host__ __device__ double times(double a, double b)
    {
#ifdef __CUDA_ARCH__
        return __dmul_rn(a, b);
#else
        volatile double product = a * b;
        return product;
#endif
    }
};
template <> struct Rules<long long> {
    static __host__ __device__ long long of(double x) { return (long long)(x * (1 << 28)); }
    static __host__ __device__ long long times(long long a, long long b) { return (a * b) >> 28; }
};

template <typename Number> __host__ __device__ int steps(int column, int row)
{
    typedef Rules<Number> R;
    Number cx = R::of(-2.0 + 2.5 * column / SIDE), cy = R::of(-1.25 + 2.5 * row / SIDE), x = 0, y = 0;
    for (int n = 0; n < LIMIT; n++) {
        Number xx = R::times(x, x), yy = R::times(y, y);
        if (xx + yy > R::of(4)) return n;
        Number xy = R::times(x, y);
        y = xy + xy + cy;
        x = xx - yy + cx;
    }
    return LIMIT;
}

template <typename Number> __global__ void set(int *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < SIDE && y < SIDE) out[y * SIDE + x] = steps<Number>(x, y);
}

template <typename Number> void try_number()
{
    std::vector<int> want(SIDE * SIDE);
    for (int k = 0; k < SIDE * SIDE; k++) want[k] = steps<Number>(k % SIDE, k / SIDE);
    int *out = room_for<int>(SIDE * SIDE);
    set<Number><<<dim3(2, 6), dim3(32, 8)>>>(out);
    CHECK(from_device(out, SIDE * SIDE) == want);
    free_all(out);
}

int main()
{
    try_number<double>();
    try_number<long long>();
}
