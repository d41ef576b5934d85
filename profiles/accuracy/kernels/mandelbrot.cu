// How soon points leave the Mandelbrot set: a test in each step, one in each eight, and with doubles.
#include "exercise.h"

enum { THREADS = 128, STEPS = 256, SHARED = 24 << 10, MOST = 1 << 22 };

template <typename T, int EVERY> static __device__ __forceinline__ void leave(unsigned *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x, x = i % 64, y = i / 64 % 64;
    T re = (T)-0.8 + (T)x * (T)0.01, im = (T)0.05 + (T)y * (T)0.004, a = 0, b = 0;
    unsigned steps = 0;
    for (; steps < STEPS && a * a + b * b < 4; steps += EVERY)
#pragma unroll
        for (int n = 0; n < EVERY; n++) {
            T next = a * a - b * b + re;
            b = 2 * a * b + im;
            a = next;
        }
    out[i] = steps;
}

IN_GRIDS(mandelbrot_each, THREADS, (unsigned *out), leave<float, 1>(out))
IN_GRIDS(mandelbrot_eight, THREADS, (unsigned *out), leave<float, 8>(out))
IN_GRIDS(mandelbrot_double, THREADS, (unsigned *out), leave<double, 4>(out))

static unsigned *out;

int main(int count, char **arguments)
{
    out = output<unsigned>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("mandelbrot", mandelbrot_each, THREADS, SHARED, out),
        GRIDS_OF("mandelbrot", mandelbrot_eight, THREADS, SHARED, out),
        GRIDS_OF("", mandelbrot_double, THREADS, SHARED, out),
    });
}
