// The memory of all devices: one range of addresses, reserved at the same place in the device
// process, which holds the bytes, and in the program, where an access to it crashes as on hardware.
// An unmapped gap follows every allocation, and addresses are not reused while there are fresh
// ones, so that a wild access can be recognised and related to the allocation that it missed.
#pragma once
#include "base/base.h"
#include "base/place.h"
#include "heap_room.h"

#define MEMORY_BASE 0x200000000000ull
#define MEMORY_SPAN (1ull << 40)

// The last quarter of the range is memory that the host shares: managed memory, then pinned memory.
#define MEMORY_SHARED_SPAN (1ull << 38)
#define MEMORY_SHARED (MEMORY_BASE + MEMORY_SPAN - MEMORY_SHARED_SPAN)
#define MEMORY_PINNED (MEMORY_SHARED + MEMORY_SHARED_SPAN / 2)

enum { MEMORY_CALLERS = 4 };

enum memory_kind {
    MEMORY_DEVICE,      // cudaMalloc: undefined
    MEMORY_VARIABLE,    // a __device__ or __constant__ variable: its initialiser, or zeros
    MEMORY_STRING,      // a variable that the compiler made, such as a printf's format
    MEMORY_MANAGED,     // cudaMallocManaged, or a __managed__ variable (it has a name): zeros
    MEMORY_PINNED_HOST, // cudaMallocHost, cudaHostAlloc: zeros
    MEMORY_HEAP,        // a kernel's malloc (heap.c)
    MEMORY_IMPORTED,    // another process's (ipc.c)
};

typedef struct Allocation {
    u64 base, size; // bytes
    enum memory_kind kind;
    u32 device; // of the allocation
    bool freed;
    bool free_failed;           // a call that was to free it was given a stream that there is not
    u32 number;                 // 1 for the program's first allocation
    const char *name;           // of a variable, else NULL
    u64 made[MEMORY_CALLERS];   // host return addresses of the allocating call, innermost first; 0
                                // ends them
    u64 unmade[MEMORY_CALLERS]; // of the freeing call
    bool registered;            // host memory that the program has pinned
    Place made_in, unmade_in;   // of a kernel's malloc and free
    HeapRun run;                // the part of the heap that it occupies (heap.c)
    struct Pooled *pooled;      // allocated in stream order (streams/pooled.h); otherwise NULL
    u32 exported;               // its number in ipc.c; 0: no other process may open it
    u32 reached_by;             // imported: other devices that may access it, a bit each
    u32 stored_by;              // shard.c: the launch that stored to it last, as far as is known
    struct Allocation *next;    // in ascending order of addresses
} Allocation;

// Reserves the range. `capacity`: the bytes of each device. False: the address space is occupied.
bool memory_init(u64 capacity);

// Counts each device's used bytes there, where the device processes of a machine share them. NULL:
// not counted.
void memory_count_in(u64 *const used[MOST_DEVICES]);
void memory_end(void);

// The shared part's memory is in file `fd` from `offset` on, as in the host.
bool memory_share(int fd, u64 offset);

// The next part of the shared memory, from *from on, that has been touched by either side: its
// pages
// [*from, *end). False: there is none.
bool memory_shared_part(u64 *from, u64 *end);

// Another mapping of its first bytes, which stays as the host has them. NULL: out of memory.
void *memory_shared_view(u64 bytes);

// Allocates `size` bytes, at least 1, aligned to `align`, a power of two (cudaMalloc: 256). NULL:
// the device is full. `callers` may be NULL.
Allocation *memory_alloc(u64 size, u64 align, enum memory_kind kind, u32 device,
                         const u64 *callers);

// A function to be called for each allocation of memory that the host shares.
void memory_tell_shared(void (*allocated)(const Allocation *));

// Moves an allocation's bytes into the file at `offset`, at the same addresses. False: out of
// memory.
bool memory_back(const Allocation *a, int fd, u64 offset);

// Maps what is in the file at that place at addresses of its own; it counts as written. NULL: out
// of memory. And unmaps it.
Allocation *memory_import(u64 size, u32 device, int fd, u64 offset, const u64 *callers);
void memory_unimport(u64 address, const u64 *callers);

// Reserves a readable part of the range, in which the caller allocates with memory_place(). 0: out
// of memory.
u64 memory_reserve(u64 bytes);
Allocation *memory_place(u64 base, u64 size, enum memory_kind kind, u32 device);

// Frees the allocation that starts at `address`. False: none does, or it is a variable or a
// kernel's.
bool memory_free(u64 address, const u64 *callers);

// Is it an allocation of the host code, and no variable?
static inline bool memory_is_freeable(const Allocation *a)
{
    return !a->name && a->kind != MEMORY_HEAP && a->kind != MEMORY_VARIABLE
        && a->kind != MEMORY_STRING && a->kind != MEMORY_IMPORTED;
}

// Restores a freed allocation to its initial state. False: out of memory.
bool memory_revive(Allocation *a, const u64 *callers);

// The live or freed allocation that contains `address`; NULL: none.
Allocation *memory_find(u64 address);

// The allocation with the edge nearest to `address`; NULL: there are no allocations.
Allocation *memory_nearest(u64 address);

// All allocations by ascending address, freed ones included.
Allocation *memory_first(void);

u64 memory_used(u32 device); // bytes in live allocations of all processes
u64 memory_capacity(void);   // bytes of each device

// Definedness: has each byte been written? Both functions take a range within one allocation.
void memory_define(u64 address, u64 bytes);
u64 memory_undefined(u64 address,
                     u64 bytes); // offset of the first undefined byte, or `bytes`

// From now on all memory counts as written when it is allocated.
void memory_ignore_definedness(void);

// The bitmap itself, for the executor's fast path: bit (address - MEMORY_BASE) % 64 of word (...) /
// 64.
extern u64 *memory_defined_bits;

// Another such bitmap: undefined bytes to which a kernel stored an undefined value.
extern u64 *memory_computed_bits;
