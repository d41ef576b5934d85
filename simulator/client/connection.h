// The socket to the device, for the files of the transport alone.
#pragma once
#include "transport.h"
#include <pthread.h>
#include <sys/types.h>

typedef struct Connection {
    pthread_mutex_t mutex; // held while a request and its reply are under way
    int socket, memory;    // inherited, then our own; -1: none
    char name[64];         // by which the machine is found; "": it is not
    pid_t owner;           // the process that opened it; 0: not yet
    cudaError_t failed;    // why opening failed
    WireFacts facts;
} Connection;

extern Connection connection;

cudaError_t connection_open(void); // once, with the mutex held
bool connection_send(const WireRequest *request, const void *tail, size_t bytes);

// The reply, and its tail. A device that has gone takes the program with it.
void connection_receive(WireReply *reply, void *out, size_t out_bytes);
_Noreturn void connection_lost(void);

void fault_watch(void); // fault.c: tells the device of host code that touches its memory
