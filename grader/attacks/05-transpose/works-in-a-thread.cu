// expect: WRONG
// says: was never written
// It returns at once; a thread of its own would do the work while nobody looks.
#include "05-transpose.h"

#include <thread>
#include <unistd.h>

__global__ void turn(float *out, const float *in, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols)
        out[i % cols * rows + i / cols] = in[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    std::thread([=] {
        sleep(3);
        turn<<<rows * cols / 256 + 1, 256>>>(out, in, rows, cols);
    }).detach();
}
