// The socket to the device, for the files of the layer `transport`.
#pragma once
#include "transport.h"
#include <pthread.h>
#include <sys/types.h>

typedef struct Connection {
    pthread_mutex_t mutex; // held while a request and its reply are under way
    int socket, memory;    // descriptors: inherited, later this process's own; -1: none
    char name[64];         // of the machine's socket; "": none
    pid_t owner;           // the process that opened it; 0: not yet
    cudaError_t failed;    // why opening failed
    WireFacts facts;
} Connection;

extern Connection connection;

cudaError_t connection_open(void); // if it is not open yet; the caller holds the mutex
bool connection_send(const WireRequest *request, const void *tail, size_t bytes);

// Receives a reply and its tail. Ends the program if the device process has ended.
void connection_receive(WireReply *reply, void *out, size_t out_bytes);
_Noreturn void connection_lost(void);

// fault.c: handles SIGSEGV, which tells of host code that touches device memory or guarded pinned
// memory. Does the program leave it to us?
void fault_watch(void);
bool fault_is_watched(void);
#if defined __x86_64__
enum { fault_can_step = 1 }; // it can stop the program after one instruction
#else
enum { fault_can_step = 0 };
#endif
