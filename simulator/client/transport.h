// The transport of the client: sends requests to the device process and receives replies. It knows
// nothing of the files built on it; these use hooks for what must happen around a request.
#pragma once
#include "wire/row.h"
#include <driver_types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- transport.c: requests ----

// A request with its operation, the name for messages, the calling thread's device, and the
// program's call site.
WireRequest client_request(enum wire_op op, const char *call);

// Sends a request and waits for its reply. `tail` follows the request; the reply's tail goes to
// `out`. Returns the reply's error. Never blocks in a process that did not open the device: after a
// fork the error is cudaErrorInitializationError, without a device cudaErrorNoDevice.
cudaError_t client_call(WireRequest *request, const void *tail, size_t bytes, WireReply *reply,
                        void *out, size_t out_bytes);

// For requests without tails.
cudaError_t client_simple(WireRequest *request, WireReply *reply);

// For requests without an answer. Safe in a signal handler.
void client_tell(WireRequest *request, const void *tail, size_t bytes);

// Transfers data through the slots of the staging area. For each chunk `fill` (if any) stores bytes
// in the slot before the request, and `drain` (if any) reads them after the reply. The last reply
// is left in *reply.
typedef void client_chunk(void *context, void *slot, uint64_t offset, uint32_t bytes);
cudaError_t client_transfer(WireRequest *request, WireChunk *chunk, uint64_t total,
                            client_chunk *fill, client_chunk *drain, void *context,
                            WireReply *reply);

// Above 0: the thread's requests are parts of a call that the device has been told of.
extern __thread int client_within;

// ---- transport.c: the device ----

// Opens the device if this process has not done so.
cudaError_t client_open(void);

// client_open() for calls that need a context, which does not exist any more after a reset that
// followed a sticky error.
cudaError_t client_context(void);

cudaError_t client_sticky(void);     // the error that every later call returns; cudaSuccess: none
const WireFacts *client_facts(void); // after client_open() has succeeded
int client_memory(void);             // the memfd

bool client_are_devices(int a, int b);          // are both devices of the machine?
cudaError_t client_check_devices(int a, int b); // the error if not, or the sticky error
uint32_t client_device(void);                   // the calling thread's current device
uint32_t client_use_device(uint32_t device);    // sets it; returns the previous one
void client_prefer_device(uint32_t device);     // for threads that have chosen none

// ---- Hooks around a request ----

enum client_opening {
    CLIENT_NOT_GUARDED,
    CLIENT_OPEN_ALREADY, // the device has been told
    CLIENT_OPEN,
    CLIENT_OPEN_FOR_ONE, // for one instruction
};

// Hooks, any of which may be NULL. They cannot be removed.
typedef struct ClientHooks {
    struct ClientHooks *next;
    bool (*forbids)(void);                      // must the calling thread make no request now?
    void (*before)(const WireRequest *request); // the request is about to wait for its turn
    void (*just_before)(void); // the request's turn has come, or the program ends: sends what the
                               // device must know first (client_tell)
    // The device guards these pages of pinned memory, or does so no longer.
    void (*guards)(const WireGuard *guards, size_t count);
    // In signal handlers: host code may not access `at`. Opens its page, if it is guarded.
    // *address: that of the byte on the device. And an instruction has run for which pages were
    // open.
    enum client_opening (*opens)(const void *at, uint64_t *address);
    void (*closes)(void);
    int (*sleeps)(void); // the number of threads that only wait for requests, so that no kernel can
                         // wait for them
} ClientHooks;

void client_hook(ClientHooks *hooks);
enum client_opening client_opens(const void *at, uint64_t *address); // call them
void client_closes(void);
