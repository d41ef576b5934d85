// Prints the C table of every cudaError_t, with its name and NVIDIA's words for it, as the
// toolkit's own runtime gives them. Linked with that runtime, run once when the library is built.

#include <stdio.h>
#include <string.h>
#include <cuda_runtime_api.h>

int main(void)
{
    int count = 0;
    for (int code = 0; code < 20000; code++) {
        const char *name = cudaGetErrorName(code);
        if (!name || strncmp(name, "cuda", 4) != 0)
            continue;
        printf("{ %d, \"%s\", \"%s\" },\n", code, name, cudaGetErrorString(code));
        count++;
    }
    return count > 100 ? 0 : 1;
}
