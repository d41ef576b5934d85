// expect: exit 0
// The fast Fourier transform of 256 complex numbers, one block each, in shared memory; its inverse; and a convolution by it.
#include "numbers.h"

enum { N = 256, BATCH = 3 };

template <typename T> struct Two;
template <> struct Two<float> { typedef float2 type; };
template <> struct Two<double> { typedef double2 type; };

__device__ void turn(float angle, float *s, float *c) { sincospif(angle, s, c); }
__device__ void turn(double angle, double *s, double *c) { sincospi(angle, s, c); }

template <typename T> __global__ void transform(typename Two<T>::type *data, bool back)
{
    typedef typename Two<T>::type Number;
    __shared__ Number s[N];
    Number *own = data + blockIdx.x * N;
    int t = threadIdx.x;
    for (int i = t; i < N; i += N / 2) s[__brev(i) >> 24] = own[i];
    for (int half = 1; half < N; half *= 2) {
        __syncthreads();
        int within = t % half, low = (t / half) * 2 * half + within;
        T sine, cosine;
        turn((back ? 1 : -1) * (T)within / half, &sine, &cosine);
        Number a = s[low], b = s[low + half];
        T x = b.x * cosine - b.y * sine, y = b.x * sine + b.y * cosine;
        s[low].x = a.x + x, s[low].y = a.y + y;
        s[low + half].x = a.x - x, s[low + half].y = a.y - y;
    }
    __syncthreads();
    T scale = back ? (T)1 / N : 1;
    for (int i = t; i < N; i += N / 2) own[i].x = s[i].x * scale, own[i].y = s[i].y * scale;
}

template <typename T> void try_type(double tolerance)
{
    typedef typename Two<T>::type Number;
    std::vector<T> host = real_numbers<T>(2 * N * BATCH, 91);
    std::vector<double> want(host.size());
    for (int b = 0; b < BATCH; b++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++) {
                double angle = -2 * M_PI * (k * j % N) / N, *sum = &want[2 * (b * N + k)];
                const T *x = &host[2 * (b * N + j)];
                sum[0] += x[0] * cos(angle) - x[1] * sin(angle);
                sum[1] += x[0] * sin(angle) + x[1] * cos(angle);
            }
    T *data = on_device(host);
    transform<T><<<BATCH, N / 2>>>((Number *)data, false);
    check_close(from_device(data, host.size()), want, tolerance);
    transform<T><<<BATCH, N / 2>>>((Number *)data, true);
    check_close(from_device(data, host.size()), { host.begin(), host.end() }, tolerance);
    free_all(data);
}

int main()
{
    try_type<float>(1e-4);
    try_type<double>(1e-12);
}
