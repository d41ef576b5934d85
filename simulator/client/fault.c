// Host code that touches device memory crashes. Before it does, the device is told where.

#define _GNU_SOURCE
#include "connection.h"
#include "address.h"
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static struct sigaction before; // the previous action for SIGSEGV

static bool is_ours(const void *p) { return client_is_device(p) || client_is_pinned(p); }

// A fault, as the processor reports it.
typedef struct Fault {
    uint64_t at; // address of the instruction
    bool writes;
} Fault;

#if defined __x86_64__
static Fault fault_of(const mcontext_t *m)
{
    return (Fault){ (uint64_t)m->gregs[REG_RIP], m->gregs[REG_ERR] & 2 };
}
#elif defined __aarch64__
// The registers are followed by records. The ESR record holds the exception syndrome, whose bit 6
// is set for a write.
static Fault fault_of(const mcontext_t *m)
{
    const uint8_t *end = m->__reserved + sizeof m->__reserved;
    const struct _aarch64_ctx *record = (const void *)m->__reserved;
    while (record->magic && record->magic != ESR_MAGIC
           && (const uint8_t *)record + record->size < end)
        record = (const void *)((const uint8_t *)record + record->size);
    return (Fault){ m->pc, record->magic == ESR_MAGIC
                               && ((const struct esr_context *)record)->esr & 1 << 6 };
}
#endif

// Host code touched device memory, or managed or pinned memory that was freed. Tells the device
// where, then lets the program crash as it would have.
static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    if (getpid() == connection.owner && is_ours(info->si_addr)) {
        const Fault fault = fault_of(&((ucontext_t *)context)->uc_mcontext);
        WireRequest request = client_request(WIRE_FAULT, "host code");
        // The call stack begins with this handler's frames: skip them, up to the faulting
        // instruction.
        int from = 0;
        while (from < WIRE_CALLERS && request.caller[from] != fault.at) from++;
        uint64_t caller[WIRE_CALLERS] = { fault.at + 1 }; // like a return address, one byte further
        for (int i = from + 1, to = 1; i < WIRE_CALLERS && to < WIRE_CALLERS; i++)
            caller[to++] = request.caller[i];
        memcpy(request.caller, caller, sizeof caller);
        request.fault.address = client_address(info->si_addr);
        request.fault.writes = fault.writes;
        client_tell(&request, NULL, 0);
    }
    sigaction(SIGSEGV, &before, NULL); // the instruction faults again, under the previous action
}

void fault_watch(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
}
