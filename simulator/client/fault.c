// Host code that touches device memory: the device is told where, before the program dies of it.

#define _GNU_SOURCE
#include "connection.h"
#include "address.h"
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static struct sigaction before; // what SIGSEGV did before us

static bool is_ours(const void *p) { return client_is_device(p) || client_is_pinned(p); }

// What the processor says of a fault.
typedef struct Fault {
    uint64_t at; // the instruction
    bool writes;
} Fault;

#if defined __x86_64__
static Fault fault_of(const mcontext_t *m)
{
    return (Fault){ (uint64_t)m->gregs[REG_RIP], m->gregs[REG_ERR] & 2 };
}
#elif defined __aarch64__
// Behind the registers lie records, of which one has the syndrome: its bit 6 says that it was a
// write.
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

// Host code touched device memory, or shared memory that was freed: tell the device where, then
// die as the program would have.
static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    if (getpid() == connection.owner && is_ours(info->si_addr)) {
        const Fault fault = fault_of(&((ucontext_t *)context)->uc_mcontext);
        WireRequest request = client_request(WIRE_FAULT, "host code");
        // The handler's own frame comes first; from the faulting instruction on is what matters.
        int from = 0;
        while (from < WIRE_CALLERS && request.caller[from] != fault.at) from++;
        uint64_t caller[WIRE_CALLERS] = { fault.at + 1 }; // + 1: the device looks one byte back
        for (int i = from + 1, to = 1; i < WIRE_CALLERS && to < WIRE_CALLERS; i++)
            caller[to++] = request.caller[i];
        memcpy(request.caller, caller, sizeof caller);
        request.fault.address = client_address(info->si_addr);
        request.fault.writes = fault.writes;
        client_tell(&request, NULL, 0);
    }
    sigaction(SIGSEGV, &before, NULL); // the instruction runs again, and dies
}

void fault_watch(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
}
