// The connection to the device: opened at the first call, by one process only, one request at a
// time.

#define _GNU_SOURCE
#include "client.h"
#include "host.h"
#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <ucontext.h>
#include <unistd.h>

static struct {
    pthread_mutex_t mutex;
    int socket, memory; // inherited, then our own; -1: none
    char name[64];      // by which the machine is found; "": it is not
    pid_t owner;        // the process that opened it; 0: not yet
    cudaError_t failed; // why opening failed
    int sticky;
    bool said; // that there is no device
    WireFacts facts;
    struct sigaction before; // what SIGSEGV did before us
} device = { .mutex = PTHREAD_MUTEX_INITIALIZER, .socket = -1, .memory = -1 };

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

// Where the program called us from: the stack, less our own frames. What comes before the first of
// those is backtrace() itself, where AddressSanitizer puts its own in the way.
static void find_callers(uint64_t *caller)
{
    void *frames[WIRE_CALLERS + 8];
    int count = backtrace(frames, WIRE_CALLERS + 8), kept = 0;
    bool inside = false;
    for (int i = 0; i < count && kept < WIRE_CALLERS; i++) {
        const char *frame = frames[i];
        if (frame >= __ehdr_start && frame < _end) inside = true;
        else if (inside) caller[kept++] = client_address(frame);
    }
}

__thread int client_within;

WireRequest client_request(enum wire_op op, const char *call)
{
    WireRequest request = {
        .version = WIRE_VERSION, .op = op, .device = client_device(), .within = client_within > 0
    };
    snprintf(request.call, sizeof request.call, "%s", call);
    find_callers(request.caller);
    return request;
}

// A file that travels with a packet.
typedef union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
} Passed;

static bool send_with(const WireRequest *request, const void *tail, size_t bytes, Passed *passed)
{
    struct iovec parts[] = {
        { (void *)request, sizeof *request },
        { (void *)tail, bytes },
    };
    struct msghdr message = { .msg_iov = parts,
                              .msg_iovlen = bytes ? 2 : 1,
                              .msg_control = passed,
                              .msg_controllen = passed ? sizeof *passed : 0 };
    ssize_t sent;
    do sent = sendmsg(device.socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)(sizeof *request + bytes);
}

static bool send_packet(const WireRequest *request, const void *tail, size_t bytes)
{
    return send_with(request, tail, bytes, NULL);
}

static bool receive_with(WireReply *reply, void *out, size_t out_bytes, Passed *passed)
{
    struct iovec parts[] = { { reply, sizeof *reply }, { out, out_bytes } };
    struct msghdr message = { .msg_iov = parts,
                              .msg_iovlen = out_bytes ? 2 : 1,
                              .msg_control = passed,
                              .msg_controllen = passed ? sizeof *passed : 0 };
    ssize_t got;
    do got = recvmsg(device.socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    return got >= (ssize_t)sizeof *reply && reply->version == WIRE_VERSION;
}

// The device process has gone, so the program goes too (it is about to be killed in any case).
static void lost_device(void)
{
    fputs("warpwise: the simulated device has gone away\n", stderr);
    _exit(1);
}

// Notes what every answer tells beside its own matter.
static void receive_answer(WireReply *reply, void *out, size_t out_bytes)
{
    if (!receive_with(reply, out, out_bytes, NULL)) lost_device();
    if (reply->sticky) device.sticky = reply->sticky;
}

static void exchange(WireRequest *request, const void *tail, size_t bytes, WireReply *reply,
                     void *out, size_t out_bytes)
{
    if (!send_packet(request, tail, bytes)) lost_device();
    receive_answer(reply, out, out_bytes);
}

// What kernels print goes to the program's own stdout, between its own lines, when the program
// waits for them.
static void show_prints(const WireReply *answer)
{
    static char text[WIRE_TAIL];
    WireReply reply = { .printed = answer->printed };
    while (reply.printed) {
        WireRequest request = { .version = WIRE_VERSION, .op = WIRE_PRINTED };
        exchange(&request, NULL, 0, &reply, text, sizeof text);
        fwrite(text, 1, reply.tail <= sizeof text ? reply.tail : 0, stdout);
    }
}

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
    if (getpid() == device.owner && is_ours(info->si_addr)) {
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
    sigaction(SIGSEGV, &device.before, NULL); // the instruction runs again, and dies
}

static void watch_faults(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &device.before);
}

static bool map_device(void)
{
    void *staging = mmap((void *)WIRE_STAGING, WIRE_SLOTS_BYTES, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_FIXED_NOREPLACE, device.memory, 0);
    if (staging == MAP_FAILED) return false;
    // Nothing of the host's may ever lie at a device address. Where the limits forbid the
    // reservation the addresses are simply unmapped, which crashes just as well.
    mmap((void *)WIRE_MEMORY, WIRE_MEMORY_SPAN, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    return true;
}

// The environment outlives the files that it names: what has these numbers now may be something
// else.
static bool is_device(int socket, int memory)
{
    int type = 0;
    socklen_t length = sizeof type;
    struct stat file;
    return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET
        && fstat(memory, &file) == 0 && file.st_size == (off_t)WIRE_FILE_BYTES;
}

// Files that were inherited are not passed on: programs that this one starts find the machine by
// its name.
__attribute__((constructor)) static void find_device(void)
{
    const char *value = getenv(WIRE_ENVIRONMENT);
    int socket, memory;
    if (!value || sscanf(value, "%d,%d,%63s", &socket, &memory, device.name) != 3
        || !is_device(socket, memory))
        return;
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    fcntl(memory, F_SETFD, FD_CLOEXEC);
    device.socket = socket;
    device.memory = memory;
    WireRequest request = { .version = WIRE_VERSION, .op = WIRE_LOADED };
    client_tell(&request, NULL, 0);
}

// Over the inherited socket, which other processes may have too, one of our own is sent, which then
// takes its number.
static bool connect_inherited(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return false;
    WireRequest request = client_request(WIRE_CONNECT, "");
    Passed passed = { 0 };
    passed.header.cmsg_level = SOL_SOCKET;
    passed.header.cmsg_type = SCM_RIGHTS;
    passed.header.cmsg_len = CMSG_LEN(sizeof pair[1]);
    memcpy(CMSG_DATA(&passed.header), &pair[1], sizeof pair[1]);
    bool good = send_with(&request, NULL, 0, &passed)
             && dup3(pair[0], device.socket, O_CLOEXEC) == device.socket;
    close(pair[0]);
    close(pair[1]);
    return good;
}

static bool connect_by_name(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t length = strlen(device.name);
    memcpy(address.sun_path + 1, device.name, length);
    device.socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return device.socket >= 0
        && connect(device.socket, (struct sockaddr *)&address,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length))
               == 0;
}

static void take_memory(Passed *passed)
{
    int memory;
    if (passed->header.cmsg_type != SCM_RIGHTS) lost_device();
    memcpy(&memory, CMSG_DATA(&passed->header), sizeof memory);
    if (device.memory < 0) {
        device.memory = memory;
        return;
    }
    dup3(memory, device.memory, O_CLOEXEC);
    close(memory);
}

static cudaError_t no_device(void)
{
    if (!device.said)
        fputs("warpwise: there is no simulated device here. Start the program with\n"
              "  simulator/run PROGRAM\n",
              stderr);
    device.said = true;
    return cudaErrorNoDevice;
}

static cudaError_t open_locked(void)
{
    if (device.owner) return device.failed;
    if (!(device.socket >= 0 ? connect_inherited() : device.name[0] && connect_by_name()))
        return no_device();
    device.owner = getpid();
    WireRequest request = client_request(WIRE_HELLO, "cudaInitDevice");
    WireReply reply;
    Passed passed = { 0 };
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    size_t length = visible ? strnlen(visible, WIRE_TAIL) : 0;
    request.object.id = visible != NULL;
    if (!send_packet(&request, visible, length)
        || !receive_with(&reply, &device.facts, sizeof device.facts, &passed))
        lost_device();
    if (!reply.error) take_memory(&passed);
    device.failed = reply.error  ? (cudaError_t)reply.error
                  : map_device() ? cudaSuccess
                                 : cudaErrorInitializationError;
    if (!device.failed) watch_faults();
    return device.failed;
}

cudaError_t client_open(void)
{
    // A fork may have left the mutex locked by a thread that is not in this process.
    if (device.owner && getpid() != device.owner) return cudaErrorInitializationError;
    if (host_is_inside()) return cudaErrorNotPermitted;
    pthread_mutex_lock(&device.mutex);
    cudaError_t error = open_locked();
    pthread_mutex_unlock(&device.mutex);
    return error;
}

bool client_is_owner(void) { return device.owner && getpid() == device.owner; }

int client_memory(void) { return device.memory; }

const WireFacts *client_facts(void) { return &device.facts; }

cudaError_t client_sticky(void) { return device.sticky; }

cudaError_t client_context(void)
{
    cudaError_t error = client_open();
    return error || client_sticky() != cudaErrorDevicesUnavailable ? error : client_sticky();
}

void client_tell(WireRequest *request, const void *tail, size_t bytes)
{
    bool ours = !device.owner || getpid() == device.owner;
    if (device.socket >= 0 && ours) send_packet(request, tail, bytes);
}

// Not at the price of a wait, for one that has sent more than the device can answer.
void client_leave(void)
{
    WireRequest request = { .version = WIRE_VERSION, .op = WIRE_LEAVING };
    send(device.socket, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// The kernels that a call waits for stand: another thread may make a call, or write memory, that
// lets them go on. True: there is none that could, or none has for long.
static bool wait_for_others(int tries)
{
    enum { MOST_TRIES = 10000, PAUSE_US = 1000 };
    static int waiting;
    int threads = 0, asleep = __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST) + host_is_idle();
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && readdir(tasks)) threads++;
    if (tasks) closedir(tasks);
    bool alone = threads - 2 <= asleep || tries >= MOST_TRIES; // 2: "." and ".."
    if (!alone) usleep(PAUSE_US);
    __atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    return alone;
}

cudaError_t client_call(WireRequest *request, const void *tail, size_t bytes, WireReply *reply,
                        void *out, size_t out_bytes)
{
    cudaError_t error = client_open();
    if (error) return error;
    if (bytes > WIRE_TAIL) return cudaErrorInvalidValue;
    host_wait_before(request);
    for (int tries = 0;; tries++) {
        pthread_mutex_lock(&device.mutex);
        client_tell_touched();
        exchange(request, tail, bytes, reply, out, out_bytes);
        show_prints(reply);
        pthread_mutex_unlock(&device.mutex);
        if (reply->error != WIRE_STANDS) return reply->error;
        request->alone = wait_for_others(tries);
    }
}

cudaError_t client_simple(WireRequest *request, WireReply *reply)
{
    return client_call(request, NULL, 0, reply, NULL, 0);
}

static void *slot_address(uint32_t slot)
{
    return (char *)WIRE_STAGING + (size_t)slot * WIRE_SLOT_BYTES;
}

static WireChunk chunk_at(uint64_t index, uint64_t total)
{
    uint64_t offset = index * WIRE_SLOT_BYTES, left = total - offset;
    uint32_t bytes = left < WIRE_SLOT_BYTES ? (uint32_t)left : WIRE_SLOT_BYTES;
    return (WireChunk){ total, offset, bytes, (uint32_t)(index % WIRE_SLOTS) };
}

static void receive_chunk(uint64_t index, uint64_t total, client_chunk *drain, void *context,
                          WireReply *reply)
{
    receive_answer(reply, NULL, 0);
    WireChunk chunk = chunk_at(index, total);
    if (drain && !reply->error && !reply->deferred)
        drain(context, slot_address(chunk.slot), chunk.offset, chunk.bytes);
}

// The first chunk goes alone: if the device refuses it, nothing else is moved. After that as many
// are under way as there are slots, so that both sides copy at once.
static cudaError_t transfer_locked(WireRequest *request, WireChunk *chunk, uint64_t total,
                                   client_chunk *fill, client_chunk *drain, void *context,
                                   WireReply *reply)
{
    uint64_t count = total ? (total - 1) / WIRE_SLOT_BYTES + 1 : 1, sent = 0, answered = 0;
    cudaError_t error = cudaSuccess;
    while (answered < sent || (sent < count && !error)) {
        uint64_t ahead = answered ? WIRE_SLOTS : 1;
        if (sent < count && !error && sent - answered < ahead) {
            *chunk = chunk_at(sent++, total);
            if (fill) fill(context, slot_address(chunk->slot), chunk->offset, chunk->bytes);
            if (!send_packet(request, NULL, 0)) lost_device();
            continue;
        }
        receive_chunk(answered++, total, drain, context, reply);
        if (reply->error && !error) error = reply->error;
    }
    return error;
}

cudaError_t client_transfer(WireRequest *request, WireChunk *chunk, uint64_t total,
                            client_chunk *fill, client_chunk *drain, void *context,
                            WireReply *reply)
{
    cudaError_t error = client_open();
    if (error) return error;
    host_wait_before(request);
    for (int tries = 0;; tries++) {
        pthread_mutex_lock(&device.mutex);
        client_tell_touched();
        error = transfer_locked(request, chunk, total, fill, drain, context, reply);
        show_prints(reply);
        pthread_mutex_unlock(&device.mutex);
        if (error != (cudaError_t)WIRE_STANDS) return error;
        request->alone = wait_for_others(tries);
    }
}
