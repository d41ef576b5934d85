// expect: bounds 64
// says: cudaMemsetAsync in a kernel writes
// build: -rdc=true -lcudadevrt
// Kernels that fill and copy memory: in order with what they launch, whatever their streams and events, and behind the kernel
// itself. One past the end ends the program's work as a kernel's would.
#include "check.h"

__global__ void add_up(const int *p, int n, int *sum)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += p[i];
    *sum = s;
}

__global__ void work(int *p, int *codes)
{
    int n = 0;
    cudaStream_t s, t;
    cudaEvent_t e;
    codes[n++] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    codes[n++] = cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    codes[n++] = cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    codes[n++] = cudaMemsetAsync(p, 1, 64, s);                          // 16 words of 0x01010101
    codes[n++] = cudaMemcpyAsync(p + 16, p, 32, cudaMemcpyDeviceToDevice, s);
    codes[n++] = cudaMemset2DAsync(p + 1, 16, 0, 4, 4, s);              // every fourth of the first 16 is 0 again
    codes[n++] = cudaEventRecord(e, s);
    codes[n++] = cudaStreamWaitEvent(t, e, 0);
    add_up<<<1, 1, 0, t>>>(p, 32, p + 32);
    codes[n++] = cudaMemcpyAsync(p + 33, p + 32, 4, cudaMemcpyDefault, t);
    codes[n++] = cudaEventDestroy(e);
    codes[n++] = cudaStreamDestroy(s);
    codes[n++] = cudaStreamDestroy(t);
    codes[n++] = cudaMemsetAsync(p, 1, 0, 0);
    codes[n++] = cudaGetLastError();
    p[0] = 5;                                                           // before all of that
    codes[n++] = cudaGetDevice(codes + 18);
    codes[20] = cudaEventCreateWithFlags(&e, cudaEventDefault);
    codes[21] = cudaGetLastError();
    codes[22] = cudaMemset2DAsync(p, 4, 0, 8, 2, 0);
}

__global__ void past(char *p, int bytes) { cudaMemsetAsync(p, 0, bytes, 0); }

int main()
{
    int *p, *codes, host[34], got[32];
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaMalloc(&codes, sizeof got));
    OK(cudaMemset(p, 0, sizeof host));
    OK(cudaMemset(codes, 0xff, sizeof got));
    work<<<1, 1>>>(p, codes);
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(got, codes, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 15; i++)
        CHECK(got[i] == cudaSuccess);
    CHECK(got[15] == -1 && got[18] == 0);                               // the device
    CHECK(got[20] == cudaErrorInvalidValue && got[21] == cudaErrorInvalidValue && got[22] == cudaErrorInvalidValue);
    for (int i = 0; i < 24; i++)
        CHECK(host[i] == (i < 16 && i % 4 == 1 ? 0 : 0x01010101));
    CHECK(host[32] == 20 * 0x01010101 && host[33] == host[32]);
    past<<<1, 1>>>((char *)p, sizeof host);
    OK(cudaDeviceSynchronize());
    past<<<1, 1>>>((char *)p, sizeof host + 1);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
