// Which processes connect to the machine, and which end. A process connects in one of two ways. It
// makes a pair of sockets and sends one of them over the socket that it inherited; or, if inherited
// files have been closed (as mpirun does), it connects to the machine's name. The machine never
// replies over the inherited socket, which many processes may hold.
#define _GNU_SOURCE
#include "ipc.h"
#include "streams/shared_event.h"
#include "machine/profile.h"
#include "machine.h"
#include "model/carried.h"
#include "report/report.h"
#include "report/html.h"
#include "report/timeline.h"
#include "serve.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SERVERS = 256, GRACE_MS = 500, LOOK_MS = 50 };
enum { CONTROL, LISTEN, PROGRAM, FIRST_SERVER }; // in `watched`

Machine *machine;

static struct pollfd watched[FIRST_SERVER + MOST_SERVERS];
static pid_t servers[MOST_SERVERS];
static s64 worked[MOST_SERVERS]; // ms: the processor time of each when the program ended
static u32 server_count;
static u32 started; // device processes that were started so far
static pid_t program;
static int listening = -1;
static bool loaded,
    stopping; // some program has loaded the library; device processes are being killed

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

void machine_make(void)
{
    machine =
        mmap(NULL, sizeof *machine, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (machine == MAP_FAILED) fail("simulator/run: no memory for the machine");
    shared_events_make();
    ipc_make();
}

const char *machine_listen(void)
{
    static struct sockaddr_un address = { .sun_family = AF_UNIX };
    u64 key;
    if (getrandom(&key, sizeof key, 0) != sizeof key) fail("simulator/run: no random number");
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "warpwise-%d-%016llx",
                          (int)getpid(), (unsigned long long)key);
    listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listening < 0
        || bind(listening, (struct sockaddr *)&address,
                offsetof(struct sockaddr_un, sun_path) + 1 + length)
               < 0
        || listen(listening, 16) < 0)
        fail("simulator/run: cannot listen");
    return address.sun_path + 1;
}

// ---- Device processes ----

static void become_server(int socket, pid_t client, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    signal(SIGTERM, SIG_IGN); // the device process ends when the program has ended
    signal(SIGHUP, SIG_IGN);
    close(listening);
    device.socket = socket;
    device.client = client;
    device.pidfd = (int)syscall(SYS_pidfd_open, client, 0);
    device.program = program;
    device.program_pidfd = watched[PROGRAM].fd;
    if (device.owner < 0) carried_by_another();
    timeline_process(started, profile.name);
    html_process(started);
    bool orderly = serve();
    serve_end(orderly);
    report_end();
    _exit(0);
}

static void start_server(int socket, pid_t client)
{
    pid_t parent = getpid(), pid = server_count < MOST_SERVERS ? fork() : -1;
    if (pid == 0) become_server(socket, client, parent);
    if (device.owner >= 0) close(device.owner); // the first one has it
    device.owner = -1;
    started++;
    close(socket); // without a device process the program finds the connection closed
    int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (pidfd < 0) return;
    servers[server_count] = pid;
    worked[server_count] = 0;
    watched[FIRST_SERVER + server_count++] = (struct pollfd){ .fd = pidfd, .events = POLLIN };
}

// A device process has ended abnormally. The program cannot go on, and the machine ends in the same
// way.
static void end_like(const siginfo_t *info)
{
    kill(program, SIGKILL);
    if (info->si_code == CLD_EXITED) _exit(info->si_status);
    signal(info->si_status, SIG_DFL);
    raise(info->si_status);
    _exit(1);
}

static void reap(u32 n)
{
    siginfo_t info = { 0 };
    waitid(P_PID, (id_t)servers[n], &info, WEXITED);
    if (!stopping && (info.si_code != CLD_EXITED || info.si_status)) end_like(&info);
    close(watched[FIRST_SERVER + n].fd);
    servers[n] = servers[--server_count];
    worked[n] = worked[server_count];
    watched[FIRST_SERVER + n] = watched[FIRST_SERVER + server_count];
}

static s64 ms_worked(pid_t server)
{
    clockid_t clock;
    struct timespec used = { 0 };
    if (clock_getcpuclockid(server, &clock) == 0) clock_gettime(clock, &used);
    return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

// Kills device processes that take too long when the program has been killed. Their processor time
// is measured, not the wall clock, because other processes may occupy the machine.
static void stop_servers(void)
{
    for (u32 n = 0; n < server_count; n++) stopping |= ms_worked(servers[n]) - worked[n] > GRACE_MS;
    for (u32 n = 0; n < server_count && stopping; n++) kill(servers[n], SIGKILL);
}

// ---- Processes that connect ----

static bool is_packet_socket(int fd)
{
    int type = 0, domain = 0;
    socklen_t length = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET
        && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
}

typedef struct {
    int socket;
    pid_t sender;
} Sent; // descriptors that came with a packet; -1: none

static Sent what_came_with(struct msghdr *message)
{
    Sent sent = { -1, -1 };
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred credentials;
            memcpy(&credentials, CMSG_DATA(c), sizeof credentials);
            sent.sender = credentials.pid;
        } else if (c->cmsg_type == SCM_RIGHTS) {
            memcpy(&sent.socket, CMSG_DATA(c), sizeof sent.socket); // there is room for one
        }
    }
    return sent;
}

// Takes a packet from the inherited socket. False: there is none.
static bool take_packet(void)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
    } control;
    WireRequest request;
    struct iovec part = { &request, sizeof request };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t got = recvmsg(watched[CONTROL].fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got <= 0) return false;
    Sent sent = what_came_with(&message);
    bool ours = got == sizeof request && request.version == WIRE_VERSION
             && request.op < WIRE_OPERATION_COUNT && wire_row(request.op)->to_machine;
    loaded |= ours;
    if (ours && sent.sender > 0 && sent.socket >= 0 && is_packet_socket(sent.socket))
        start_server(sent.socket, sent.sender);
    else if (sent.socket >= 0) close(sent.socket);
    return true;
}

static void take_caller(void)
{
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0
        && credentials.uid == getuid()) {
        loaded = true;
        start_server(fd, credentials.pid);
    } else {
        close(fd);
    }
}

static void note_end(void)
{
    siginfo_t info = { 0 };
    waitid(P_PID, (id_t)program, &info, WEXITED | WNOWAIT);
    machine->status = info.si_status;
    machine->ended = info.si_code == CLD_EXITED ? MACHINE_EXITED : MACHINE_KILLED;
    for (u32 n = 0; n < server_count; n++) worked[n] = ms_worked(servers[n]);
}

// If the program exited by itself, its kernels run to their end. If it was killed, they do not: a
// kernel may run for ever.
static int poll_timeout(void)
{
    return machine->ended == MACHINE_KILLED && !stopping ? LOOK_MS : -1;
}

bool machine_run(pid_t pid, int pidfd, int control)
{
    program = pid;
    watched[CONTROL] = (struct pollfd){ .fd = control, .events = POLLIN };
    watched[LISTEN] = (struct pollfd){ .fd = listening, .events = POLLIN };
    watched[PROGRAM] = (struct pollfd){ .fd = pidfd, .events = POLLIN };
    while (!machine->ended || server_count) {
        if (machine->ended) watched[PROGRAM].events = 0;
        int ready = poll(watched, FIRST_SERVER + server_count, poll_timeout());
        if (ready == 0) stop_servers();
        if (ready <= 0) continue;
        bool ended = watched[PROGRAM].revents
                   & POLLIN; // tested first: packets sent before its end are still read
        for (u32 n = server_count; n-- > 0;)
            if (watched[FIRST_SERVER + n].revents) reap(n);
        if (watched[LISTEN].revents) take_caller();
        while (take_packet()) {}
        if (watched[CONTROL].revents & (POLLHUP | POLLERR))
            watched[CONTROL].fd = -1; // no process holds the other end
        if (ended) note_end();
    }
    return loaded;
}
