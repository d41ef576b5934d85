// expect: exit 0
// Functions that are not inlined: with structures for parameters and results, recursive in lanes that part, with arrays
// of their own that inner calls write to, through tables and virtual functions, and with barriers inside.
#include <math.h>

#include "check.h"

enum { N = 96, KINDS = 10 };

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

// Of a parameter of more than 128 bytes nvcc takes the address; what the function changes there is its own, and nobody writes its padding.
struct Large { char tag; int weight; short part; double values[20]; };
struct Wide { char tag; int weight; short part; double a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p; char last; };

__host__ __device__ __noinline__ double summed(Large l, int depth)
{
    l.values[l.weight % 20] += depth;
    l.part++;
    l.tag += 2;
    double inner = depth ? summed(l, depth - 1) : 0;
    if (l.tag > 100) l.values[0]++;
    return inner + l.values[depth] * l.part + l.tag;
}

__host__ __device__ __noinline__ double chosen(Wide w, int n)
{
    double s = w.tag + w.weight + w.part + w.last + (&w.a)[n % 16];
    return s > 30 ? s + w.tag : s;
}

__host__ __device__ __noinline__ Large large_of(int v)
{
    Large l;
    l.tag = v % 100, l.weight = v, l.part = 3;
    for (int i = 0; i < 20; i++) l.values[i] = i + v;
    return l;
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
    Large l = large_of(v);
    o[t * KINDS + 8] = summed(l, t % 6) + l.values[v % 20] + l.part;
    Wide w;
    w.tag = t, w.weight = v, w.part = 3, w.last = 4;
    w.a = w.b = w.c = w.d = w.e = w.f = w.g = w.h = w.i = w.j = w.k = w.l = w.m = w.n = w.o = w.p = v / 2.0;
    o[t * KINDS + 9] = chosen(w, t);
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
    Large l = large_of(v);
    o[8] = summed(l, t % 6) + l.values[v % 20] + l.part;
    Wide w = { (char)t, v, 3, v / 2.0, v / 2.0, v / 2.0, v / 2.0, v / 2.0, v / 2.0, v / 2.0, v / 2.0, v / 2.0, v / 2.0, v / 2.0, v / 2.0,
               v / 2.0, v / 2.0, v / 2.0, v / 2.0, 4 };
    o[9] = chosen(w, t);
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
