// The lowest part of the client: a request goes to the device process, and its reply comes back. It
// knows nothing of what is built on it; what others must do around a request they say by hooks.
#pragma once
#include "wire/row.h"
#include <driver_types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- transport.c: requests ----

// A request with its operation, the name for messages, the calling thread's device, and where the
// program called us from.
WireRequest client_request(enum wire_op op, const char *call);

// Sends a request and waits for its answer. `tail` follows the request; the reply's tail goes to
// `out`. Returns the answer's error. Never blocks in a process that did not open the device: after
// a fork that is cudaErrorInitializationError, without a device cudaErrorNoDevice.
cudaError_t client_call(WireRequest *request, const void *tail, size_t bytes, WireReply *reply,
                        void *out, size_t out_bytes);

// For requests without tails.
cudaError_t client_simple(WireRequest *request, WireReply *reply);

// For requests without an answer. Safe in a signal handler.
void client_tell(WireRequest *request, const void *tail, size_t bytes);

// A transfer through the slots of the staging area. For each chunk: `fill` (if any) puts bytes in
// before it is sent, `drain` (if any) takes them out when it is answered. The last answer is left
// in *reply.
typedef void client_chunk(void *context, void *slot, uint64_t offset, uint32_t bytes);
cudaError_t client_transfer(WireRequest *request, WireChunk *chunk, uint64_t total,
                            client_chunk *fill, client_chunk *drain, void *context,
                            WireReply *reply);

extern __thread int client_within; // requests are parts of a call that the device has been told of

// ---- transport.c: the device ----

// Opens the device if this process has not done so.
cudaError_t client_open(void);

// client_open(), and what calls give after it that need a context of the device's: none can be had
// once the device has been reset after a sticky error.
cudaError_t client_context(void);

cudaError_t client_sticky(void); // the error that the device has last told of; cudaSuccess: none
const WireFacts *client_facts(void); // after client_open() has succeeded
int client_memory(void);             // the memfd

bool client_are_devices(int a, int b);          // are both devices of the machine?
cudaError_t client_check_devices(int a, int b); // the error if not, or the sticky one
uint32_t client_device(void);                   // the calling thread's current one
uint32_t client_use_device(uint32_t device);    // another one; returns the one before
void client_prefer_device(uint32_t device);     // of threads that have used none

// ---- What others do around a request ----

// Any of them may be NULL. What is hooked stays so.
typedef struct ClientHooks {
    struct ClientHooks *next;
    bool (*forbids)(void);                      // may the calling thread make no request now?
    void (*before)(const WireRequest *request); // it is about to wait for its turn
    void (*just_before)(void); // its turn has come, or the program ends: what the device must be
                               // told before (client_tell)
    int (*sleeps)(void); // how many threads there are that wait for nothing but what is asked of
                         // them, so that no kernel can wait for them
} ClientHooks;

void client_hook(ClientHooks *hooks);
