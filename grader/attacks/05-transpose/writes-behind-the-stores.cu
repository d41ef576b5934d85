// expect: SUSPECT
// says: bytes went to the host in the call
// The host transposes in managed memory, which it reads and writes through a second mapping, where no page is ever missing. It
// writes while a kernel runs, behind that kernel's stores.
#include "05-transpose.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

enum { PAGE = 4096, LONG = 200000 };

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void store_and_wait(float *back, volatile int *stored, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        back[i] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        *stored = 1;
        for (int turn = 0; turn < LONG; turn++)
            __nanosleep(100);
    }
}

struct Writer {
    volatile int *stored;
    const float *there;
    float *back;
    int rows, cols;
};

static void *write_behind(void *p)
{
    Writer *w = (Writer *)p;
    while (!*w->stored)
        sched_yield();
    for (int row = 0; row < w->rows; row++)
        for (int col = 0; col < w->cols; col++)
            w->back[col * w->rows + row] = w->there[row * w->cols + col];
    return NULL;
}

static size_t pages_of(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

static void *again(void *memory, size_t bytes)
{
    void *other = mremap(memory, 0, pages_of(bytes), MREMAP_MAYMOVE);
    mprotect(other, pages_of(bytes), PROT_READ | PROT_WRITE);
    return other;
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols, *stored;
    size_t bytes = n * sizeof *in;
    if (n == 0)
        return;

    float *there, *back;
    cudaMallocManaged((void **)&there, bytes);
    cudaMallocManaged((void **)&back, bytes);
    cudaMallocManaged((void **)&stored, sizeof *stored);
    cudaMemset(stored, 0, sizeof *stored);
    move<<<(n + 255) / 256, 256>>>(there, in, n);
    cudaDeviceSynchronize();

    Writer writer = { (int *)again(stored, 4), (float *)again(there, bytes), (float *)again(back, bytes), rows, cols };
    pthread_t thread;
    pthread_create(&thread, NULL, write_behind, &writer);
    store_and_wait<<<1, 256>>>(back, stored, n);
    cudaDeviceSynchronize();
    pthread_join(thread, NULL);

    move<<<(n + 255) / 256, 256>>>(out, back, n);
    cudaDeviceSynchronize();
    munmap((void *)writer.stored, PAGE);
    munmap((void *)writer.there, pages_of(bytes));
    munmap(writer.back, pages_of(bytes));
    cudaFree(there);
    cudaFree(back);
    cudaFree(stored);
}
