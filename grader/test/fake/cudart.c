// As much of a CUDA runtime as the worker needs, for the grader's own tests:
// device memory is plain memory, and the test's functions do their work on the host.
#define _GNU_SOURCE
#include "fake_memory.h"
#include <stdlib.h>
#include <string.h>

enum { SUCCESS, MEMORY_ALLOCATION = 2 };
static int last; // what cudaGetLastError will say

// Nothing on a GPU, where no device has memory of its own here.
static __attribute__((constructor)) void map_memory(void)
{
    const char *file = getenv("FAKE_MEMORY");
    if (file && !fake_map(atoi(file))) abort();
}

int cudaMalloc(void **memory, size_t bytes)
{
    return (*memory = malloc(bytes)) ? SUCCESS : MEMORY_ALLOCATION;
}

int cudaMallocHost(void **memory, size_t bytes) { return cudaMalloc(memory, bytes); }

int cudaFree(void *memory)
{
    free(memory);
    return SUCCESS;
}

int cudaFreeHost(void *memory) { return cudaFree(memory); }

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    (void)kind;
    memcpy(to, from, bytes);
    return SUCCESS;
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

int cudaProfilerStart(void) { return SUCCESS; }
int cudaProfilerStop(void) { return SUCCESS; }

int cudaGetDeviceCount(int *count) { return *count = 1, SUCCESS; }

int cudaGetLastError(void)
{
    int error = last;
    last = SUCCESS;
    return error;
}

// The tests' way to make a call fail: no program of ours sets a device with such a number.
int cudaSetDevice(int error) { return last = error; }

int cudaDeviceSynchronize(void) { return SUCCESS; }

const char *cudaGetErrorName(int error)
{
    return error == 9 ? "cudaErrorInvalidConfiguration" : "?";
}

const char *cudaGetErrorString(int error)
{
    return error == 9 ? "invalid configuration argument" : "?";
}
