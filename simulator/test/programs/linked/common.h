// What linked.cu and other.cu share.
#pragma once
#include "../check.h"

typedef int (*Function)(int);

extern __device__ int total, table[3];
extern __constant__ int scale[4];
extern __managed__ int everywhere;
extern __device__ int *const target;

__device__ int triple(int x);
__device__ Function pick(int which);
__device__ int fill_buffer(int x);
__device__ int past_end(const int *p, int i);

inline __device__ __noinline__ int half(int x) { return x / 2; }        // both units have one: either will do

template <typename T> __global__ void clear(T *p) { p[threadIdx.x] = half(threadIdx.x); }       // and so with a kernel

int launch_other(int *p);
