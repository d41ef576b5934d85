// expect: race 38, race 48, race 57, race 71, race 84, exit 0
// says: host code reads pinned memory that kernel put(int*, int) may still be writing, at byte 36 of the 4096-byte allocation
// says: host code writes pinned memory that kernel put(int*, int) may still be writing
// The host looks at mapped memory that a kernel writes, before it has waited for it: at what the kernel writes, and at what lies
// beside that.
#include "check.h"

enum { N = 1024 };

__global__ void put(int *p, int value) { p[threadIdx.x] = value; }
__global__ void put_there(int *const *list) { list[0][threadIdx.x] = 8; }

static int *p;
static cudaStream_t s, t;

static int *on_device(void *host)
{
    void *there;
    OK(cudaHostGetDevicePointer(&there, host, 0));
    return (int *)there;
}

static void wait_and_clear()
{
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        p[i] = -1;
}

static void plain()
{
    wait_and_clear();
    put<<<1, 64, 0, s>>>(on_device(p), 5);
    CHECK(p[64] == -1);                 // not what it writes
    OK(cudaStreamSynchronize(s));
    CHECK(p[63] == 5);
    put<<<1, 64, 0, s>>>(p, 6);
    CHECK(p[9] == 5);
    OK(cudaStreamSynchronize(s));
    CHECK(p[9] == 6);
}

static void after_other_calls()
{
    wait_and_clear();
    put<<<1, 64, 0, s>>>(on_device(p), 5);
    OK(cudaStreamSynchronize(t));
    p[9] = 0;
    OK(cudaStreamSynchronize(s));
}

static void registered(int *memory)
{
    OK(cudaHostRegister(memory, N * sizeof *memory, cudaHostRegisterMapped));
    memory[1] = -1;
    put<<<1, 64, 0, s>>>(on_device(memory), 5);
    CHECK(memory[1] == -1);
    OK(cudaStreamSynchronize(s));
    CHECK(memory[1] == 5);
    OK(cudaHostUnregister(memory));
    CHECK(memory[63] == 5);
}

// A large block of malloc's, which does not begin with a page.
static void block()
{
    int *memory = (int *)malloc(1 << 20);
    OK(cudaHostRegister(memory, 1 << 20, cudaHostRegisterDefault));
    memory[1] = -1;
    put<<<1, 64, 0, s>>>(on_device(memory), 5);
    memory[1]++;
    OK(cudaHostUnregister(memory));
    CHECK(memory[1] == 5);
    free(memory);
}

// The kernel finds the pointer in memory.
static void hidden(int **list)
{
    wait_and_clear();
    OK(cudaMemcpy(list, &p, sizeof p, cudaMemcpyHostToDevice));
    put_there<<<1, 64, 0, s>>>(list);
    OK(cudaStreamSynchronize(t));
    p[7] = 1;
    OK(cudaStreamSynchronize(s));
}

int main()
{
    int **list, *memory;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaHostAlloc(&p, N * sizeof *p, cudaHostAllocMapped));
    OK(cudaMalloc(&list, sizeof *list));
    CHECK(posix_memalign((void **)&memory, 4096, N * sizeof *memory) == 0);
    plain();
    after_other_calls();
    registered(memory);
    block();
    hidden(list);
    free(memory);
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    OK(cudaFreeHost(p));
    OK(cudaFree(list));
    return 0;
}
