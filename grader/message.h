// Single messages with descriptors, on the grader's sockets (SOCK_SEQPACKET).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Sends a message with fd_count (at most PROTOCOL_FDS) descriptors, which stay ours too. False: the
// other side has hung up.
bool message_send(int socket, const void *what, size_t bytes, const int *fds, size_t fd_count);

// Receives a message; flags as recvmsg(2) has them. Returns its bytes, as many of them as there was
// room for; 0 or less: there is none, or never will be. *fd is the descriptor that came with it,
// ours to close, or -1. (Where nothing can come with it, fd may be NULL.)
ssize_t message_receive(int socket, void *what, size_t bytes, int flags, int *fd);
