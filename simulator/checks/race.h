// What is between the rooms that look for races: race.c, which sees every access, and race_report.c, which tells.
#pragma once
#include "happens.h"
#include "machine/memory.h"
#include "report/report.h"
#include "shadow.h"
#include "stream_order.h"

// A launch, or a copy or fill that the host commands.
typedef struct Operation {
    u64 number;                 // among those of the streams (clock.h)
    const Kernel *kernel;       // NULL: a copy or fill
    u32 device;                 // of a launch,
    bool sees_others;           // whose blocks may see one another, by flags or atomics
    u32 first_block;            // its blocks' numbers among those of all launches that are remembered (happens.h)
    u64 blocks;
    Order before;               // what lies before its beginning by stream order
    u32 over;                   // the operation that was last found to come before it
    Knowledge known;            // what flags have told the blocks of it that have ended
    u32 grid[3], block[3], cluster[3];      // cluster: {1,1,1} where there are none
    char call[48];              // "cudaMemcpyAsync"
    u64 callers[MEMORY_CALLERS];    // of that call: host return addresses
} Operation;

// One side of a race.
typedef struct Side {
    const Operation *operation;
    u32 block, warp, lane, pc;
    bool store;
} Side;

typedef struct Race {
    Side now, before;           // as they were looked at, which says nothing of their order
    enum space space;
    const Block *owner;         // shared: whose it is
    u64 address;
    enum before order;
    bool block_only, cluster_only;      // both are strong, one of them for its own block alone, or cluster,
    bool device_only;           // or for its own device alone, and they are of two
    const Insn *parted;         // a barrier at which one lane of the warp stands while another has gone by; or NULL
} Race;

void race_report(const Race *);

// What is wrong where a block of a cluster touches the shared memory of another one, which may not be there: it may not have
// begun, or, at its end, `ends`, the access may still be to come.
void race_report_absent(const Side *, const Block *owner, bool ends);

// A copy or fill begins, and this is a range of device memory that it reads, or stores to: reports what conflicts with
// operations on other streams that nothing puts before it. `lasts`: the host does not wait for it.
void race_transfer(const Operation *, bool lasts);
void race_range(u64 address, u64 bytes, bool store);

// The kernels of earlier operations are gone, or nothing is at work any more.
void race_forget(void);
