// The device that is imitated: the figures of profiles/devices/NAME.cfg.
#pragma once
#include "base.h"

enum { MOST_CARVEOUTS = 16, MOST_CLUSTER_GROUPS = 32, LOAD_PARTS = 6 };

typedef struct Profile {
    char name[256];   // as cudaDeviceProp.name
    int major, minor; // compute capability
    int sm_count;
    int max_threads_per_sm, max_blocks_per_sm, registers_per_sm;
    int shared_per_sm, shared_per_block, shared_per_block_optin, shared_reserved_per_block; // bytes
    int l1_bytes, l1_ways; // of an SM, shared memory's part included
    int carveouts[MOST_CARVEOUTS],
        carveout_count; // bytes of it that shared memory may have, rising
    int l2_bytes, l2_ways;
    int l2_partitions;
    double l2_room;                        // part of l2_bytes that different lines have
    int l2_aside_places;                   // model/l2.c
    double l2_dirty_ways, l2_partial_ways; // of a set's lines, that may wait to be written back: at
                                           // all, and with parts missing
    int l1_waiting_lines;                  // stored to, until a part of a sector has left L1 for L2
    double l2_completion_seconds; // from when such a part is asked for until the line is written
    double l2_write_seconds;      // from when a line is to leave L2 until DRAM has it
    double l2_waiting_ways;       // and none waits longer than until so many others have been used
    int cluster_sms[MOST_CLUSTER_GROUPS],
        cluster_groups; // multiprocessors of each group; a cluster's blocks are all in one
    int gpc_count,
        l2_reads_merged;    // reads of one sector by SMs of a GPC that go on to L2 as one, at most
    int dram_granule_bytes; // bytes that DRAM reads or writes at a time
    u64 memory_bytes;
    double clock_hz; // SM clock under load
    double memory_clock_hz;
    int memory_bus_bits;
    double dram_bytes_per_second;  // peak
    double issue_per_sm_per_clock; // warp instructions
    double launch_call_seconds, event_call_seconds, untimed_event_call_seconds, wait_call_seconds,
        synchronize_call_seconds; // of the host, for a call
    double async_copy_call_seconds, fill_call_seconds, host_function_call_seconds;
    double graph_call_seconds, graph_node_call_seconds; // cudaGraphLaunch(), and for each node
    double nccl_call_seconds;                           // ncclAllReduce(), in a group with others
    double graph_seconds;                               // host to the first of a graph's operations
    double graph_kernel_seconds;  // instead of launch_seconds, for a kernel in a graph
    double host_function_seconds; // from the end of the work before one to the beginning of that
                                  // behind it
    double copy_bytes_per_second,
        copy_back_bytes_per_second; // host to device over PCIe, pinned; and back
    double pageable_bytes_per_second, pageable_back_bytes_per_second;
    double copy_seconds, copy_back_seconds, device_copy_seconds, fill_seconds; // for the first byte
    double link_bytes_per_second;    // between devices, in each direction
    double link_seconds;             // for the first byte of a copy
    double link_load_seconds;        // for a load of a kernel's
    double managed_bytes_per_second; // pages of managed memory, over the bus
    double managed_fault_seconds;    // for each group of 64 KiB that a fault brings
    // timing
    double alu_lanes_per_clock;
    double fma_lanes_per_clock;
    double imad_lanes_per_clock;
    double fp64_lanes_per_clock;
    double xu_lanes_per_clock;
    double shuffle_lanes_per_clock;
    double tensor_clocks,
        tensor_latency_clocks; // of a scheduler's Tensor Core: products of 16 x 8 elements,
    double tensor_short_clocks,
        tensor_short_latency_clocks; // of 32 bytes of factors each, and of 16
    double alu_latency_clocks;
    double fp64_latency_clocks;
    double xu_latency_clocks;
    double shuffle_latency_clocks;
    double atomic_random_lanes_per_clock;
    double half2_latency_clocks;
    double shared_latency_clocks;
    double shared_clocks_per_request;
    double l1_latency_clocks;
    double l1_clocks_per_request;
    double l2_latency_clocks;
    double l2_read_bytes_per_clock;
    double l2_write_bytes_per_clock;
    double l2_bytes_per_sm_per_clock;
    double l2_random_sectors_per_clock;
    double l2_random_writes_per_clock;
    double dram_load_clocks[LOAD_PARTS]; // that 5, 25, 50, 75, 90 and 99 of a hundred loads take at
                                         // most
    double dram_read_bytes_per_second;
    double dram_random_sectors_per_second;
    double atomic_latency_clocks;
    double atomic_one_place_per_clock;
    double barrier_latency_clocks;
    double barrier_clocks_per_warp;
    double cluster_latency_clocks;     // of a load from another block's shared memory
    double cluster_clocks_per_request; // of such loads, of four sectors each
    double cluster_barrier_clocks;
    double block_clocks;       // between two blocks that the device begins, times its SMs
    double block_turn_clocks;  // from the end of a block until its place on the SM has the next
    double warp_launch_clocks; // between two warps of a block that begins
    double kernel_seconds;
} Profile;

// Reads `path` (libconfig). On an error prints file, line and what is wrong, and returns false.
bool profile_load(const char *path, Profile *profile);

extern Profile profile; // the one in force
