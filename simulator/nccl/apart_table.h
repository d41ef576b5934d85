// The table that the ranks of several processes sit at: a file of shared memory.
#pragma once
#include "apart.h"
#include <stdint.h>
#include <sys/types.h>

// What a rank was asked to do, as the others see it.
typedef struct Asked {
    int kind, other;
    size_t count;
    int type, op;
} Asked;

typedef struct Seat {
    pid_t process; // 0: it is free
    uint32_t ready, left;
    char machine[64]; // by what name programs find the simulated machine that it is on,
    char device[16];  // and its device: "0000:01:00.0"
    uint64_t arrived; // how often its rank has come to where all meet
    Asked asked[2];   // in turns
    cudaIpcEventHandle_t event[2]; // in turns, too
    cudaIpcMemHandle_t memory;     // where the others read what it gives
} Seat;

// Messages from one rank to another, one at a time.
typedef struct Channel {
    uint64_t posted, taken; // so many so far
    size_t bytes;
    bool fits;                 // the receiver wanted so many bytes
    cudaIpcMemHandle_t memory; // the sender's
    cudaIpcEventHandle_t sent, got;
} Channel;

struct Table {
    uint32_t changed; // each time that anything below has
    uint32_t ranks, failed;
    char name[64]; // of the file
    Seat seat[MOST_APART];
    Channel channel[MOST_APART][MOST_APART]; // from, to
};

void table_change(Table *table); // wakes those who wait for a change

// Waits until none is awaited any more. False: one of them has ended, or left, or failed.
typedef bool table_awaits(const void *with, int rank);
bool table_wait(Table *table, table_awaits *awaits, const void *with, const char *call, int rank);
