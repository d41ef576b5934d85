// The connection to the device: packets, finding the device, and opening the connection. A
// connection belongs to the process that opened it, and not to its forked children.

#define _GNU_SOURCE
#include "connection.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

Connection connection = { .mutex = PTHREAD_MUTEX_INITIALIZER, .socket = -1, .memory = -1 };

// ---- Packets ----

// A control message that passes one file descriptor along with a packet.
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
    do sent = sendmsg(connection.socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)(sizeof *request + bytes);
}

bool connection_send(const WireRequest *request, const void *tail, size_t bytes)
{
    return send_with(request, tail, bytes, NULL);
}

static void receive_with(WireReply *reply, void *out, size_t out_bytes, Passed *passed)
{
    struct iovec parts[] = { { reply, sizeof *reply }, { out, out_bytes } };
    struct msghdr message = { .msg_iov = parts,
                              .msg_iovlen = out_bytes ? 2 : 1,
                              .msg_control = passed,
                              .msg_controllen = passed ? sizeof *passed : 0 };
    ssize_t got;
    do got = recvmsg(connection.socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < (ssize_t)sizeof *reply || reply->version != WIRE_VERSION) connection_lost();
}

void connection_receive(WireReply *reply, void *out, size_t out_bytes)
{
    receive_with(reply, out, out_bytes, NULL);
}

// The device process has ended, so the program ends too (it is about to be killed in any case).
void connection_lost(void)
{
    fputs("warpwise: the simulated device has gone away\n", stderr);
    _exit(1);
}

// ---- Finding the device ----

// A process can inherit the environment without the open files. Are these descriptors, which the
// environment names, the device's?
static bool is_device(int socket, int memory)
{
    int type = 0;
    socklen_t length = sizeof type;
    struct stat file;
    return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET
        && fstat(memory, &file) == 0 && file.st_size == (off_t)WIRE_FILE_BYTES;
}

// The inherited descriptors become close-on-exec: programs that this one starts connect by the
// machine's name.
__attribute__((constructor)) static void find_device(void)
{
    const char *value = getenv(WIRE_ENVIRONMENT);
    int socket, memory;
    if (!value || sscanf(value, "%d,%d,%63s", &socket, &memory, connection.name) != 3
        || !is_device(socket, memory))
        return;
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    fcntl(memory, F_SETFD, FD_CLOEXEC);
    connection.socket = socket;
    connection.memory = memory;
    WireRequest request = { .version = WIRE_VERSION, .op = WIRE_LOADED };
    connection_send(&request, NULL, 0);
}

// Other processes may hold the inherited socket too. So this process makes a socket pair, sends one
// end to the device over the inherited socket, and puts the other end in that socket's place.
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
             && dup3(pair[0], connection.socket, O_CLOEXEC) == connection.socket;
    close(pair[0]);
    close(pair[1]);
    return good;
}

static bool connect_by_name(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t length = strlen(connection.name);
    memcpy(address.sun_path + 1, connection.name, length);
    connection.socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return connection.socket >= 0
        && connect(connection.socket, (struct sockaddr *)&address,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length))
               == 0;
}

// ---- Opening the connection ----

static bool map_device(void)
{
    void *staging = mmap((void *)WIRE_STAGING, WIRE_SLOTS_BYTES, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_FIXED_NOREPLACE, connection.memory, 0);
    if (staging == MAP_FAILED) return false;
    // Reserve the device addresses: no host allocation may get one, and host code that uses one
    // crashes. If a resource limit forbids the reservation, the addresses stay unmapped, and such
    // host code crashes as well.
    mmap((void *)WIRE_MEMORY, WIRE_MEMORY_SPAN, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    return true;
}

static void take_memory(Passed *passed)
{
    int memory;
    if (passed->header.cmsg_type != SCM_RIGHTS) connection_lost();
    memcpy(&memory, CMSG_DATA(&passed->header), sizeof memory);
    if (connection.memory < 0) {
        connection.memory = memory;
        return;
    }
    dup3(memory, connection.memory, O_CLOEXEC);
    close(memory);
}

static cudaError_t no_device(void)
{
    static bool said;
    if (!said)
        fputs("warpwise: there is no simulated device here. Start the program with\n"
              "  simulator/run PROGRAM\n",
              stderr);
    said = true;
    return cudaErrorNoDevice;
}

static cudaError_t say_hello(void)
{
    WireRequest request = client_request(WIRE_HELLO, "cudaInitDevice");
    WireReply reply;
    Passed passed = { 0 };
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    request.object.id = visible != NULL;
    if (!connection_send(&request, visible, visible ? strnlen(visible, WIRE_TAIL) : 0))
        connection_lost();
    receive_with(&reply, &connection.facts, sizeof connection.facts, &passed);
    if (reply.error) return reply.error;
    take_memory(&passed);
    return map_device() ? cudaSuccess : cudaErrorInitializationError;
}

cudaError_t connection_open(void)
{
    if (connection.owner) return connection.failed;
    bool found =
        connection.socket >= 0 ? connect_inherited() : connection.name[0] && connect_by_name();
    if (!found) return no_device();
    connection.owner = getpid();
    connection.failed = say_hello();
    if (!connection.failed) fault_watch();
    return connection.failed;
}
