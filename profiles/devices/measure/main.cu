// Measures the GPU of this machine and writes its profile: `make device-profile`.
//
//     measure >profiles/devices/NAME.cfg
//
// What the hardware is comes from its driver, what it does from microbenchmarks, a room for each kind. Rates are the
// medians of nine runs; latencies come from chains in which each step waits for the one before (as in Jia et al.,
// arXiv:1804.06826). The GPU should have nothing else to do.
#include <cstring>

#include "measure.h"

cudaDeviceProp device;
double clock_hz;

void figure(const char *name, double value, const char *how)
{
    printf("%s = %.4e;%*s// %s\n", name, value, (int)std::max<size_t>(1, 32 - std::min<size_t>(31, strlen(name))), "",
           how);
    fflush(stdout);
}

void heading(const char *words)
{
    printf("\n// ---- %s\n\n", words);
}

static int attribute(cudaDeviceAttr which)
{
    int value;
    OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

// What the driver does not tell: NVIDIA's tuning guides and the architectures' white papers, by compute capability.
struct Known { int major, minor; int l1_kb; const char *carveouts; int l2_partitions, gpcs; };
static const Known known[] = {
    { 7, 5, 96, "32768, 65536", 1, 6 },
    { 8, 0, 192, "0, 8192, 16384, 32768, 65536, 102400, 135168, 167936", 2, 7 },
    { 8, 6, 128, "0, 8192, 16384, 32768, 65536, 102400", 1, 7 },
    { 8, 7, 192, "0, 8192, 16384, 32768, 65536, 102400, 135168, 167936", 1, 2 },
    { 8, 9, 128, "0, 8192, 16384, 32768, 65536, 102400", 1, 11 },
    { 9, 0, 256, "0, 8192, 16384, 32768, 65536, 102400, 135168, 167936, 200704, 233472", 2, 8 },
    { 10, 0, 256, "0, 8192, 16384, 32768, 65536, 102400, 135168, 167936, 200704, 233472", 2, 8 },
    { 12, 0, 128, "0, 8192, 16384, 32768, 65536, 102400", 1, 12 },
};

static void write_known()
{
    const Known *k = known;
    for (const Known &row : known)
        if (row.major * 10 + row.minor <= device.major * 10 + device.minor)
            k = &row;
    printf("\n// Of compute capability %d.%d, as NVIDIA's tuning guides and ncu say; the ways are not published.\n", k->major, k->minor);
    printf("l1_bytes = %d;\ncarveouts = [%s];\nl1_ways = 16;\nl2_ways = 16;\nl2_partitions = %d;\ngpc_count = %d;\n", k->l1_kb << 10,
           k->carveouts, k->l2_partitions, k->gpcs);
    printf("l2_room = 0.73;                         // fitted on an H200: 8 to 64 MB read twice\n");
    printf("l2_dirty_ways = 9.5;                    // fitted on an H200: how much of 16 to 96 MB that a kernel writes goes to DRAM before it ends\n");
    printf("l2_partial_ways = 2.5;                  // fitted on an H200: the same of a word of each sector of 8 to 128 MB\n");
    printf("l2_completion_seconds = 2.0e-6;         // fitted on an H200: what such kernels have read of it, and not yet written, when they end\n");
    printf("l2_write_seconds = 0.9e-6;              // fitted on an H200: how much of 16 to 96 MB that a kernel writes, or copies, has gone to DRAM when it ends\n");
    printf("l1_waiting_lines = 24;                  // fitted on an H200: rows of 5 to 31 words, a warp each\n");
    printf("l2_waiting_ways = 14.0;                 // fitted on an H200: kernels add_double, copy_float, copy_float4\n");
    printf("l2_aside_places = 12500;                // fitted on an H200: look-ups that no access asks for, where 1 to 48 MB are read or written\n");
    printf("l2_reads_merged = 3;                    // fitted on an H200: kernels bodies_tiled, matmul_registers, matmul_naive\n");
}

static void write_hardware()
{
    int driver, runtime;
    OK(cudaDriverGetVersion(&driver));
    OK(cudaRuntimeGetVersion(&runtime));
    printf("// Written by `make device-profile` on that GPU: CUDA driver %d.%d, runtime %d.%d. What it is, as the driver says it,\n"
           "// and what profiles/devices/measure/ measured; each figure says how.\n",
           driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    printf("name = \"%s\";\ncompute_capability = [%d, %d];\n\n", device.name, device.major, device.minor);
    printf("sm_count = %d;\n", device.multiProcessorCount);
    printf("max_threads_per_sm = %d;\n", device.maxThreadsPerMultiProcessor);
    printf("max_blocks_per_sm = %d;\n", device.maxBlocksPerMultiProcessor);
    printf("registers_per_sm = %d;\n", device.regsPerMultiprocessor);
    printf("shared_per_sm = %zu;                 // bytes\n", device.sharedMemPerMultiprocessor);
    printf("shared_per_block = %zu;\n", device.sharedMemPerBlock);
    printf("shared_per_block_optin = %zu;\n", device.sharedMemPerBlockOptin);
    printf("shared_reserved_per_block = %zu;\n", device.reservedSharedMemPerBlock);
    printf("l2_bytes = %d;\n", device.l2CacheSize);
    printf("memory_bytes = %zuL;\n", device.totalGlobalMem);
    double memory_clock = 1e3 * attribute(cudaDevAttrMemoryClockRate);
    printf("memory_clock_hz = %.4e;\n", memory_clock);
    printf("memory_bus_bits = %d;\n", device.memoryBusWidth);
    printf("dram_bytes_per_second = %.4e;          // both edges of the memory clock over the bus\n",
           2 * memory_clock * device.memoryBusWidth / 8);
    printf("issue_per_sm_per_clock = 4.0;           // four schedulers, one warp instruction each, since Volta\n");
}

int main()
{
    OK(cudaGetDeviceProperties(&device, 0));
    write_hardware();
    write_known();
    measure_clock();
    measure_memory();
    measure_pipes();
    measure_clusters();
    measure_tensor();
    measure_atomics();
    measure_host();
    return 0;
}
