// expect: exit 0
// Functions that are not inlined: with structures for parameters and results, recursive in lanes that part, with arrays
// of their own that inner calls write to, through tables and virtual functions, and with barriers inside.
#include <math.h>

#include "check.h"

enum { N = 96, KINDS = 8 };

struct Body { float mass; double at[3]; int id; unsigned char tag[5]; };

__host__ __device__ __noinline__ Body moved(Body b, double by, int tag)
{
    for (int i = 0; i < 3; i++) b.at[i] += by * (i + 1);
    b.tag[b.id % 5] = tag;
    b.id++;
    return b;
}

__host__ __device__ __noinline__ int collatz(long long n) { return n == 1 ? 0 : 1 + collatz(n % 2 ? 3 * n + 1 : n / 2); }

__host__ __device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

// Each call has an array; the inner one writes into the outer one's.
__host__ __device__ __noinline__ int fill(int *outer, int depth, int seed)
{
    int mine[6];
    for (int i = 0; i < 6; i++) mine[i] = seed * (i + 1) + depth;
    if (depth > 0) {
        int got = fill(mine, depth - 1, seed + outer[depth % 6]);
        for (int i = 0; i < 6; i++) outer[i] += mine[(i + got) % 6 < 0 ? 0 : (i + got) % 6];
        return got + mine[2];
    }
    for (int i = 0; i < 6; i++) outer[i] ^= mine[i];
    return outer[seed & 3] & 1023;
}

__host__ __device__ __noinline__ bool is_odd(int n);
__host__ __device__ __noinline__ bool is_even(int n) { return n == 0 ? true : is_odd(n - 1); }
__host__ __device__ __noinline__ bool is_odd(int n) { return n == 0 ? false : is_even(n - 1); }

typedef int (*Operation)(int, int);
__host__ __device__ __noinline__ int sum(int a, int b) { return a + b; }
__host__ __device__ __noinline__ int product(int a, int b) { return a * b; }
__host__ __device__ __noinline__ int lesser(int a, int b) { return a < b ? a : b; }
__device__ Operation operations[3] = { sum, product, lesser };

struct Shape { __host__ __device__ virtual int area(int scale) const = 0; };
struct Square : Shape { int side; __host__ __device__ int area(int s) const override { return side * side * s; } };
struct Box : Shape { int a, b; __host__ __device__ int area(int s) const override { return a * b + s; } };

__device__ __noinline__ int together(int *shared, int v)
{
    shared[threadIdx.x] = v;
    __syncthreads();
    int got = shared[(threadIdx.x + 33) % N];
    __syncthreads();
    return got + __shfl_xor_sync(~0u, v, 1);
}

__global__ void kernel(double *o, const int *in)
{
    __shared__ int shared[N];
    int t = threadIdx.x, v = in[t];
    Body b = { 1.5f, { 1, 2, 3 }, v, { 1, 2, 3, 4, 5 } };
    b = moved(moved(b, 0.5, 7), v, 9);
    o[t * KINDS] = b.at[0] + b.at[2] + b.id + b.tag[0] + 10 * b.tag[1] + 100 * b.tag[2] + b.mass;
    o[t * KINDS + 1] = t % 3 ? collatz(v) : ackermann(2, v % 5);
    int outer[6] = { 1, 2, 3, 4, 5, 6 };
    o[t * KINDS + 2] = fill(outer, t % 7, v) + outer[3] * 3 + outer[5];
    o[t * KINDS + 3] = is_even(t % 20) + 2 * is_odd(v % 13);
    o[t * KINDS + 4] = operations[t % 3](v, t);
    Square s; s.side = v;
    Box x; x.a = v, x.b = t;
    const Shape *shape = t % 5 < 2 ? (const Shape *)&s : &x;
    o[t * KINDS + 5] = shape->area(t);
    o[t * KINDS + 6] = together(shared, v);
    o[t * KINDS + 7] = sin(v * 1e9);
}

static void host(double *o, const int *in, int t)
{
    static const Operation table[3] = { sum, product, lesser };
    int v = in[t], outer[6] = { 1, 2, 3, 4, 5, 6 };
    Body b = { 1.5f, { 1, 2, 3 }, v, { 1, 2, 3, 4, 5 } };
    b = moved(moved(b, 0.5, 7), v, 9);
    o[0] = b.at[0] + b.at[2] + b.id + b.tag[0] + 10 * b.tag[1] + 100 * b.tag[2] + b.mass;
    o[1] = t % 3 ? collatz(v) : ackermann(2, v % 5);
    o[2] = fill(outer, t % 7, v) + outer[3] * 3 + outer[5];
    o[3] = is_even(t % 20) + 2 * is_odd(v % 13);
    o[4] = table[t % 3](v, t);
    Square s; s.side = v;
    Box x; x.a = v, x.b = t;
    o[5] = t % 5 < 2 ? s.area(t) : x.area(t);
    o[6] = in[(t + 33) % N] + in[t ^ 1];
    o[7] = sin(v * 1e9);
}

int main()
{
    int in[N], *din;
    double out[N * KINDS], want[KINDS], *dout;
    for (int i = 0; i < N; i++) in[i] = 1 + i * 37 % 101;
    OK(cudaMalloc(&din, sizeof in));
    OK(cudaMalloc(&dout, sizeof out));
    OK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    kernel<<<1, N>>>(dout, din);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < N; t++) {
        host(want, in, t);
        for (int k = 0; k < KINDS; k++) {
            if (fabs(out[t * KINDS + k] - want[k]) > 1e-12) fprintf(stderr, "thread %d, %d: %.17g, not %.17g\n", t, k, out[t * KINDS + k], want[k]);
            CHECK(fabs(out[t * KINDS + k] - want[k]) <= 1e-12);
        }
    }
    OK(cudaFree(din));
    OK(cudaFree(dout));
    return 0;
}
