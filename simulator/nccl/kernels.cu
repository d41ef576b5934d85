// The kernels. Each thread takes one element or several; neighbouring threads read neighbouring elements, so whole
// sectors cross the link.
#include "kernels.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>

enum { THREADS = 256, MOST_BLOCKS = 1024 };

// The type in which elements are reduced.
template <typename T> struct Sum { typedef T type; };
template <> struct Sum<__half> { typedef float type; };
template <> struct Sum<__nv_bfloat16> { typedef float type; };
template <> struct Sum<__nv_fp8_e4m3> { typedef float type; };
template <> struct Sum<__nv_fp8_e5m2> { typedef float type; };

template <ncclRedOp_t op, typename S> __device__ S combine(S a, S b)
{
    if (op == ncclProd)
        return a * b;
    if (op == ncclMax)
        return a > b || a != a ? a : b;
    if (op == ncclMin)
        return a < b || a != a ? a : b;
    return a + b;
}

template <typename T, ncclRedOp_t op> __global__ void nccl_reduce(Reduction r)
{
    typedef typename Sum<T>::type S;
    size_t all = (size_t)gridDim.x * THREADS;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < r.count; i += all) {
        S sum = (S)((const T *)r.in[0])[i];
        for (int k = 1; k < r.ranks; k++)
            sum = combine<op>(sum, (S)((const T *)r.in[k])[i]);
        if (op == ncclAvg)
            sum = sum / (S)r.ranks;
        ((T *)r.out)[i] = (T)sum;
    }
}

// Block (x, y) copies a part of piece y.
template <typename W> __global__ void nccl_copy(Pieces p)
{
    Piece piece = p.piece[blockIdx.y];
    size_t words = piece.bytes / sizeof(W), all = (size_t)gridDim.x * THREADS;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < words; i += all)
        ((W *)piece.out)[i] = ((const W *)piece.in)[i];
}

// Each thread meets another rank: it waits until that one has come as often.
__device__ unsigned meetings[MOST_MEETING][MOST_RANKS];

__global__ void nccl_meet(Meeting m)
{
    volatile unsigned *own = m.with[threadIdx.x].own, *theirs = m.with[threadIdx.x].theirs;
    unsigned count = *own + 1;
    __threadfence_system();
    *own = count;
    while ((int)(*theirs - count) < 0) {}
    __threadfence_system();
}

static unsigned blocks_for(size_t threads)
{
    size_t blocks = (threads + THREADS - 1) / THREADS;
    return (unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS);
}

template <typename T> static cudaError_t reduce(const Reduction *r, ncclRedOp_t op, cudaStream_t stream)
{
    unsigned blocks = blocks_for(r->count);
    switch (op) {
    case ncclSum:  nccl_reduce<T, ncclSum><<<blocks, THREADS, 0, stream>>>(*r); break;
    case ncclProd: nccl_reduce<T, ncclProd><<<blocks, THREADS, 0, stream>>>(*r); break;
    case ncclMax:  nccl_reduce<T, ncclMax><<<blocks, THREADS, 0, stream>>>(*r); break;
    case ncclMin:  nccl_reduce<T, ncclMin><<<blocks, THREADS, 0, stream>>>(*r); break;
    case ncclAvg:  nccl_reduce<T, ncclAvg><<<blocks, THREADS, 0, stream>>>(*r); break;
    default:       return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

cudaError_t kernel_reduce(const Reduction *r, ncclDataType_t type, ncclRedOp_t op, cudaStream_t stream)
{
    if (r->count == 0)
        return cudaSuccess;
    switch (type) {
    case ncclInt8:       return reduce<int8_t>(r, op, stream);
    case ncclUint8:      return reduce<uint8_t>(r, op, stream);
    case ncclInt32:      return reduce<int32_t>(r, op, stream);
    case ncclUint32:     return reduce<uint32_t>(r, op, stream);
    case ncclInt64:      return reduce<int64_t>(r, op, stream);
    case ncclUint64:     return reduce<uint64_t>(r, op, stream);
    case ncclFloat16:    return reduce<__half>(r, op, stream);
    case ncclFloat32:    return reduce<float>(r, op, stream);
    case ncclFloat64:    return reduce<double>(r, op, stream);
    case ncclBfloat16:   return reduce<__nv_bfloat16>(r, op, stream);
    case ncclFloat8e4m3: return reduce<__nv_fp8_e4m3>(r, op, stream);
    case ncclFloat8e5m2: return reduce<__nv_fp8_e5m2>(r, op, stream);
    default:             return cudaErrorInvalidValue;
    }
}

// The bytes of the widest word of which all pieces' sizes and addresses are multiples.
static unsigned width_of(const Pieces *p)
{
    uintptr_t bits = sizeof(uint4);
    for (int i = 0; i < p->count; i++)
        bits |= (uintptr_t)p->piece[i].out | (uintptr_t)p->piece[i].in | p->piece[i].bytes;
    return (unsigned)(bits & -bits);
}

cudaError_t kernel_copy(const Pieces *p, cudaStream_t stream)
{
    size_t most = 0;
    for (int i = 0; i < p->count; i++)
        most = p->piece[i].bytes > most ? p->piece[i].bytes : most;
    if (most == 0)
        return cudaSuccess;
    unsigned width = width_of(p);
    dim3 grid(blocks_for(most / width), p->count);
    switch (width) {
    case 16: nccl_copy<uint4><<<grid, THREADS, 0, stream>>>(*p); break;
    case 8:  nccl_copy<uint2><<<grid, THREADS, 0, stream>>>(*p); break;
    case 4:  nccl_copy<uint32_t><<<grid, THREADS, 0, stream>>>(*p); break;
    case 2:  nccl_copy<uint16_t><<<grid, THREADS, 0, stream>>>(*p); break;
    default: nccl_copy<uint8_t><<<grid, THREADS, 0, stream>>>(*p);
    }
    return cudaGetLastError();
}

cudaError_t kernel_meet(const Meeting *m, cudaStream_t stream)
{
    nccl_meet<<<1, m->count, 0, stream>>>(*m);
    return cudaGetLastError();
}

cudaError_t kernel_meetings(unsigned (**counts)[MOST_RANKS])
{
    return cudaGetSymbolAddress((void **)counts, meetings);
}
