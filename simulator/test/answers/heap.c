// malloc and free in kernels.
#include "ask.h"

static size_t *found;

static void try_one(size_t bytes)
{
    char question[64];
    void *arguments[] = { &bytes, &found };
    snprintf(question, sizeof question, "%zu bytes", bytes);
    *found = 0;
    DO(launch((const void *)allocate, 1, 1, arguments, 0, 0));
    cudaError_t error = cudaDeviceSynchronize();
    tell(question, "%s, %s", cudaGetErrorName(error), *found ? "a pointer" : "null");
}

GROUP(heap, 1)
{
    DO(cudaMallocManaged((void **)&found, 64, cudaMemAttachGlobal));
    static const size_t sizes[] = { 0,        1,
                                    16,       4096,
                                    1 << 20,  4 << 20,
                                    7 << 20,  (7 << 20) + (1 << 19),
                                    8 << 20,  (8 << 20) + 1,
                                    16 << 20, (size_t)1 << 40 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) try_one(sizes[i]);
    try_one((size_t)-16);
}

GROUP(heap_of_64, 1)
{
    size_t limit = 0;
    DO(cudaMallocManaged((void **)&found, 64, cudaMemAttachGlobal));
    DO(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    try_one(0);
    ask("twice as many, once it is used", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128 << 20));
    DO(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    tell("limit", "%zu", limit);
}

GROUP(heap_twice_freed, 1)
{
    ask("free twice", launch((const void *)free_twice, 1, 1, NULL, 0, 0));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(heap_made_up, 1)
{
    ask("free what is not the heap's", launch((const void *)free_made_up, 1, 1, NULL, 0, 0));
    ask("afterwards", cudaDeviceSynchronize());
}

// ---- How much of the heap there is to have

static void most_of(size_t limit)
{
    DO(cudaMallocManaged((void **)&found, 64, cudaMemAttachGlobal));
    if (limit) DO(cudaDeviceSetLimit(cudaLimitMallocHeapSize, limit));
    void *arguments[] = { &found };
    DO(launch((const void *)allocate_most, 1, 1, arguments, 0, 0));
    DO(cudaDeviceSynchronize());
    tell("largest", "%zu", *found);
}

GROUP(heap_most, 1) { most_of(0); }
GROUP(heap_most_of_4, 1) { most_of(1); }
GROUP(heap_most_of_64, 1) { most_of(64 << 20); }
GROUP(heap_most_of_512, 1) { most_of(512 << 20); }

static void all_of(size_t bytes)
{
    DO(cudaMallocManaged((void **)&found, 64, cudaMemAttachGlobal));
    void *arguments[] = { &bytes, &found };
    DO(launch((const void *)allocate_all, 1, 1, arguments, 0, 0));
    DO(cudaDeviceSynchronize());
    tell("room", "for %zu", *found);
}

GROUP(heap_of_1024_bytes, 1) { all_of(1024); }
GROUP(heap_of_1905_bytes, 1) { all_of(1905); }
GROUP(heap_of_4096_bytes, 1) { all_of(4096); }
GROUP(heap_of_50000_bytes, 1) { all_of(50000); }
GROUP(heap_of_65536_bytes, 1) { all_of(65536); }
GROUP(heap_of_1000000_bytes, 1) { all_of(1000000); }

GROUP(heap_reset, 1)
{
    size_t limit = 0;
    DO(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    DO(cudaMallocManaged((void **)&found, 64, cudaMemAttachGlobal));
    try_one(32 << 20);
    ask("reset", cudaDeviceReset());
    DO(cudaMallocManaged((void **)&found, 64, cudaMemAttachGlobal));
    try_one(32 << 20);
    DO(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    tell("limit", "%zu", limit);
    ask("set it again", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    ask("afterwards", cudaDeviceSynchronize());
}
