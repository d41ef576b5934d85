// Packets: receives a request of the process that is served, and sends its reply.

#define _GNU_SOURCE
#include "serve.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

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

void packet_send(Call *call)
{
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
    struct pollfd watched[] = { { .fd = device.socket, .events = POLLOUT },
                                { .fd = device.pidfd, .events = POLLIN },
                                { .fd = device.program_pidfd, .events = POLLIN } };
    while (sendmsg(device.socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno != EAGAIN && errno != EINTR) return;
        if (poll(watched, 3, -1) > 0 && (watched[1].revents || watched[2].revents)) return;
    }
}

enum packet packet_receive(Call *call)
{
    struct iovec parts[] = { { &call->request, sizeof call->request }, { call->tail, WIRE_TAIL } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
    ssize_t got = recvmsg(device.socket, &message, MSG_DONTWAIT);
    memset(&call->reply, 0, sizeof call->reply);
    call->out = reply_tail;
    call->file = -1;
    if (got <= 0) return PACKET_NONE;
    if (got < (ssize_t)sizeof call->request || (message.msg_flags & MSG_TRUNC))
        return PACKET_RUBBISH;
    call->tail_bytes = (size_t)got - sizeof call->request;
    call->tail[call->tail_bytes] = 0;
    call->request.call[sizeof call->request.call - 1] = 0;
    if (!call->request.stream)
        call->request.stream = call->request.device; // the id of its default stream
    return call->request.version == WIRE_VERSION && call->request.op < WIRE_OPERATION_COUNT
                && call->request.device < device.count
             ? PACKET_REQUEST
             : PACKET_RUBBISH;
}
