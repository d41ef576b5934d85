// expect: exit 0
// Host memory that is registered: kernels reach it in place, host and device see what the other wrote, and its
// neighbours stay what they were. So do the stack's variables, two of which may lie in one page.
#include "check.h"
#include <string.h>

enum { N = 3000 };

__global__ void add(int *p, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        p[i] += value;
}

static int table[N];                            // a variable of the program

static void use(int *p)
{
    int *on_device;
    cudaPointerAttributes of;
    for (int i = 0; i < N; i++)
        p[i] = i;
    OK(cudaHostRegister(p, N * sizeof *p, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&on_device, p, 0));
    int *inside;
    OK(cudaHostGetDevicePointer(&inside, p + 5, 0));
    CHECK(inside == on_device + 5);
    OK(cudaPointerGetAttributes(&of, p + 5));
    CHECK(of.type == cudaMemoryTypeHost && of.hostPointer == p + 5 && of.devicePointer == inside);
    add<<<N / 256 + 1, 256>>>(on_device, 7);
    OK(cudaDeviceSynchronize());
    CHECK(p[0] == 7 && p[N - 1] == N + 6);
    p[3] = 100;
    add<<<N / 256 + 1, 256>>>(on_device, 1);
    OK(cudaDeviceSynchronize());
    CHECK(p[3] == 101);
    OK(cudaHostUnregister(p));
    CHECK(p[3] == 101 && p[N - 1] == N + 7);
    p[4] = 1;
}

__global__ void wait_for(const volatile int *go, int *seen)
{
    while (!*go) {}
    *seen = *go;
}

// A kernel that goes on when the host says so, by two variables side by side.
static int let_go(int value)
{
    struct { int go, seen; } flags = { 0, 0 };
    int *go, *seen, before = value + 1;
    OK(cudaHostRegister(&flags.go, sizeof flags.go, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&go, &flags.go, 0));
    OK(cudaHostRegister(&flags.seen, sizeof flags.seen, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&seen, &flags.seen, 0));
    wait_for<<<1, 1>>>(go, seen);
    *(volatile int *)&flags.go = value;
    OK(cudaDeviceSynchronize());
    CHECK(flags.seen == value);
    OK(cudaHostUnregister(&flags.go));
    add<<<1, 1>>>(seen, 3);                     // the other is still there
    OK(cudaDeviceSynchronize());
    CHECK(flags.seen == value + 3);
    OK(cudaHostUnregister(&flags.seen));
    CHECK(flags.seen == value + 3 && flags.go == value && before == value + 1);
    return value < 5 ? let_go(value + 1) : value;
}

int main()
{
    CHECK(let_go(1) == 5);
    char *block = (char *)malloc(1 << 20), *odd = block + 4000 + 8;
    memset(block, 'x', 1 << 20);
    use((int *)odd);
    CHECK(block[4007] == 'x' && odd[N * sizeof(int)] == 'x');
    use((int *)odd);                            // again
    use(table);
    OK(cudaHostRegister(table, sizeof table, 0));
    table[1] = 17;
    OK(cudaDeviceReset());
    CHECK(table[1] == 17);
    free(block);
    return 0;
}
