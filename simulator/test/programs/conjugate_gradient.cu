// expect: exit 0
// Conjugate gradients for Poisson's equation on a square, in doubles: every number stays on the device until the end.
#include "numbers.h"

enum { SIDE = 20, N = SIDE * SIDE, BLOCK = 128, BLOCKS = (N + BLOCK - 1) / BLOCK };

struct Scalars { double rr, pq, rr_before; };

// Four times each cell less its neighbours; the border is zero.
__global__ void apply(double *q, const double *p)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= N) return;
    int x = i % SIDE, y = i / SIDE;
    double sum = 4 * p[i];
    if (x > 0) sum -= p[i - 1];
    if (x < SIDE - 1) sum -= p[i + 1];
    if (y > 0) sum -= p[i - SIDE];
    if (y < SIDE - 1) sum -= p[i + SIDE];
    q[i] = sum;
}

__global__ void dot(double *out, const double *a, const double *b)
{
    __shared__ double sums[BLOCK / 32];
    double sum = 0;
    for (int i = threadIdx.x; i < N; i += BLOCK) sum += a[i] * b[i];
    for (int half = 16; half; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < BLOCK / 32; w++) sum += sums[w];
    *out = sum;
}

__global__ void advance(double *x, double *r, const double *p, const double *q, Scalars *s)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    double step = s->rr / s->pq;
    if (i < N) x[i] += step * p[i], r[i] -= step * q[i];
}

__global__ void turn(double *p, const double *r, const Scalars *s)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) p[i] = r[i] + s->rr / s->rr_before * p[i];
}

int main()
{
    std::vector<double> want = real_numbers<double>(N, 151), right(N);
    for (int i = 0; i < N; i++) {
        int x = i % SIDE, y = i / SIDE;
        right[i] = 4 * want[i] - (x ? want[i - 1] : 0) - (x < SIDE - 1 ? want[i + 1] : 0) - (y ? want[i - SIDE] : 0)
            - (y < SIDE - 1 ? want[i + SIDE] : 0);
    }
    double *x = on_device(std::vector<double>(N)), *r = on_device(right), *p = on_device(right), *q = room_for<double>(N), rr = 1;
    Scalars *s = room_for<Scalars>(1);
    dot<<<1, BLOCK>>>(&s->rr, r, r);
    int steps;
    for (steps = 0; rr > 1e-22 && steps < 200; steps++) {
        apply<<<BLOCKS, BLOCK>>>(q, p);
        dot<<<1, BLOCK>>>(&s->pq, p, q);
        advance<<<BLOCKS, BLOCK>>>(x, r, p, q, s);
        OK(cudaMemcpyAsync(&s->rr_before, &s->rr, sizeof rr, cudaMemcpyDeviceToDevice));
        dot<<<1, BLOCK>>>(&s->rr, r, r);
        turn<<<BLOCKS, BLOCK>>>(p, r, s);
        OK(cudaMemcpy(&rr, &s->rr, sizeof rr, cudaMemcpyDeviceToHost));
    }
    CHECK(steps < 100);
    check_close(from_device(x, N), want, 1e-9);
    free_all(x, r, p, q, s);
}
