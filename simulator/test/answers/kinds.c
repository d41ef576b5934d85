// More of kernels: what their attributes say, how much shared memory there is beside how many
// blocks, their parameters.
#include "ask.h"
#include <cuda_profiler_api.h>
#include <pthread.h>

static void constants_of(const char *whose, const void *kernel)
{
    struct cudaFuncAttributes a;
    DO(cudaFuncGetAttributes(&a, kernel));
    tell(whose, "constant %zu, shared %zu, local %zu, registers %d", a.constSizeBytes,
         a.sharedSizeBytes, a.localSizeBytes, a.numRegs);
    for (size_t i = 0; i < 7; i++) {
        char question[80];
        size_t offset = 77, size = 77;
        cudaError_t error = cudaFuncGetParamInfo(kernel, i, &offset, &size);
        snprintf(question, sizeof question, "%s, parameter %zu", whose, i);
        tell(question, "%s, %zu at %zu", cudaGetErrorName(error), size, offset);
        if (error) {
            cudaGetLastError();
            break;
        }
    }
    const char *name = NULL;
    ask("name", cudaFuncGetName(&name, kernel));
    tell("name", "%s", name ? name : "null");
}

GROUP(kernel_constants, 1)
{
    constants_of("nothing", (const void *)nothing);
    constants_of("add_one", (const void *)add_one);
    constants_of("bounded", (const void *)bounded);
    constants_of("large_parameter", (const void *)large_parameter);
    constants_of("many_parameters", (const void *)many_parameters);
    constants_of("large_table", (const void *)large_table);
    constants_of("divides", (const void *)divides);
    constants_of("uses_constant", (const void *)uses_constant);
    constants_of("local_memory", (const void *)local_memory);
    constants_of("fail_assert", (const void *)fail_assert);
    constants_of("recurse", (const void *)recurse);
    constants_of("static_shared", (const void *)static_shared);
    constants_of("print_integers", (const void *)print_integers);
    size_t size, offset;
    const char *name;
    ask("parameter's size to nowhere",
        cudaFuncGetParamInfo((const void *)add_one, 0, &offset, NULL));
    ask("parameter's offset to nowhere",
        cudaFuncGetParamInfo((const void *)add_one, 0, NULL, &size));
    ask("parameter of null", cudaFuncGetParamInfo(NULL, 0, &offset, &size));
    ask("name to nowhere", cudaFuncGetName(NULL, (const void *)add_one));
    ask("name of null", cudaFuncGetName(&name, NULL));
    ask("name of host memory", cudaFuncGetName(&name, &size));
}

static void beside(const char *whose, const void *kernel)
{
    static const struct {
        int blocks, threads;
    } shapes[] = { { 1, 32 },   { 1, 1024 }, { 2, 128 },  { 2, 1024 }, { 3, 100 }, { 4, 512 },
                   { 5, 32 },   { 6, 33 },   { 7, 256 },  { 8, 256 },  { 9, 64 },  { 11, 128 },
                   { 16, 128 }, { 17, 32 },  { 20, 96 },  { 24, 64 },  { 28, 32 }, { 31, 32 },
                   { 32, 64 },  { 32, 65 },  { 1, 1025 }, { 1, 0 },    { -1, 32 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char question[80];
        size_t bytes = 7;
        cudaError_t error = cudaOccupancyAvailableDynamicSMemPerBlock(
            &bytes, kernel, shapes[i].blocks, shapes[i].threads);
        snprintf(question, sizeof question, "%s, %d blocks of %d", whose, shapes[i].blocks,
                 shapes[i].threads);
        tell(question, "%s, %zu", cudaGetErrorName(error), bytes);
        cudaGetLastError();
    }
}

GROUP(shared_beside, 1)
{
    beside("nothing", (const void *)nothing);
    beside("static_shared", (const void *)static_shared);
    beside("dynamic_shared", (const void *)dynamic_shared);
    beside("bounded", (const void *)bounded);
    beside("divides", (const void *)divides);
    DO(cudaFuncSetAttribute((const void *)static_shared,
                            cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    beside("static_shared, 100000 allowed", (const void *)static_shared);
    DO(cudaFuncSetAttribute((const void *)dynamic_shared,
                            cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    beside("dynamic_shared, half of it", (const void *)dynamic_shared);
    size_t bytes;
    ask("of null", cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, NULL, 1, 32));
}

// ---- After a sticky error, and a reset

static void questions(const char *when)
{
    char q[80];
    void *p;
    int value = -7;
    unsigned flags;
    struct cudaDeviceProp prop;
    struct cudaFuncAttributes a;
#define ASK(words, call) (snprintf(q, sizeof q, "%s, " words, when), ask(q, call))
    ASK("set device 0", cudaSetDevice(0));
    ASK("device", cudaGetDevice(&value));
    ASK("devices", cudaGetDeviceCount(&value));
    ASK("properties", cudaGetDeviceProperties(&prop, 0));
    ASK("attribute", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    ASK("flags", cudaGetDeviceFlags(&flags));
    ASK("initialise", cudaInitDevice(0, 0, 0));
    ASK("free null", cudaFree(NULL));
    ASK("malloc", cudaMalloc(&p, 16));
    ASK("wait", cudaDeviceSynchronize());
    ASK("kernel's attributes", cudaFuncGetAttributes(&a, (const void *)nothing));
    ASK("launch", launch((const void *)nothing, 1, 1, NULL, 0, 0));
    ASK("create an event", cudaEventCreate(&(cudaEvent_t){ 0 }));
    ASK("create a stream", cudaStreamCreate(&(cudaStream_t){ 0 }));
    ASK("query", cudaStreamQuery(0));
    ASK("peek", cudaPeekAtLastError());
    ASK("set device 0 again", cudaSetDevice(0));
    ASK("versions", cudaRuntimeGetVersion(&value));
    ASK("driver's version", cudaDriverGetVersion(&value));
    ASK("can reach itself", cudaDeviceCanAccessPeer(&value, 0, 0));
    ASK("priorities", cudaDeviceGetStreamPriorityRange(&value, &value));
    ASK("bus", cudaDeviceGetPCIBusId((char[20]){ 0 }, 20, 0));
    ASK("set flags", cudaSetDeviceFlags(0));
    ASK("valid devices", cudaSetValidDevices(&(int){ 0 }, 1));
    ASK("choose", cudaChooseDevice(&value, &prop));
    ASK("set cache preference", cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    ASK("pool", cudaDeviceGetDefaultMemPool(&(cudaMemPool_t){ 0 }, 0));
    ASK("graph", cudaGraphCreate(&(cudaGraph_t){ 0 }, 0));
    ASK("profiler", cudaProfilerStart());
    ASK("wait for the own stream", cudaStreamSynchronize(cudaStreamPerThread));
    ASK("pool's memory", cudaMallocAsync(&p, 16, 0));
    ASK("reset", cudaDeviceReset());
#undef ASK
}

GROUP(after_trap, 1)
{
    questions("before");
    DO(launch((const void *)trap, 1, 1, NULL, 0, 0));
    ask("waiting", cudaDeviceSynchronize());
    questions("after the trap");
    questions("after the reset");
}

static void *in_thread(void *unused)
{
    (void)unused;
    ask("another thread, last error", cudaGetLastError());
    ask("another thread, set device", cudaSetDevice(0));
    ask("another thread, wait", cudaDeviceSynchronize());
    return NULL;
}

GROUP(after_trap_elsewhere, 1)
{
    pthread_t thread;
    DO(launch((const void *)trap, 1, 1, NULL, 0, 0));
    DO(cudaDeviceSynchronize() == cudaErrorLaunchFailure ? cudaSuccess : cudaErrorUnknown);
    if (!pthread_create(&thread, NULL, in_thread, NULL)) pthread_join(thread, NULL);
    ask("last error here", cudaGetLastError());
    ask("last error again", cudaGetLastError());
    ask("exit", cudaSuccess);
}
