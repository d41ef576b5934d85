// Copies to and from shared memory that can not be made, and what is left of a device behind them.
#include "ask.h"

static char *memory;

static void after_all(void)
{
    void *p;
    ask("waiting", cudaDeviceSynchronize());
    ask("then malloc", cudaMalloc(&p, 16));
    ask("then wait", cudaDeviceSynchronize());
}

static void copy_in_bulk(int stores, unsigned at, unsigned bytes, char *global)
{
    void *arguments[] = { &stores, &at, &bytes, &global };
    DO(launch((const void *)bulk, 1, 1, arguments, 0, 0));
    after_all();
}

#define BULK(name, stores, at, bytes, global)                                                      \
    GROUP(bulk_##name, 1)                                                                          \
    {                                                                                              \
        DO(cudaMalloc((void **)&memory, 4 << 20));                                                 \
        DO(cudaMemset(memory, 0, 4 << 20));                                                        \
        copy_in_bulk(stores, at, bytes, global);                                                   \
    }

BULK(in, 0, 0, 1024, memory)
BULK(in_past_the_end, 0, 512, 1024, memory)
BULK(in_behind_the_end, 0, 8192, 1024, memory)
BULK(in_at_200_kib, 0, 200 << 10, 1024, memory)
BULK(in_far_away, 0, 1 << 20, 1024, memory)
BULK(in_of_a_mebibyte, 0, 0, 1 << 20, memory)
BULK(in_before_the_start, 0, -16u, 16, memory)
BULK(in_from_null, 0, 0, 1024, NULL)
BULK(in_from_past_the_end, 0, 0, 1024, memory + (64 << 20))
BULK(in_misaligned, 0, 8, 16, memory)
BULK(in_from_misaligned, 0, 0, 16, memory + 8)
BULK(in_of_20_bytes, 0, 0, 20, memory)
BULK(in_of_no_bytes, 0, 1 << 20, 0, NULL)
BULK(out, 1, 0, 1024, memory)
BULK(out_past_the_end, 1, 512, 1024, memory)
BULK(out_behind_the_end, 1, 8192, 1024, memory)
BULK(out_far_away, 1, 1 << 20, 1024, memory)
BULK(out_to_null, 1, 0, 1024, NULL)
BULK(out_misaligned, 1, 8, 16, memory)
BULK(out_to_misaligned, 1, 0, 16, memory + 8)
BULK(out_of_20_bytes, 1, 0, 20, memory)

static void copy_with(unsigned at, const char *global)
{
    void *arguments[] = { &at, &global };
    DO(launch((const void *)copy_async, 1, 1, arguments, 0, 0));
    after_all();
}

GROUP(async_far_away, 1)
{
    DO(cudaMalloc((void **)&memory, 4096));
    copy_with(1 << 20, memory);
}
GROUP(async_misaligned, 1)
{
    DO(cudaMalloc((void **)&memory, 4096));
    copy_with(8, memory);
}
GROUP(async_from_null, 1)
{
    DO(cudaMalloc((void **)&memory, 4096));
    copy_with(0, NULL);
}
GROUP(async_from_misaligned, 1)
{
    DO(cudaMalloc((void **)&memory, 4096));
    copy_with(0, memory + 4);
}
