#!/bin/sh
# What a person reads when a kernel uses a pointer that is none of device memory.
set -u
cd "$(dirname "$0")/../.."
. simulator/test/told

# ---- Pointers to the host's memory, and where they came from

cat >"$scratch/elsewhere.cu" <<'END'
#include <cstdlib>
#include <cstring>
#include <new>

struct Shape {
    __host__ __device__ virtual float area() const { return 0; }
    __host__ __device__ virtual float edge() const { return 1; }
};
struct Square : Shape {
    float side = 2;
    __host__ __device__ float area() const override { return side * side; }
    __host__ __device__ float edge() const override { return side; }
};
struct Array { int n; float *at; };
struct Node { float value; Node *next; };

__host__ __device__ float half(float x) { return x / 2; }
typedef float (*Function)(float);

float of_program[32];
__device__ float of_device[32];

__device__ __noinline__ float element(const float *p, int i) { return p[i]; }
__global__ void edge(Shape **s, float *out) { out[threadIdx.x] = s[threadIdx.x]->edge(); }
__global__ void apply(int, Function f, float *out) { out[threadIdx.x] = f(out[threadIdx.x]); }
__global__ void apply_one(Function *f, float *out) { out[threadIdx.x] = f[1](out[threadIdx.x]); }
__global__ void copy(float *out, Array in) { out[threadIdx.x] = in.at[threadIdx.x + 8]; }
__global__ void copy_of(float *out, const Array *in) { out[threadIdx.x] = in->at[threadIdx.x]; }
__global__ void copy_plain(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void copy_called(float *out, Array in) { out[threadIdx.x] = element(in.at, threadIdx.x); }
__global__ void total(float *out, Node *n) { for (float sum = 0; n; n = n->next) *out = sum += n->value; }

template <class T> T *on_device(const T *host, int n = 1)
{
    T *p;
    cudaMalloc(&p, n * sizeof *p);
    cudaMemcpy(p, host, n * sizeof *p, cudaMemcpyHostToDevice);
    return p;
}

int main(int, char **words)
{
    float *out, stack[32] = {};
    cudaMalloc(&out, sizeof stack);
    cudaMemset(out, 0, sizeof stack);
    Square square;
    Function functions[] = { half, half };
    Array in_heap = { 3, (float *)calloc(32, 4) }, mapped = { 3, (float *)calloc(1 << 20, 4) }, on_stack = { 3, stack };
    Node last = { 1, nullptr }, first = { 2, &last };
    Shape *shapes[] = { on_device(&square) }, *managed;
    switch (atoi(words[1])) {
    case 0: edge<<<1, 1>>>(on_device(shapes), out); break;
    case 1: apply<<<1, 1>>>(0, half, out); break;
    case 2: apply_one<<<1, 1>>>(on_device(functions, 2), out); break;
    case 3: copy<<<1, 4>>>(out, in_heap); break;
    case 4: copy_of<<<1, 4>>>(out, on_device(&on_stack)); break;
    case 5: copy_called<<<1, 4>>>(out, mapped); break;
    case 6: copy_plain<<<1, 4>>>(out, of_program); break;
    case 7: copy_plain<<<1, 4>>>(out, of_device); break;
    case 8: total<<<1, 1>>>(out, on_device(&first)); break;
    case 9: copy_plain<<<1, 4>>>(out, (float *)0x123456789000); break;
    case 10: cudaMallocManaged(&managed, sizeof square); edge<<<1, 1>>>(on_device(&(shapes[0] = new (managed) Square)), out); break;
    case 11: apply<<<1, 1>>>(0, nullptr, out); break;
    case 12: in_heap.at = nullptr; copy<<<1, 4>>>(out, in_heap); break;
    case 13: in_heap.at = nullptr; copy_of<<<1, 4>>>(out, on_device(&in_heap)); break;
    case 14: copy_plain<<<1, 4>>>(out, nullptr); break;
    }
    exit(cudaDeviceSynchronize() != cudaErrorIllegalAddress);
}
END
builds_cuda elsewhere
told 1 'elsewhere 0' "but the host's table of the virtual functions of Square" 'comes from byte 0 of the 16-byte allocation made at elsewhere.cu:' \
    'next: Make the object in a kernel'
told 1 'elsewhere 1' "which is the host's function half(float)" 'comes from argument 2 of the kernel.' \
    "next: Take the function's address in device code"
told 1 'elsewhere 2' "the host's function half(float)" 'comes from byte 8 of the 16-byte allocation'
told 1 'elsewhere 3' "not device memory but the host's heap" 'byte 8 of argument 2 of the kernel, of 16 bytes' 'set this member'
told 1 'elsewhere 4' "not device memory but the host's stack" 'byte 8 of the 16-byte allocation' 'a std::string or std::vector keeps'
told 1 'elsewhere 5' "not device memory but the host's memory" 'byte 8 of argument 2'
told 1 'elsewhere 6' "not device memory but the host's variable of_program" 'argument 2 of the kernel.' 'pointers that cudaMalloc gave'
told 1 'elsewhere 7' "not device memory but the host's shadow of the variable of_device" 'cudaGetSymbolAddress'
told 1 'elsewhere 8' "the host's stack" 'byte 8 of the 16-byte allocation'
told 1 'elsewhere 9' 'No memory is there' 'argument 2 of the kernel.'
told 1 'elsewhere 10' "the host's table of the virtual functions of Square" 'comes from byte 0 of the 16-byte allocation'
told 1 'elsewhere 12' 'The pointer is null. The pointer comes from byte 8 of argument 2 of the kernel, of 16 bytes' 'next: Set this member'
# Each run of a program tells the same.
for which in 3 4 5; do
    for run in first second; do simulator/run "$scratch/elsewhere" $which >"$scratch/$run" 2>&1; done
    holds "elsewhere $which: the second run tells something else: $(diff "$scratch/first" "$scratch/second")" cmp -s "$scratch/first" "$scratch/second"
done
told 1 'elsewhere 13' 'The pointer is null. The pointer comes from byte 8 of the 16-byte allocation' 'next: Store the address of device memory'
told 1 'elsewhere 14' 'The pointer is null. The pointer comes from argument 2 of the kernel.' 'the pointers that cudaMalloc gave'
told 1 'elsewhere 11' 'there is no device function' 'The pointer to the function is null.'

# ---- A kernel's malloc that returned null

cat >"$scratch/full.cu" <<'END'
#include <cstdlib>

struct Node { int value; Node *next; };
struct Vector {
    int n, *at;
    __device__ Vector(int n) : n(n), at(new int[n]) { at[0] = n; }
};
__device__ int *of_device;

__global__ void here(size_t bytes) { int *p = (int *)malloc(bytes); p[threadIdx.x + 9999] = 1; }
__global__ void made(int n) { Vector v(n); if (threadIdx.x == 99) of_device = v.at; }
__global__ void shared(size_t bytes)
{
    __shared__ int *p;
    if (threadIdx.x == 0) p = (int *)malloc(bytes);
    __syncthreads();
    p[threadIdx.x] = 1;
}
__global__ void chain(int n)
{
    Node *all = nullptr;
    for (int i = 0; i < n; i++) {
        Node *one = (Node *)malloc(1 << 20);
        one->value = i;
        one->next = all;
        all = one;
    }
    of_device = &all->value;
}
__global__ void keep(size_t bytes) { of_device = (int *)malloc(bytes); }
__global__ void use() { of_device[threadIdx.x] = 1; }
__global__ void careful(size_t bytes) { if (int *p = (int *)malloc(bytes)) p[0] = 1; }
__global__ void store(int *p) { p[threadIdx.x] = 1; }

int main(int, char **words)
{
    const size_t much = 1 << 24;
    switch (atoi(words[1])) {
    case 0: here<<<1, 32>>>(much); break;
    case 1: made<<<1, 32>>>(much); break;
    case 2: shared<<<1, 32>>>(much); break;
    case 3: chain<<<1, 1>>>(9); break;
    case 4: keep<<<1, 1>>>(much); use<<<1, 32>>>(); break;
    case 5: careful<<<1, 32>>>(much); store<<<1, 32>>>(nullptr); break;
    case 6: cudaDeviceSetLimit(cudaLimitMallocHeapSize, much); here<<<1, 2>>>(much); break;
    }
    exit(cudaDeviceSynchronize() != cudaErrorIllegalAddress);
}
END
builds_cuda full
heap='its heap of 8388608 bytes had no room' check='cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes)'
told 1 'full 0' 'malloc returned null in this kernel, at full.cu:10: it was asked for 16777216 bytes' "$heap" "$check"
told 1 'full 1' 'malloc returned null in this kernel, at full.cu:6: it was asked for 67108864 bytes' "$heap" "$check"
told 1 'full 2' 'malloc returned null in this kernel, at full.cu:15' "$heap"
told 1 'full 3' 'malloc returned null in this kernel, at full.cu:23: it was asked for 1048576 bytes' "$heap"
told 1 'full 4' 'comes from byte 0 of variable of_device. It may be what malloc returned in a kernel, at full.cu:30' "$heap"
told 1 'full 5' 'The pointer is null. The pointer comes from argument 1 of the kernel.' 'pointers that cudaMalloc gave'
told 1 'full 6' 'its heap of 16777216 bytes had no room'

done_with text_pointers
