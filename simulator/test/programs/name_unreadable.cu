// expect: exit 0
// counts: outer::inner::Kernel l1tex__t_requests_pipe_lsu_mem_global_op_st.sum 1
// A kernel whose name no library for C++'s names can read, as CUTLASS's are: its beginning is told.
#include "check.h"

extern "C" __global__ void _ZN5outer5inner6KernelIQ9unreadableE(int *x) { x[threadIdx.x] = 1; }

int main()
{
    int *x;
    OK(cudaMalloc(&x, 32 * sizeof *x));
    _ZN5outer5inner6KernelIQ9unreadableE<<<1, 32>>>(x);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    return 0;
}
