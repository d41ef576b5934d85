// The worker: the harness that a submission is linked with. It is a process of
// its own, trusted with nothing. It takes requests from the socket named by its
// only argument, calls the student's function through libffi, waits for the
// device, and answers. Read protocol.h first.
#include "driver.h"
#include "protocol.h"
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <ffi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// One argument of the call in progress.
typedef struct Slot {
    const RequestArg *arg;
    int given, returned;                   // descriptors, -1: none
    unsigned char *memory[PROTOCOL_PARTS]; // what is mapped; else each part's allocation
    void *first[PROTOCOL_PARTS];           // a held output's first contents, on the device
    void *pointer[PROTOCOL_PARTS];         // PASS_SPREAD: what the function gets
    union {
        void *pointer;
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } value;
} Slot;

// Of each part, with its guards.
static size_t span(const Slot *s) { return s->arg->guard + s->arg->bytes + s->arg->guard; }

static bool is_scratch(const Slot *s) { return s->arg->pass == PASS_SCRATCH; }

static bool is_pinned(const Slot *s) { return s->arg->pass == PASS_PINNED; }

// Is it on the device, and the grader's?
static bool is_there(const Slot *s) { return s->arg->address[0] != 0; }

static bool is_mapped(const Slot *s) { return s->arg->mapped != 0; }

// Does the worker allocate it?
static bool is_ours(const Slot *s)
{
    if (is_there(s)) return false;
    return s->arg->pass == PASS_DEVICE || s->arg->pass == PASS_SPREAD || is_scratch(s)
        || is_pinned(s);
}

static bool is_spread(const Slot *s) { return s->arg->pass == PASS_SPREAD; }

static void die(const char *what)
{
    fprintf(stderr, "worker: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

// Receives a request and its descriptors; false when the grader has hung up.
static bool receive(int socket, Request *request, int fds[PROTOCOL_FDS])
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(PROTOCOL_FDS * sizeof(int))];
    } control;
    struct iovec part = { request, sizeof *request };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n;
    do n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    if (n != sizeof *request || request->magic != PROTOCOL_MAGIC) die("not a request");

    for (int i = 0; i < PROTOCOL_FDS; i++) fds[i] = -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    return true;
}

static void *map(int fd, size_t bytes, int protection)
{
    if (bytes == 0) return NULL;
    void *p = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) die("mmap");
    return p;
}

static void unmap(void *memory, size_t bytes)
{
    if (memory) munmap(memory, bytes);
}

// Part p of an array that is spread over devices belongs to device p.
static cudaError_t go_to(const Slot *s, uint32_t part)
{
    return is_spread(s) ? cudaSetDevice((int)part) : cudaSuccess;
}

// In the device's default stream; for an array that is spread, without the host's waiting for it.
static cudaError_t copy(const Slot *s, void *to, const void *from, enum cudaMemcpyKind kind)
{
    if (!is_pinned(s))
        return is_spread(s) ? cudaMemcpyAsync(to, from, span(s), kind, 0)
                            : cudaMemcpy(to, from, span(s), kind);
    memcpy(to, from, span(s));
    return cudaSuccess;
}

static cudaError_t allocate(const Slot *s, void **memory, size_t bytes)
{
    return is_pinned(s) ? cudaMallocHost(memory, bytes ? bytes : 1)
                        : cudaMalloc(memory, bytes ? bytes : 1);
}

static void let_go(const Slot *s, void *memory)
{
    if (is_pinned(s)) cudaFreeHost(memory);
    else cudaFree(memory);
}

static cudaError_t prepare_part(Slot *s, uint32_t part, const unsigned char *given)
{
    size_t bytes = span(s);
    void *memory = NULL;
    cudaError_t error = go_to(s, part);
    if (!error) error = allocate(s, &memory, bytes);
    if (error) return error;
    s->memory[part] = memory;
    s->pointer[part] = s->memory[part] + s->arg->guard;
    return bytes && !is_scratch(s) ? copy(s, memory, given + part * bytes, cudaMemcpyHostToDevice)
                                   : cudaSuccess;
}

static cudaError_t prepare_device(Slot *s)
{
    uint32_t parts = s->arg->parts;
    if (parts < 1 || parts > PROTOCOL_PARTS) die("too many parts");
    unsigned char *given = map(s->given, parts * span(s), PROT_READ);
    cudaError_t error = cudaSuccess;
    for (uint32_t p = 0; p < parts && !error; p++) error = prepare_part(s, p, given);
    unmap(given, parts * span(s));
    s->value.pointer = is_spread(s) ? (void *)s->pointer : s->pointer[0];
    return error;
}

// The host waits for the device's default stream alone. Then it writes an input anew, as it is, in
// that stream: as a caller may who goes on.
static cudaError_t copy_back(const Slot *s, uint32_t part)
{
    size_t bytes = span(s), parts = s->arg->parts;
    if (bytes == 0 || is_scratch(s)) return cudaSuccess;
    unsigned char *returned = map(s->returned, parts * bytes, PROT_READ | PROT_WRITE);
    unsigned char *at = returned + part * bytes;
    cudaError_t error = go_to(s, part);
    if (!error)
        error = is_spread(s) ? cudaMemcpy(at, s->memory[part], bytes, cudaMemcpyDeviceToHost)
                             : copy(s, at, s->memory[part], cudaMemcpyDeviceToHost);
    if (!error && is_spread(s) && !s->arg->writable)
        error = copy(s, s->memory[part], at, cudaMemcpyHostToDevice);
    unmap(returned, parts * bytes);
    return error;
}

static void take_addresses(Slot *s)
{
    for (uint32_t p = 0; p < PROTOCOL_PARTS; p++) s->pointer[p] = (void *)s->arg->address[p];
    s->value.pointer = is_spread(s) ? (void *)s->pointer : s->pointer[0];
}

// ---- The grader's memory on a GPU

static const Driver *driver(void)
{
    static Driver d;
    if (!d.cuInit && !driver_open(&d)) die("no libcuda.so.1");
    return &d;
}

// The driver's errors have the runtime's numbers.
static cudaError_t map_memory(Slot *s, int file)
{
    CUdeviceptr address;
    CUmemGenericAllocationHandle memory;
    cudaError_t error = cudaFree(0); // the driver is initialised, and the device's context made
    if (error) return error;
    CUresult result = driver()->cuMemImportFromShareableHandle(
        &memory, (void *)(intptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    close(file);
    if (result) return (cudaError_t)result;
    result = driver_map(driver(), memory, s->arg->mapped, &address);
    driver()->cuMemRelease(memory); // the mapping keeps it
    s->memory[0] = (unsigned char *)address;
    s->value.pointer = s->memory[0] + s->arg->guard;
    return (cudaError_t)result;
}

static cudaError_t map_all(const Request *request, const int *fds, Slot *slots)
{
    cudaError_t error = cudaSuccess;
    for (uint32_t i = 0; i < request->argc && !error; i++)
        if (is_mapped(&slots[i])) error = map_memory(&slots[i], *fds++);
    return error;
}

static void prepare_host(Slot *s)
{
    int protection = s->arg->writable ? PROT_READ | PROT_WRITE : PROT_READ;
    s->memory[0] = map(s->given, span(s), protection);
    s->value.pointer = s->memory[0] + s->arg->guard;
}

// Does the call work on several devices?
static bool several(const Request *request)
{
    for (uint32_t i = 0; i < request->argc; i++)
        if (request->arg[i].pass == PASS_SPREAD) return true;
    return false;
}

static cudaError_t prepare(const Request *request, const int *fds, Slot *slots)
{
    for (uint32_t i = 0; i < request->argc; i++) {
        Slot *s = &slots[i];
        *s = (Slot){ .arg = &request->arg[i], .given = -1, .returned = -1 };
        cudaError_t error = cudaSuccess;
        if (is_there(s)) {
            if (!is_mapped(s)) take_addresses(s);
            continue;
        }
        switch (s->arg->pass) {
        case PASS_DEVICE:
        case PASS_SPREAD:
        case PASS_SCRATCH:
        case PASS_PINNED:
            s->given = *fds++;
            s->returned = *fds++;
            error = prepare_device(s);
            break;
        case PASS_HOST:
            s->given = *fds++;
            prepare_host(s);
            break;
        default: memcpy(&s->value, &s->arg->bits, sizeof s->arg->bits);
        }
        if (error) return error;
    }
    cudaError_t error = several(request) ? cudaSetDevice(0) : cudaSuccess;
    return error ? error : map_all(request, fds, slots);
}

static ffi_type *type_of(enum pass pass)
{
    switch (pass) {
    case PASS_I32: return &ffi_type_sint32;
    case PASS_I64: return &ffi_type_sint64;
    case PASS_F32: return &ffi_type_float;
    case PASS_F64: return &ffi_type_double;
    default: return &ffi_type_pointer;
    }
}

static int32_t invoke(void *function, const Request *request, Slot *slots)
{
    ffi_type *types[PROTOCOL_ARGS];
    void *values[PROTOCOL_ARGS];
    for (uint32_t i = 0; i < request->argc; i++) {
        types[i] = type_of(request->arg[i].pass);
        values[i] = &slots[i].value;
    }

    ffi_cif cif;
    ffi_type *result = request->returns_i32 ? &ffi_type_sint32 : &ffi_type_void;
    if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, request->argc, result, types) != FFI_OK)
        die("libffi cannot make this call");
    ffi_arg returned = 0; // libffi widens small integers to this
    ffi_call(&cif, FFI_FN(function), &returned, values);
    return (int32_t)returned;
}

// Device by device, so that the memory of those that come first is read, and inputs written, before
// the host has waited for the others.
static cudaError_t copy_all_back(const Request *request, Slot *slots, bool pinned_too)
{
    cudaError_t error = cudaSuccess;
    for (uint32_t n = 0; n < PROTOCOL_PARTS; n++)
        for (uint32_t i = 0, part = request->last_first ? PROTOCOL_PARTS - 1 - n : n;
             i < request->argc && !error; i++)
            if (is_ours(&slots[i]) && (pinned_too || !is_pinned(&slots[i]))
                && part < slots[i].arg->parts)
                error = copy_back(&slots[i], part);
    return error;
}

static cudaError_t synchronize_all(void)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    for (int d = 0; d < count && !error; d++) {
        error = cudaSetDevice(d);
        if (!error) error = cudaDeviceSynchronize();
    }
    return error ? error : cudaSetDevice(0);
}

// Waits for the device, or for all. The first error tells a launch that was refused, the second
// one that failed while it ran.
static enum stage synchronize(bool all, Answer *answer)
{
    cudaError_t refused = cudaGetLastError();
    cudaError_t failed = all ? synchronize_all() : cudaDeviceSynchronize();
    answer->cuda = failed ? failed : refused;
    return failed ? STAGE_SYNCHRONIZE : refused ? STAGE_CALL : STAGE_DONE;
}

// The same of a call on several devices, whose answer is read before all is waited for: by the
// grader, where that owns it.
static enum stage read_then_synchronize(const Request *request, Slot *slots, Answer *answer)
{
    answer->cuda = cudaGetLastError();
    if (answer->cuda) return STAGE_CALL;
    for (uint32_t i = 0; i < request->argc; i++)
        if (is_spread(&slots[i]) && is_there(&slots[i])) return STAGE_DONE;
    answer->cuda = copy_all_back(request, slots, true);
    return answer->cuda ? STAGE_SYNCHRONIZE : synchronize(true, answer);
}

// The host may read its own memory as soon as the function has returned, and does.
static cudaError_t copy_pinned_back(const Request *request, Slot *slots)
{
    cudaError_t error = cudaSuccess;
    for (uint32_t i = 0; i < request->argc && !error; i++)
        if (is_pinned(&slots[i])) error = copy_back(&slots[i], 0);
    return error;
}

// Lets the devices do what they were given, without waiting for it. On devices that are idle a
// kernel begins when it is launched: one that begins before others, or ends before them, shows.
static void leave_idle(void) { usleep(2000); }

// The call itself, and what the device makes of it.
static enum stage perform(const Request *request, Slot *slots, Answer *answer)
{
    void *function = dlsym(RTLD_DEFAULT, request->function);
    if (!function) return STAGE_FUNCTION;
    if (request->last_first && several(request)) leave_idle();
    if (request->ranged) cudaProfilerStart();
    answer->returned = invoke(function, request, slots);
    if (request->ranged) cudaProfilerStop();
    if (copy_pinned_back(request, slots)) return STAGE_COPY;
    if (several(request)) return read_then_synchronize(request, slots, answer);
    enum stage stage = synchronize(false, answer);
    if (stage != STAGE_DONE) return stage;
    answer->cuda = copy_all_back(request, slots, false);
    return answer->cuda ? STAGE_COPY : STAGE_DONE;
}

// Frees what prepare() made, so that what is left at the end is the student's.
static void release(const Request *request, Slot *slots)
{
    for (uint32_t i = 0; i < request->argc; i++) {
        Slot *s = &slots[i];
        for (uint32_t p = 0; is_ours(s) && p < s->arg->parts; p++)
            let_go(s, s->memory[p]), let_go(s, s->first[p]);
        if (s->arg->pass == PASS_HOST) unmap(s->memory[0], span(s));
        if (is_mapped(s)) {
            let_go(s, s->first[0]);
            driver_unmap(driver(), (CUdeviceptr)s->memory[0], s->arg->mapped);
        }
        if (s->given >= 0) close(s->given);
        if (s->returned >= 0) close(s->returned);
    }
}

static void tell_addresses(const Request *request, const Slot *slots, Answer *answer)
{
    for (uint32_t i = 0; i < request->argc; i++)
        for (uint32_t p = 0; p < PROTOCOL_PARTS; p++)
            answer->address[i][p] = (uint64_t)slots[i].memory[p];
}

static void send_answer(int socket, const Answer *answer)
{
    if (send(socket, answer, sizeof *answer, MSG_NOSIGNAL) != sizeof *answer)
        exit(EXIT_FAILURE); // the grader has hung up: there is nobody to tell
}

static void make_call(int socket, const Request *request, const int *fds, Answer *answer)
{
    Slot slots[PROTOCOL_ARGS];
    answer->cuda = prepare(request, fds, slots);
    if (answer->cuda) return;
    tell_addresses(request, slots, answer);
    answer->stage = STAGE_BEGUN;
    send_answer(socket, answer);
    answer->stage = perform(request, slots, answer);
    release(request, slots);
}

// ---- Calls for the clock ----

static struct held {
    Request request;
    Slot slots[PROTOCOL_ARGS];
    void *function;
} held[PROTOCOL_HELD];
static uint32_t held_count;

static bool is_device_output(const Slot *s)
{
    return (is_ours(s) || is_mapped(s)) && s->arg->writable && span(s);
}

static cudaError_t copy_within(const Slot *s, uint32_t part, void *to, const void *from)
{
    cudaError_t error = go_to(s, part);
    return error        ? error
         : is_pinned(s) ? copy(s, to, from, cudaMemcpyHostToHost)
                        : cudaMemcpy(to, from, span(s), cudaMemcpyDeviceToDevice);
}

// Keeps an output's first contents beside it.
static cudaError_t keep_first(Slot *s, uint32_t part)
{
    cudaError_t error = go_to(s, part);
    if (!error) error = allocate(s, &s->first[part], span(s));
    return error ? error : copy_within(s, part, s->first[part], s->memory[part]);
}

static void hold(const Request *request, const int *fds, Answer *answer)
{
    if (held_count == PROTOCOL_HELD) die("too many calls to hold");
    struct held *h = &held[held_count++];
    h->request = *request;
    h->function = dlsym(RTLD_DEFAULT, request->function);
    answer->cuda = prepare(&h->request, fds, h->slots);
    for (uint32_t i = 0; i < request->argc && !answer->cuda; i++)
        for (uint32_t p = 0;
             is_device_output(&h->slots[i]) && p < h->slots[i].arg->parts && !answer->cuda; p++)
            answer->cuda = keep_first(&h->slots[i], p);
    tell_addresses(&h->request, h->slots, answer);
    if (!answer->cuda && several(request)) answer->cuda = synchronize_all();
    if (!answer->cuda) answer->stage = h->function ? STAGE_DONE : STAGE_FUNCTION;
}

static void reset(Answer *answer)
{
    for (uint32_t n = 0; n < held_count; n++)
        for (uint32_t i = 0; i < held[n].request.argc; i++) {
            Slot *s = &held[n].slots[i];
            for (uint32_t p = 0; is_device_output(s) && p < s->arg->parts && !answer->cuda; p++)
                answer->cuda = copy_within(s, p, s->memory[p], s->first[p]);
        }
    if (!answer->cuda) answer->stage = synchronize(held_count && several(&held[0].request), answer);
}

static void run_held(uint32_t times, Answer *answer)
{
    for (uint32_t n = 0; n < times; n++) {
        struct held *h = &held[n % held_count];
        invoke(h->function, &h->request, h->slots);
    }
    answer->stage = synchronize(held_count && several(&held[0].request), answer);
}

static void take(uint32_t number, Answer *answer)
{
    struct held *h = &held[number];
    answer->cuda = copy_all_back(&h->request, h->slots, true);
    answer->stage = answer->cuda ? STAGE_COPY : STAGE_DONE;
    release(&h->request, h->slots);
}

static void answer_request(int socket, const Request *request, const int *fds)
{
    Answer answer = { .magic = PROTOCOL_MAGIC, .stage = STAGE_PREPARE };
    switch (request->action) {
    case ACTION_READY:
        answer.cuda = cudaFree(0);
        if (!answer.cuda) answer.stage = STAGE_DONE;
        break;
    case ACTION_CALL: make_call(socket, request, fds, &answer); break;
    case ACTION_HOLD: hold(request, fds, &answer); break;
    case ACTION_RESET: reset(&answer); break;
    case ACTION_RUN: run_held(request->times, &answer); break;
    case ACTION_TAKE: take(request->held, &answer); break;
    }
    if (answer.cuda)
        snprintf(answer.error, sizeof answer.error, "%s: %s", cudaGetErrorName(answer.cuda),
                 cudaGetErrorString(answer.cuda));

    fflush(NULL); // what the student printed comes before our answer
    send_answer(socket, &answer);
}

// The grader's socket: a descriptor that we have, or "@name", where it listens.
static int grader_socket(const char *where)
{
    if (*where != '@') return atoi(where);
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    size_t n = strnlen(where, sizeof a.sun_path - 1);
    memcpy(a.sun_path + 1, where + 1, n - 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, offsetof(struct sockaddr_un, sun_path) + n))
        die("no connection to the grader");
    return fd;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "This program is run by the grader: make lesson-N.\n");
        return EXIT_FAILURE;
    }

    // A line that was printed before a crash helps to find it, so it is not kept back.
    setvbuf(stdout, NULL, _IOLBF, 0);

    int socket = grader_socket(argv[1]);
    Request request;
    int fds[PROTOCOL_FDS];
    while (receive(socket, &request, fds)) answer_request(socket, &request, fds);
    return EXIT_SUCCESS;
}
