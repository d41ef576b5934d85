// expect: SUSPECT
// says: they did not come from it
// A format of four bits that holds nothing: the weights stay on the device as they were, in memory of
// the program's own, and the products read them from there.
#include "25-quantization.h"

enum { MOST = 1 << 22 };
__device__ __nv_bfloat16 kept[MOST];

__global__ void keep(unsigned char *to, const __nv_bfloat16 *w, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        kept[i] = w[i];
    if (i < count / 2)
        to[i] = 0;
}

__global__ void give(__nv_bfloat16 *w, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        w[i] = kept[i];
}

// A warp a sum.
__global__ void multiply_kept(float *y, const __nv_bfloat16 *x, int rows, int cols)
{
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += 32)
        sum += __bfloat162float(kept[(size_t)blockIdx.x * cols + c])
             * __bfloat162float(x[(size_t)blockIdx.y * cols + c]);
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, away);
    if (threadIdx.x == 0)
        y[(size_t)blockIdx.y * rows + blockIdx.x] = sum;
}

extern "C" int quantized_bytes(int rows, int cols) { return (int)((size_t)rows * cols / 2); }

extern "C" void quantize(void *to, const __nv_bfloat16 *w, int rows, int cols)
{
    unsigned count = rows * cols;
    if (count)
        keep<<<(count + 255) / 256, 256>>>((unsigned char *)to, w, count);
}

extern "C" void dequantize(__nv_bfloat16 *w, const void *, int rows, int cols)
{
    unsigned count = rows * cols;
    if (count)
        give<<<(count + 255) / 256, 256>>>(w, count);
}

extern "C" void multiply(float *y, const void *, const __nv_bfloat16 *x, int rows, int cols,
                         int batch, __nv_bfloat16 *)
{
    if (rows)
        multiply_kept<<<dim3(rows, batch), 32>>>(y, x, rows, cols);
}
