// A launch whose error nothing reads.
#include "right.cu"
/* The launch is never made: g++ stands in for nvcc here. cudaGetLastError() in a comment, first<<<1, 1>>>() too,
   reads nothing. */
#define LAUNCH twice_kernel<<<1, 1>>>(out) // cudaPeekAtLastError()
