// Three kernels without a bank conflict, in which ncu's counter finds some (why.txt):
//
//     nvcc -O3 -arch=sm_90 no-conflicts.cu -o no-conflicts
//     ncu --metrics l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum ./no-conflicts
//
// Each makes 512 x 32 x 64 = 1,048,576 loads from shared memory, 32 neighbouring words each. On an H200 (driver
// 580.159.04) the counter said 5,372 to 5,636, 422 to 573, and 258,668 to 261,599, in three runs of each.
#include <cstdio>

enum { THREADS = 1024, BLOCKS = 512, ROUNDS = 64 };

__device__ float row(const volatile float *shared, int round)
{
    return shared[(threadIdx.x + 32 * round) % THREADS];
}

__device__ size_t place(int round)
{
    return ((size_t)round * BLOCKS + blockIdx.x) * THREADS + threadIdx.x;
}

__global__ void shared_alone(float *out, const float *)
{
    __shared__ float shared[THREADS];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < ROUNDS; r++)
        sum += row(shared, r);
    if (sum == -1)
        out[0] = sum;
}

__global__ void with_global_loads(float *out, const float *in)
{
    __shared__ float shared[THREADS];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < ROUNDS; r++)
        sum += row(shared, r) + __ldcs(in + place(r));
    if (sum == -1)
        out[0] = sum;
}

__global__ void with_global_stores(float *out, const float *)
{
    __shared__ float shared[THREADS];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < ROUNDS; r++)
        out[place(r)] = sum += row(shared, r);
}

int main()
{
    float *out, *in;
    size_t bytes = (size_t)BLOCKS * THREADS * ROUNDS * sizeof(float);
    cudaMalloc(&out, bytes);
    cudaMalloc(&in, bytes);
    cudaMemset(in, 0, bytes);
    for (int i = 0; i < 3; i++) {
        shared_alone<<<BLOCKS, THREADS>>>(out, in);
        with_global_loads<<<BLOCKS, THREADS>>>(out, in);
        with_global_stores<<<BLOCKS, THREADS>>>(out, in);
    }
    puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
