// The shared file in which the processes of a communicator find each other and tell each other
// what they call (NCCL's own "bootstrap" does this over sockets).
#pragma once
#include "multiprocess.h"
#include <stdint.h>
#include <sys/types.h>

// A rank's collective call, as the other ranks see it.
typedef struct OperationInfo {
    int kind, other;
    size_t count;
    int type, op;
} OperationInfo;

// One rank, as the other ranks see it.
typedef struct PeerInfo {
    pid_t process; // 0: the rank has not registered
    uint32_t ready, left;
    char machine[64];              // the name of its simulated machine (WIRE_ENVIRONMENT)
    char device[16];               // PCI bus id: "0000:01:00.0"
    uint64_t arrived;              // barriers that its host has reached
    OperationInfo info[2];         // used alternately
    cudaIpcEventHandle_t event[2]; // used alternately
    cudaIpcMemHandle_t memory;     // the staging buffer that the others read
} PeerInfo;

// Messages from one rank to another, at most one in flight.
typedef struct Connection {
    uint64_t posted, taken; // number of messages so far
    size_t bytes;
    bool fits;                 // the receiver expects that many bytes
    cudaIpcMemHandle_t memory; // the sender's
    cudaIpcEventHandle_t sent, got;
} Connection;

struct Bootstrap {
    uint32_t changed; // a futex, incremented with each change of what follows
    uint32_t ranks, failed;
    char name[64]; // of the file
    PeerInfo peer[MOST_PROCESSES];
    Connection connection[MOST_PROCESSES][MOST_PROCESSES]; // from, to
};

void bootstrap_notify(Bootstrap *bootstrap); // wakes every rank that waits for a change

// Waits until no rank is awaited any more. False: an awaited rank has ended, left or failed.
typedef bool BootstrapAwaits(const void *with, int rank);
bool bootstrap_wait(Bootstrap *bootstrap, BootstrapAwaits *awaits, const void *with,
                    const char *call, int rank);
