// Serving a process of the program: the device receives its requests (wire/wire.def), a handler
// answers each of them, and the work that they issue is executed in stream order.
//
//   main.c, machine.c   the machine: which processes connect and end; a device process for each
//   serve.c, packet.c   the loop of a device process: receive a packet, call its handler, reply
//   cost.c              what a request costs the host
//   work.c              which requests wait or are deferred; launches that are not complete
//   handlers            answer.c, modules.c (code), launch.c, transfer.c (memory), pool.c, ipc.c,
//                       copy.c (copies and fills)
//   helpers             refusal.c (why a call fails), handle.c (handles that were destroyed),
//                       range.c (is a copy within its allocation?), activity.c (the timeline),
//                       trace.c (the calls, for the owner), visible.c (CUDA_VISIBLE_DEVICES),
//                       program.c (why a program never connected), images.c (which modules bring
//                       something)
#pragma once
#include "machine/grid.h"
#include "report/report.h"
#include "wire/row.h"
#include <sys/types.h>

// A request that is being answered. The handler fills in the reply and, if the row has one, its
// tail.
typedef struct {
    WireRequest request;
    char tail[WIRE_TAIL + 1]; // of the request; tail[tail_bytes] is 0
    size_t tail_bytes;
    WireReply reply;
    char *out;     // the tail of the reply: WIRE_TAIL bytes
    int file;      // a file descriptor that is sent with the reply; -1: none
    bool deferred; // it was answered earlier, and is handled now
    bool by_owner; // it is a request of the owner's (wire.h)
    u8 *data;      // the bytes of a copy that is deferred, or the owner's; NULL: they are in the
                   // slots
} Call;

// The state of a device process that outlives a call.
typedef struct {
    u32 count;                // of the devices that the process sees
    u32 number[MOST_DEVICES]; // the machine's number of each of them (visible.c)
    int socket;               // to the process that is served
    int owner;                // to the owner; -1: there is none, or another process has its memory
    pid_t client, program;    // that process, and the process that the machine started
    int pidfd, program_pidfd; // of these two
    int memory;               // the memfd
    u8 *staging;              // WIRE_SLOTS slots
    u64 limit;                // warp instructions per launch; 0: no limit
    bool shares;              // other processes have its memory or its events: they may wait for it
    bool late;                // work starts at a request that queries it or waits for it (--late)
    int sticky;               // the error that all later calls return; 0: none
    bool leaving;             // the process is exiting by itself
    bool faulted;             // its host code has accessed device memory
} Device;

extern Device device;

// ---- serve.c ----

// Answers the requests of one process until the process or the program has ended, and every request
// that it sent is answered. True: it exited by itself.
bool serve(void);

// Reports leaks and unchecked launches when the process has ended. `orderly`: it exited by itself.
void serve_end(bool orderly);

void serve_dispatch(Call *call); // calls the request's handler

// The place in the program's source that messages about this call name.
Place serve_place(const Call *call);

// ---- visible.c ----

// Chooses the devices that the process sees. `text`: its CUDA_VISIBLE_DEVICES; NULL: all devices.
// Returns a cudaError_t.
int visible_choose(const char *text);
// The process's number of a device of the machine; device.count: the process does not see it.
u32 visible_of(u32 number);

// ---- packet.c ----

enum packet { PACKET_NONE, PACKET_REQUEST, PACKET_RUBBISH };

// Receives the next packet, of the owner or of the process that is served, if there is one, and
// prepares the reply. PACKET_RUBBISH: the packet is no valid request.
enum packet packet_receive(Call *call, bool of_owner);
void packet_send(Call *call); // sends the reply, and lets go of the owner's file

// ---- The handlers, in the files named above ----

#define REQUEST(name, handler, ...) void handler(Call *call);
#include "wire/wire.def"

// ---- handle.c ----

// Is there such a stream, or event? If not, the call fails, and a note says where it was destroyed.
bool handle_stream(Call *call, u64 stream);
bool handle_event(Call *call, u64 event);
void handle_no_pool(Call *call, u64 pool); // the same for a pool that there is not

void handle_destroyed(const Call *call, enum wire_handle kind, u64 id); // by this call
// Who destroyed the handle? False: no one did, or too long ago.
bool handle_destroyer(enum wire_handle kind, u64 id, ReportOther *by);

// ---- refusal.c ----

// The call fails with this error, and a note says why, in the words of `cause`, which may have
// numbers in them; NULL: none.
enum { REFUSAL_NUMBERS = 3 };
void refusal(Call *call, int error, enum report_cause cause,
             const ReportNumber numbers[REFUSAL_NUMBERS]);
// There are not so many bytes left of the device's memory, or of that which the host shares.
void refusal_full(Call *call, u64 bytes, u32 device, bool shared);

// ---- transfer.c ----

void transfer_bad_free(Call *call, u64 address); // reports an invalid free, and fails the call
void transfer_leaks(u32 of);                     // reports the allocations that a device still has
void transfer_free_all(u32 of, const u64 *callers);

// ---- copy.c ----

// Reports the bytes that copies have moved which have not come to their ends.
void transfer_tell_unfinished(void);

// ---- modules.c ----

Kernel *launch_kernel_of(u64 id); // NULL: there is none

// ---- launch.c ----

Launch launch_of(const Call *call);
void launch_gather_printed(void); // keeps what kernels have printed until the program fetches it
// At the program's end: reports a failed launch whose error the program did not check, or which
// ended the program, or whose results the program used all the same. If it may have been killed (it
// was not orderly), only that the launch ended it.
void launch_unchecked(bool orderly);
u32 launch_has_printed(void); // a bit for each enum wire_printed
void launch_print_rest(void); // at the program's end: prints what the program has not fetched
