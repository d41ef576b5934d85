// Host code that touches device memory crashes. Before it does, the device is told where.

#define _GNU_SOURCE
#include "connection.h"
#include "address.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static struct sigaction before;      // the previous action for SIGSEGV
static struct sigaction before_trap; // and for SIGTRAP
static __thread bool stepping __attribute__((tls_model("initial-exec")));

static bool is_ours(const void *p) { return client_is_device(p) || client_is_pinned(p); }

// A fault, as the processor reports it.
typedef struct Fault {
    uint64_t at; // address of the instruction
    bool writes;
} Fault;

#if defined __x86_64__
// The processor stops, with SIGTRAP, after the next instruction, or no longer does.
static void set_step(mcontext_t *m, bool on)
{
    enum { TRAP_FLAG = 1 << 8 };
    m->gregs[REG_EFL] = on ? m->gregs[REG_EFL] | TRAP_FLAG : m->gregs[REG_EFL] & ~TRAP_FLAG;
}

static Fault fault_of(const mcontext_t *m)
{
    return (Fault){ (uint64_t)m->gregs[REG_RIP], m->gregs[REG_ERR] & 2 };
}
#elif defined __aarch64__
static void set_step(mcontext_t *m, bool on)
{
    (void)m;
    (void)on;
}

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

// Tells the device what host code accesses, and where: safe in a signal handler.
static void tell(enum wire_op op, uint64_t address, const Fault *fault, bool opened)
{
    WireRequest request = client_request(op, "host code");
    // The call stack begins with this handler's frames: skip them, up to the faulting instruction.
    int from = 0;
    while (from < WIRE_CALLERS && request.caller[from] != fault->at) from++;
    uint64_t caller[WIRE_CALLERS] = { fault->at + 1 }; // like a return address, one byte further
    for (int i = from + 1, to = 1; i < WIRE_CALLERS && to < WIRE_CALLERS; i++)
        caller[to++] = request.caller[i];
    memcpy(request.caller, caller, sizeof caller);
    request.fault.address = address;
    request.fault.writes = fault->writes;
    request.fault.opened = opened;
    client_tell(&request, NULL, 0);
}

// A signal that was sent (by raise() or kill()) has no instruction that runs again: it is sent once
// more, and comes under the previous action when the handler returns.
static void on_sent(int signal, const struct sigaction *action)
{
    sigaction(signal, action, NULL);
    raise(signal);
}

static bool is_sent(const siginfo_t *info) { return info->si_code <= 0; }

// Host code touched guarded pinned memory: it goes on once the device is told. Or it touched device
// memory, or managed or pinned memory that was freed: it crashes as it would have.
static void on_fault(int signal, siginfo_t *info, void *context)
{
    int error = errno;
    if (is_sent(info)) {
        on_sent(signal, &before);
        return;
    }
    bool owner = getpid() == connection.owner;
    const Fault fault = fault_of(&((ucontext_t *)context)->uc_mcontext);
    uint64_t address = 0;
    enum client_opening opening = client_opens(info->si_addr, &address);
    if (opening == CLIENT_NOT_GUARDED) {
        if (owner && is_ours(info->si_addr))
            tell(WIRE_FAULT, client_address(info->si_addr), &fault, false);
        sigaction(SIGSEGV, &before, NULL); // it faults again, under the previous action
        return;
    }
    if (opening == CLIENT_OPEN_FOR_ONE)
        set_step(&((ucontext_t *)context)->uc_mcontext, stepping = true);
    if (owner && opening != CLIENT_OPEN_ALREADY)
        tell(WIRE_TOUCH, address, &fault, opening == CLIENT_OPEN);
    errno = error;
}

// The instruction has run for which guarded pages were opened.
static void on_trap(int signal, siginfo_t *info, void *context)
{
    int error = errno;
    if (stepping && !is_sent(info)) {
        set_step(&((ucontext_t *)context)->uc_mcontext, stepping = false);
        client_closes();
    } else if (before_trap.sa_flags & SA_SIGINFO) {
        before_trap.sa_sigaction(signal, info, context);
    } else if (before_trap.sa_handler != SIG_DFL && before_trap.sa_handler != SIG_IGN) {
        before_trap.sa_handler(signal);
    } else {
        on_sent(signal, &before_trap);
    }
    errno = error;
}

bool fault_is_watched(void)
{
    struct sigaction now;
    return sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO
        && now.sa_sigaction == on_fault;
}

void fault_watch(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
    action.sa_sigaction = on_trap;
    sigaction(SIGTRAP, &action, &before_trap);
}
