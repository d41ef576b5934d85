// Prints the C table of all cudaError_t codes, with the names and descriptions that the toolkit's
// own runtime returns. The last row holds what it returns for any other code. Linked with that
// runtime, and run once, when the simulated device and its library are built.

#include <stdio.h>
#include <string.h>
#include <cuda_runtime_api.h>

static void print(int code)
{
    printf("{ %d, \"%s\", \"%s\" },\n", code, cudaGetErrorName(code), cudaGetErrorString(code));
}

int main(void)
{
    int count = 0;
    for (int code = 0; code < 20000; code++) {
        const char *name = cudaGetErrorName(code);
        if (!name || strncmp(name, "cuda", 4) != 0) continue;
        print(code);
        count++;
    }
    print(-1);
    return count > 100 ? 0 : 1;
}
