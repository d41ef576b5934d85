// The protocol between a program and its simulated device. A request is one packet, and its reply
// another, over a SOCK_SEQPACKET pair, so a message cannot change while the device reads it. Bulk
// data passes through slots of a sealed memfd, which both sides map at the same address. The device
// trusts no field of a request.
#pragma once
#include "../base/written_by.h" // by its path from here: others include this file too
#include <stdint.h>

#define WIRE_ENVIRONMENT "WARPWISE_DEVICE" // environment: "<socket fd>,<memfd>,<name>"
#define WIRE_STAGING 0x1fff00000000ull     // where both sides map the memfd
#define WIRE_MEMORY 0x200000000000ull // device addresses begin here; the program cannot read them
#define WIRE_MEMORY_SPAN (1ull << 40)

// At the end of the device addresses is the shared memory, which both sides map from the memfd:
// managed memory, then pinned memory. The program maps each allocation when it receives it.
#define WIRE_SHARED_SPAN (1ull << 38)
#define WIRE_SHARED (WIRE_MEMORY + WIRE_MEMORY_SPAN - WIRE_SHARED_SPAN)
#define WIRE_PINNED (WIRE_SHARED + WIRE_SHARED_SPAN / 2)
#define WIRE_END (WIRE_MEMORY + WIRE_MEMORY_SPAN)

enum {
    WIRE_VERSION = 1,
    WIRE_SLOTS = 4,
    WIRE_SLOT_BYTES = 1 << 20,
    WIRE_TAIL = 48 << 10, // longest tail of a packet: names, parameters
    WIRE_CALLERS = 8,
    WIRE_DEVICES = 16,        // at most, in the simulated machine
    WIRE_CLUSTER_BLOCKS = 16, // at most, in a cluster
    WIRE_PAGE = 4096,         // bytes: the granularity at which host accesses are noticed
};

// The memfd: the slots, then the shared memory.
#define WIRE_SLOTS_BYTES (WIRE_SLOTS * (uint64_t)WIRE_SLOT_BYTES)
#define WIRE_FILE_BYTES (WIRE_SLOTS_BYTES + WIRE_SHARED_SPAN)

enum wire_op {
#define REQUEST(name, ...) WIRE_##name,
#include "wire.def"
    WIRE_OPERATION_COUNT
};

// The cudaError_t values that the device returns, under CUDA's names.
enum wire_error {
    WIRE_SUCCESS = 0,
    WIRE_INVALID_VALUE = 1,
    WIRE_MEMORY_ALLOCATION = 2,
    WIRE_INITIALIZATION = 3,
    WIRE_INVALID_SYMBOL = 13,
    WIRE_DEVICES_UNAVAILABLE = 46,
    WIRE_NO_DEVICE = 100,
    WIRE_INVALID_DEVICE = 101,
    WIRE_DEVICE_UNINITIALIZED = 201,
    WIRE_NO_KERNEL_IMAGE = 209,
    WIRE_INVALID_PTX = 218,
    WIRE_INVALID_RESOURCE_HANDLE = 400,
    WIRE_SYMBOL_NOT_FOUND = 500,
    WIRE_NOT_READY = 600,
    WIRE_PEER_ALREADY_ENABLED = 704,
    WIRE_PEER_NOT_ENABLED = 705,
    WIRE_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    WIRE_LAUNCH_OUT_OF_RESOURCES = 701,
    WIRE_LAUNCH_TIMEOUT = 702,
    WIRE_NOT_SUPPORTED = 801,
    WIRE_INVALID_CLUSTER_SIZE = 912,
    WIRE_UNKNOWN = 999,
    // The kernels that the call waits for make no progress. The client sends the request again once
    // no other thread of the process can help them, with `alone` set.
    WIRE_DEADLOCKED = 1 << 20,
};

// A piece of a larger transfer: `slot` holds `bytes` of it, from `offset` on.
typedef struct {
    uint64_t total, offset;
    uint32_t bytes, slot;
} WireChunk;

// A box of bytes: rows of `width` bytes that begin `pitch` bytes apart, in slices that begin
// `slice` bytes apart. A plain copy has one row. The bytes between rows are not transferred.
typedef struct {
    uint64_t address, pitch, slice;
} WireBox;

// Memory of cudaMalloc, managed memory, pinned memory, and registered memory of the program.
enum wire_memory { WIRE_OF_DEVICE, WIRE_OF_BOTH, WIRE_OF_HOST, WIRE_OF_PROGRAM };

// The owner: a process that the program does not know, which owns memory on the program's devices
// (simulator/run --owner FD). Over a socket of its own it makes those of the requests of wire.def
// that are for it: it allocates, fills, reads and frees, and says when a range of the profile
// begins and ends. It says what the host is given, and asks what the host has made of it (GIVEN,
// COMPARED). A copy has one row, whose bytes are in a file from .copy.from.address on; its
// descriptor comes with the request. The reply to COPY_OUT says how many words (of 4 bytes) of the
// array each writer (base/written_by.h) wrote last. In reports WIRE_OWNER stands for the return
// address of its calls. The JSON report also has the calls that the program makes (report/json.h,
// "call"), and their source lines once the owner asks for them (SITES).
enum { WIRE_OWNER = 1 };

enum { WIRE_GRAPH_POOL = 1 }; // the id of the pool that the device's graphs allocate from

enum wire_printed { WIRE_PRINTED_OUT, WIRE_PRINTED_ERR, WIRE_PRINTED_TO }; // stdout, stderr
// What a handle is of. The client gives out those of graphs itself.
enum wire_handle {
    WIRE_HANDLE_STREAM,
    WIRE_HANDLE_EVENT,
    WIRE_HANDLE_POOL,
    WIRE_HANDLE_GRAPH,
    WIRE_HANDLE_EXEC,
    WIRE_HANDLES
};

enum wire_condition { WIRE_CONDITION_MAKE, WIRE_CONDITION_SET, WIRE_CONDITION_READ };

// Pages of the shared memory: the page at WIRE_SHARED is page 0.
typedef struct {
    uint32_t first, count;
} WirePages;

// What host code may do with pages of pinned memory while work is under way there: anything; read
// them; nothing. The page at WIRE_PINNED is page 0.
enum wire_guard { WIRE_OPEN, WIRE_READ_ONLY, WIRE_CLOSED };
typedef struct {
    uint32_t first, count, guard;
} WireGuard;

typedef struct {
    uint32_t version, op;
    char call[32];                 // "cudaMemcpy": for messages
    uint64_t caller[WIRE_CALLERS]; // host return addresses, innermost first; 0 ends them
    uint64_t stream;               // id; 0: the default stream of the device
    uint32_t device;               // the current device of the calling thread
    uint32_t alone;                // no other thread of the process can end a kernel's waiting
    uint32_t within, reserved;     // within: part of a call that an earlier request has announced
    union {                        // wire.def names the member that a request uses
        struct {
            uint64_t address;
            uint32_t writes;
            uint32_t bytes, opened; // TOUCH: 0: one byte; the client has opened the page
        } fault;
        struct {
            WireChunk chunk;
            uint64_t twin;
        } module; // twin: the id of the same module on another device; 0: none
        struct {
            uint64_t id;
        } object; // or a number: see the request's row
        struct {
            uint64_t module;
            uint32_t number;
        } name; // the tail is its text
        struct {
            uint64_t bytes, align;
            uint32_t kind;
        } alloc; // kind: enum wire_memory
        struct {
            uint64_t address;
            uint32_t kind;
        } pointer;
        struct {
            uint64_t id, bytes;
            uint32_t attribute, set;
        } pool; // id 0: the device's default pool
        struct {
            uint64_t address, bytes;
            uint32_t advice;
            int32_t location;
        } range; // managed memory
        struct {
            WireBox device, from; // from: the source of COPY_DEVICE, the host's box of COPY_OUT
            uint64_t width, rows, slices; // bytes; rows in a slice
            WireChunk chunk;              // COPY_IN, COPY_OUT
            uint32_t value, value_bytes;  // FILL: 1, 2 or 4 bytes at a time
            uint32_t pinned, blocks;      // the host's memory is pinned; the call blocks the host
            uint64_t reach; // COPY_IN, COPY_OUT: the address by which the device itself reaches the
                            // host's box; 0: the bytes pass through the slots
        } copy;
        struct {
            uint64_t kernel;
            uint32_t grid[3], block[3];
            uint64_t dynamic_shared, dynamic_limit; // bytes; the limit of cudaFuncSetAttribute
            uint32_t unchecked;     // the program ignores the result, as <<<>>> does
            uint32_t cooperative;   // all blocks must be resident at once
            uint32_t cluster[3];    // blocks in each dimension; 0: the launch gives no size
            uint32_t cluster_limit; // the most blocks that a cluster may have
            uint32_t in_graph;      // part of a graph launch
            uint32_t reaches_all;   // it may access every device's memory
            uint32_t carveout;      // OCCUPANCY: the preferred shared memory carveout in per cent,
                                    // plus 1; 0: none
        } launch;
        struct {
            uint64_t event;
            uint32_t flags;
        } event; // flags: EVENT_CREATE
        struct {
            uint32_t flags;
            int32_t priority;
        } create;
        struct {
            uint64_t id;
            uint32_t kind, fails; // kind: enum wire_handle; fails: that the call fails is an error
        } handle;
        struct {
            uint64_t from, to;
        } elapsed;
        struct {
            uint32_t other, enable;
        } peer;
        struct {
            uint64_t limit, value;
        } limit;
        struct {
            uint64_t id;
            uint32_t value, what;
        } condition; // what: enum wire_condition
    };
} WireRequest;

typedef struct {
    uint32_t version;
    int32_t error;    // cudaError_t of this call
    int32_t sticky;   // cudaError_t that every later call will return; 0: none
    uint32_t tail;    // bytes that follow the reply
    uint32_t printed; // kernels have printed text, which PRINTED fetches: a bit for each
                      // enum wire_printed
    uint32_t guards;  // host code is kept from other pages now, which the request GUARDS fetches
    union {
        uint64_t id; // MODULE, STREAM_CREATE, EVENT_CREATE
        struct {
            uint64_t address, size;
            uint32_t device;
        } memory; // ALLOC, VARIABLE, POINTER (size 0: none)
        struct {
            uint64_t free, total;
        } info;
        struct {
            uint64_t value;
        } pool; // POOL_ATTRIBUTE, POOL_ACCESS
        struct {
            uint64_t words[WRITERS];
        } written; // COPY_OUT, to the owner
        struct {
            double milliseconds;
        } elapsed;
        struct {
            uint64_t bytes;
            uint32_t blocks, clusters;
        } occupancy; // blocks of an SM, clusters of the device; bytes of shared memory for a block
        struct {
            uint64_t number;
            uint32_t device, flags;
            int32_t priority;
        } stream;                              // STREAM_FACTS
        struct {                               // RANGE: what is true of all its pages
            uint32_t read_mostly, accessed_by; // accessed_by: a bit for each device
            int32_t preferred, prefetched;     // 0: the device; -1: the host; -2: neither
        } range;
        struct {
            uint64_t id;
            uint32_t count; // parameters
            uint32_t bytes; // of the parameter block
            uint32_t shared_bytes, local_bytes, max_threads, registers, constant_bytes;
            uint32_t ptx_version; // 90
            uint32_t cluster[3];  // blocks in each dimension; 0: the kernel gives no size
            uint32_t clustered;   // it must be launched with clusters
        } kernel;
    };
} WireReply;

typedef struct {
    uint32_t offset, size; // bytes in the parameter block
} WireParameter;

// The devices' properties, which are the same for all, for cudaGetDeviceProperties() and others.
typedef struct {
    char name[256];
    int32_t device_count;
    uint8_t number[WIRE_DEVICES]; // the machine's number of each device that the process sees
    int32_t major, minor, sm_count;
    int32_t threads_per_sm, blocks_per_sm, registers_per_sm;
    int32_t shared_per_sm, shared_per_block; // bytes
    int32_t shared_per_block_optin, shared_reserved;
    int32_t l2_bytes, memory_bus_bits;
    int32_t clock_khz, memory_clock_khz;
    uint64_t memory_bytes;
} WireFacts;
