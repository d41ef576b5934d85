// What the grader (session.c) and the worker say to each other: one request,
// one answer, each a single message on a SOCK_SEQPACKET socket. The worker is in
// the student's hands, so the grader believes nothing of an answer but what it
// checks: bytes of an output count, and error codes only ever against.
//
// A request brings its memory as file descriptors (SCM_RIGHTS), in the order of
// its arguments. Every buffer has `guard` bytes before and behind its data:
//
//     | guard | data: `bytes` | guard |
//
//     PASS_DEVICE   two: what the buffer holds before (sealed), and where the
//                   worker copies the whole of it to, guards too, after the call
//     PASS_SPREAD   the same, of an array that is cut into parts: part d goes to device d,
//                   with guards of its own, and the parts stand one after the other
//     PASS_SCRATCH  the same as PASS_DEVICE, but nothing is copied, neither before nor after
//     PASS_HOST     one, mapped as it is: sealed for an input, writable for an output
//     PASS_PINNED   two, as PASS_DEVICE, of pinned memory of the host; it is copied away
//                   when the function returns, before anybody waits for the device
//
// What comes with addresses instead is there already: the grader owns it (owned.h). The worker
// neither copies nor frees it. On the simulated device it has no descriptors. On a GPU it comes as
// a descriptor of device memory, behind all others, of which the worker maps `mapped` bytes and
// calls with what is `guard` bytes behind their beginning.
//
// A call is made at once, or in steps, for the clock: each call to be timed is HELD
// with its buffers; RESET gives all outputs their first contents again; RUN makes
// `times` calls, the held ones in turn, and waits for the device; TAKE copies back
// what the buffers of call number `held` hold now.
#pragma once
#include <stdint.h>

enum {
    PROTOCOL_MAGIC = 0x57505731, // "WPW1"
    PROTOCOL_ARGS = 16,
    PROTOCOL_FDS = 2 * PROTOCOL_ARGS, // descriptors of a request
    PROTOCOL_NAME = 64,
    PROTOCOL_ERROR = 160,
    PROTOCOL_HELD = 16, // calls at most
    PROTOCOL_PARTS = 8, // devices
};

// READY: opens the devices.
enum action { ACTION_READY, ACTION_CALL, ACTION_HOLD, ACTION_RESET, ACTION_RUN, ACTION_TAKE };

enum pass {
    PASS_DEVICE = 1,
    PASS_HOST,
    PASS_I32,
    PASS_I64,
    PASS_F32,
    PASS_F64,
    PASS_SPREAD,
    PASS_SCRATCH,
    PASS_PINNED
};

typedef struct RequestArg {
    uint32_t pass;                    // enum pass
    uint32_t writable;                // PASS_HOST: an output
    uint32_t parts, reserved;         // buffers: PASS_SPREAD: how many; else 1
    uint64_t bytes, guard;            // of each part
    uint64_t bits;                    // scalars: the value, in its low bytes
    uint64_t mapped;                  // bytes, of memory that comes as a descriptor; else 0
    uint64_t address[PROTOCOL_PARTS]; // the owner's, of each part; 0: the worker makes it
} RequestArg;

typedef struct Request {
    uint32_t magic, action; // enum action
    uint32_t times;         // ACTION_RUN
    uint32_t held;          // ACTION_TAKE
    uint32_t argc, returns_i32;
    uint32_t ranged;     // ACTION_CALL: call cudaProfilerStart() when the function begins, and
                         // cudaProfilerStop() when it returns
    uint32_t last_first; // ... on several devices: leave them idle for a while before the call, and
                         // read their memory back from the last one to the first
    char function[PROTOCOL_NAME];
    RequestArg arg[PROTOCOL_ARGS];
} Request;

// How far the worker came. An ACTION_CALL has two answers: that the call begins, which tells the
// addresses should the program not come back from it, and then how it went.
enum stage {
    STAGE_DONE,        // the call returned, the device is quiet, outputs are copied
    STAGE_FUNCTION,    // the program has no such function
    STAGE_PREPARE,     // it could not allocate or copy: not the student's fault
    STAGE_CALL,        // the call left an error in cudaGetLastError (a launch refused)
    STAGE_SYNCHRONIZE, // the device failed while it ran
    STAGE_COPY,        // reading the answer back failed
    STAGE_BEGUN,       // the buffers are ready, and the call begins now
};

typedef struct Answer {
    uint32_t magic, stage; // enum stage
    int32_t cuda;          // cudaError_t of that stage
    int32_t returned;      // what the function returned, if it returns an int
    uint64_t address[PROTOCOL_ARGS]
                    [PROTOCOL_PARTS]; // where each buffer's parts were, device or host
    char error[PROTOCOL_ERROR];       // the error's name and words
} Answer;
