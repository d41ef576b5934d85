// expect: unsupported 67
// says: the driver's cuNoSuch is not supported
// Preferences, what is known of functions, copies in one batch, and libraries from files.
#include "check.h"
#include <cuda_runtime.h>
#include <string.h>

__global__ void kernel(char a, double b, int *p) { *p = a + (int)b; }

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .u32 answer = 42;\n";

// What it becomes.
static size_t limit(cudaLimit which, size_t value)
{
    OK(cudaDeviceSetLimit(which, value));
    OK(cudaDeviceGetLimit(&value, which));
    return value;
}

int main()
{
    cudaFuncCache cache;
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    OK(cudaDeviceGetCacheConfig(&cache));
    CHECK(cache == cudaFuncCachePreferL1);
    CHECK(cudaDeviceSetCacheConfig((cudaFuncCache)9) == cudaErrorInvalidValue);
    OK(cudaCtxResetPersistingL2Cache());
    unsigned flags;
    OK(cudaGetDeviceFlags(&flags));
    CHECK(flags == cudaDeviceMapHost);
    OK(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
    OK(cudaGetDeviceFlags(&flags));
    CHECK(flags == (cudaDeviceMapHost | cudaDeviceScheduleSpin));
    CHECK(cudaSetDeviceFlags(1 << 20) == cudaErrorInvalidValue);
    CHECK(limit(cudaLimitStackSize, 5000) == 5008 && limit(cudaLimitPrintfFifoSize, 100) == 512 << 10);
    CHECK(limit(cudaLimitPrintfFifoSize, 1000000) == 1000192 && limit(cudaLimitMallocHeapSize, 5000000) == 5046272);
    size_t most;
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20) == cudaErrorInvalidValue);
    CHECK(cudaDeviceSetLimit((cudaLimit)77, 1) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetLimit(&most, cudaLimitDevRuntimeSyncDepth) == cudaErrorUnsupportedLimit);
    unsigned long long bytes = 1;
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
    CHECK(bytes == 0 && cudaDeviceGraphMemTrim(7) == cudaErrorInvalidDevice);

    size_t offset, size;
    OK(cudaFuncGetParamInfo((void *)kernel, 1, &offset, &size));
    CHECK(offset == 8 && size == 8);
    OK(cudaFuncGetParamInfo((void *)kernel, 2, &offset, NULL));
    CHECK(offset == 16);
    CHECK(cudaFuncGetParamInfo((void *)kernel, 3, &offset, &size) == cudaErrorInvalidValue);
    cudaFunction_t function;
    OK(cudaGetFuncBySymbol(&function, (void *)kernel));
    CHECK(cudaGetFuncBySymbol(&function, &size) == cudaErrorInvalidDeviceFunction);
    cudaKernel_t handle;
    cudaFuncAttributes of;
    OK(cudaGetKernel(&handle, (void *)kernel));
    OK(cudaKernelSetAttributeForDevice(handle, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536, 0));
    OK(cudaFuncGetAttributes(&of, kernel));
    CHECK(of.maxDynamicSharedSizeBytes == 65536);

    int host[] = { 1, 2, 3, 4 }, *p, back[2];
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    void *entry = &p, *to[] = { &back[0], &back[1] }, *from[] = { p + 3, p };
    CHECK(cudaGetDriverEntryPointByVersion("cuNoSuch", &entry, 13000, 0, NULL) != cudaSuccess && !entry);
    size_t sizes[] = { 4, 4 }, first = 0;
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    OK(cudaMemcpyBatchAsync(to, (const void **)from, sizes, 2, &how, &first, 1, s));
    OK(cudaStreamSynchronize(s));
    CHECK(back[0] == 4 && back[1] == 1);

    char path[] = "/tmp/warpwise-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    CHECK(file && fwrite(ptx, 1, strlen(ptx), file) == strlen(ptx) && fclose(file) == 0);
    cudaLibrary_t library;
    void *answer;
    int value = 0;
    OK(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    remove(path);
    OK(cudaLibraryGetGlobal(&answer, &size, library, "answer"));
    OK(cudaMemcpy(&value, answer, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 42 && size == 4);
    OK(cudaLibraryUnload(library));
    CHECK(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0) == cudaErrorFileNotFound);
    OK(cudaStreamDestroy(s));
    OK(cudaFree(p));
    return 0;
}
