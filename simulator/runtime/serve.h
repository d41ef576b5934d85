// A process of the program is served: its requests (wire/wire.def) come in, each is answered by its
// handler, and the work that it asks for is done in stream order.
//
//   main.c, machine.c   the machine: who connects, and who ends; a device process for each
//   serve.c, packet.c   the loop of a device process: a packet in, its handler, a packet out
//   cost.c              what a request costs the host
//   work.c              which request must wait or is deferred; the launches that are not done
//   handlers            answer.c, modules.c (code), launch.c, transfer.c (memory), pool.c, ipc.c,
//                       copy.c (copies and fills)
//   helpers             range.c (is a copy within its memory?), activity.c (the timeline),
//                       visible.c (CUDA_VISIBLE_DEVICES), program.c (why a program never connects)
#pragma once
#include "machine/grid.h"
#include "report/report.h"
#include "wire/row.h"
#include <sys/types.h>

// One request being answered. The handler fills in reply and, if it has one, the tail.
typedef struct {
    WireRequest request;
    char tail[WIRE_TAIL + 1]; // of the request; tail[tail_bytes] is 0
    size_t tail_bytes;
    WireReply reply;
    char *out;     // of the reply: WIRE_TAIL bytes
    int file;      // that goes with the reply; -1: none
    bool deferred; // it was answered before, and its turn has come
    u8 *data;      // of a copy that is deferred: its bytes; NULL: they are in the slots
} Call;

// The state of the simulated machine that outlives a call.
typedef struct {
    u32 count;                // of its devices that the process sees,
    u32 number[MOST_DEVICES]; // and the number of each in the machine (visible.c)
    int socket;               // of the process that is served
    pid_t client, program;    // that process, and the one that the machine started
    int pidfd, program_pidfd; // of both
    int memory;               // the memfd
    u8 *staging;              // WIRE_SLOTS slots
    u64 limit;                // warp instructions a launch; 0: none
    bool late;    // work begins when the process asks or waits for it, not when it issues more
    int sticky;   // the error that all further calls return
    bool leaving; // the process ends by itself
    bool faulted; // its host code has touched device memory
} Device;

extern Device device;

// ---- serve.c ----

// Answers the requests of one process until it, or the program, has ended and all it sent is
// answered. True: it ended by itself.
bool serve(void);

// Ends what the program left: leaks and unchecked launches are reported. `orderly`: it ended by
// itself.
void serve_end(bool orderly);

void serve_dispatch(Call *call); // has the request done by its handler, which fills in the reply

// A place in the program for this call's messages.
Place serve_place(const Call *call);

// ---- visible.c ----

// Which devices the process sees: `text` is its CUDA_VISIBLE_DEVICES, NULL: all. 0, or a
// cudaError_t.
int visible_choose(const char *text);
u32 visible_of(
    u32 number); // by what number it sees that device of the machine; device.count: it does not

// ---- packet.c ----

enum packet { PACKET_NONE, PACKET_REQUEST, PACKET_RUBBISH };

// The next one, if any: a request, or something that is none. The reply is made ready.
enum packet packet_receive(Call *call);
void packet_send(Call *call); // the reply

// ---- The handlers, in the files of the map above ----

#define REQUEST(name, handler, ...) void handler(Call *call);
#include "wire/wire.def"

// ---- transfer.c ----

void transfer_bad_free(Call *call, u64 address); // reports it and refuses the call
void transfer_leaks(u32 of);                     // reports what a device still has allocated
void transfer_free_all(u32 of, const u64 *callers);

// ---- modules.c ----

Kernel *launch_kernel_of(u64 id); // NULL: there is none

// ---- launch.c ----

Launch launch_of(const Call *call);
void launch_gather_printed(void); // what kernels have printed is the program's to ask for
void launch_unchecked(void); // the program ends: reports one that nobody looked at, that ended it,
                             // or whose work was missed
bool launch_has_printed(void);
void launch_print_rest(void); // the program ends: says what it never saw
