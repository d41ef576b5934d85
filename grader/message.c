#define _GNU_SOURCE
#include "message.h"
#include "protocol.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

bool message_send(int socket, const void *what, size_t bytes, const int *fds, size_t fd_count)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(PROTOCOL_FDS * sizeof(int))];
    } control;
    struct iovec part = { (void *)what, bytes };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    memset(&control, 0, sizeof control);
    if (fd_count) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(fd_count * sizeof *fds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(fd_count * sizeof *fds);
        memcpy(CMSG_DATA(c), fds, fd_count * sizeof *fds);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)bytes;
}

ssize_t message_receive(int socket, void *what, size_t bytes, int flags, int *fd)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = { what, bytes };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (fd) {
        *fd = -1;
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    ssize_t n;
    do n = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *c = n > 0 && fd ? CMSG_FIRSTHDR(&message) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return n;
}
