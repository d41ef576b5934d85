// Packets: receives a request of the process that is served, and sends its reply.

#define _GNU_SOURCE
#include "serve.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char reply_tail[WIRE_TAIL];

static void attach_file(struct msghdr *message, int file, void *room, size_t bytes)
{
    message->msg_control = room;
    message->msg_controllen = bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
}

// ---- The owner's files ----

static size_t mapped; // bytes of the file that came with the request

// Maps the file, in which the bytes of the copy must lie.
static bool map_file(Call *call, int file)
{
    const WireRequest *r = &call->request;
    u64 offset = r->copy.from.address;
    struct stat is;
    if (fstat(file, &is) < 0 || is.st_size < 0 || (u64)is.st_size < offset
        || (u64)is.st_size - offset < r->copy.width)
        return false;
    bool out = wire_row(r->op)->slots == WIRE_SLOTS_OUT;
    u8 *bytes = mmap(NULL, (size_t)is.st_size, out ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                     file, 0);
    if (bytes == MAP_FAILED) return false;
    mapped = (size_t)is.st_size;
    call->data = bytes + offset;
    return true;
}

static void unmap_file(Call *call)
{
    if (mapped) munmap(call->data - call->request.copy.from.address, mapped);
    mapped = 0;
    call->data = NULL;
}

// Is it a request that an owner may make, with the file that it takes?
static bool is_owners(Call *call, int file)
{
    WireRequest *r = &call->request;
    memset(r->caller, 0, sizeof r->caller);
    r->caller[0] = WIRE_OWNER;
    const WireRow *row = wire_row(r->op);
    if (!row->for_owner || row->slots == WIRE_SLOTS_NONE) return row->for_owner;
    r->copy.rows = r->copy.slices = 1;
    r->copy.chunk = (WireChunk){ .total = r->copy.width, .bytes = (u32)r->copy.width };
    return r->copy.width && file >= 0 && map_file(call, file);
}

// The program has no calls of the owner's.
static void deny_owner(WireRequest *r)
{
    for (u32 n = 0; n < WIRE_CALLERS; n++)
        if (r->caller[n] == WIRE_OWNER) r->caller[n] = 0;
}

void packet_send(Call *call)
{
    int socket = call->by_owner ? device.owner : device.socket;
    if (call->by_owner) unmap_file(call);
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    call->reply.version = WIRE_VERSION;
    call->reply.sticky = device.sticky;
    struct iovec parts[] = { { &call->reply, sizeof call->reply },
                             { call->out, call->reply.tail } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = call->reply.tail ? 2 : 1 };
    if (call->file >= 0) attach_file(&message, call->file, &control, sizeof control);
    // A process that sends and does not receive its replies fills the socket. The device waits
    // until there is room, or until the process has ended.
    struct pollfd watched[] = { { .fd = socket, .events = POLLOUT },
                                { .fd = device.pidfd, .events = POLLIN },
                                { .fd = device.program_pidfd, .events = POLLIN } };
    while (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno != EAGAIN && errno != EINTR) return;
        if (poll(watched, 3, -1) > 0 && (watched[1].revents || watched[2].revents)) return;
    }
}

static int file_in(struct msghdr *message)
{
    int file = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            memcpy(&file, CMSG_DATA(c), sizeof file); // there is room for one
    return file;
}

enum packet packet_receive(Call *call, bool of_owner)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec parts[] = { { &call->request, sizeof call->request }, { call->tail, WIRE_TAIL } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
    if (of_owner) message.msg_control = &control, message.msg_controllen = sizeof control;
    ssize_t got =
        recvmsg(of_owner ? device.owner : device.socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int file = got > 0 && of_owner ? file_in(&message) : -1;
    memset(&call->reply, 0, sizeof call->reply);
    call->out = reply_tail;
    call->file = -1;
    call->by_owner = of_owner;
    call->data = NULL;
    if (got <= 0) return PACKET_NONE;
    if (got < (ssize_t)sizeof call->request || (message.msg_flags & MSG_TRUNC))
        return PACKET_RUBBISH;
    call->tail_bytes = (size_t)got - sizeof call->request;
    call->tail[call->tail_bytes] = 0;
    call->request.call[sizeof call->request.call - 1] = 0;
    if (!call->request.stream)
        call->request.stream = call->request.device; // the id of its default stream
    bool valid = call->request.version == WIRE_VERSION && call->request.op < WIRE_OPERATION_COUNT
              && call->request.device < device.count;
    if (!of_owner) deny_owner(&call->request);
    else valid = valid && is_owners(call, file);
    if (file >= 0) close(file); // a mapping outlives it
    return valid ? PACKET_REQUEST : PACKET_RUBBISH;
}
