// The memory of all devices: one range of addresses, reserved at the same place in the device
// process (where it holds the bytes) and in the program (where touching it crashes, as it would on
// hardware). Every allocation has an unmapped gap behind it, and an address is not handed out again
// while there are fresh ones, so that a wild access can be told from a good one and be laid to the
// allocation that it missed.
#pragma once
#include "base/base.h"
#include "base/place.h"
#include "heap_room.h"

#define MEMORY_BASE 0x200000000000ull
#define MEMORY_SPAN (1ull << 40)

// The last quarter of the range is memory that the host has as well: managed memory, then pinned.
#define MEMORY_SHARED_SPAN (1ull << 38)
#define MEMORY_SHARED (MEMORY_BASE + MEMORY_SPAN - MEMORY_SHARED_SPAN)
#define MEMORY_PINNED (MEMORY_SHARED + MEMORY_SHARED_SPAN / 2)

enum { MEMORY_CALLERS = 4 };

enum memory_kind {
    MEMORY_DEVICE,      // cudaMalloc: nothing has been written to it yet
    MEMORY_VARIABLE,    // a __device__ or __constant__ variable: its initialiser, or zeros
    MEMORY_STRING,      // a variable that the compiler made, as printf's formats are
    MEMORY_MANAGED,     // cudaMallocManaged, or a __managed__ variable (it has a name): zeros
    MEMORY_PINNED_HOST, // cudaMallocHost, cudaHostAlloc: zeros
    MEMORY_HEAP,        // a kernel's malloc (heap.c)
    MEMORY_IMPORTED,    // another process's (ipc.c)
};

typedef struct Allocation {
    u64 base, size; // bytes
    enum memory_kind kind;
    u32 device; // that it was allocated on
    bool freed;
    u32 number;                 // 1 for the program's first allocation
    const char *name;           // of a variable, else NULL
    u64 made[MEMORY_CALLERS];   // host return addresses, innermost first; 0 ends them
    u64 unmade[MEMORY_CALLERS]; // those of the call that freed it
    bool registered;            // it is host memory that the program has pinned
    Place made_in, unmade_in;   // those of a kernel's malloc and free
    HeapRun run;                // heap.c's: what of the heap it takes
    struct Pooled *pooled;      // it was allocated in stream order (streams/pooled.h); else NULL
    u32 exported;               // ipc.c's: its number there; 0: no other process may have it
    u32 reached_by;             // imported: a bit for each device that may reach it besides its own
    u32 stored_by;              // shard.c: the launch that stored to it last, as far as it knows
    struct Allocation *next;    // by rising address
} Allocation;

// Reserves the range. `capacity` is how many bytes each device has. False: the address space is not
// free.
bool memory_init(u64 capacity);

// Counts what is in use of each device there (NULL: of none), where the device processes of a
// machine share it.
void memory_count_in(u64 *const used[MOST_DEVICES]);
void memory_end(void);

// The memory of the shared part: `offset` and what follows in file `fd`, which the host has too.
bool memory_share(int fd, u64 offset);

// A fresh allocation of `size` bytes (at least 1), aligned to `align` (a power of two; cudaMalloc:
// 256), or NULL when the device has no room left. `callers` may be NULL.
Allocation *memory_alloc(u64 size, u64 align, enum memory_kind kind, u32 device,
                         const u64 *callers);

// Somebody who is told of each allocation of memory that the host has as well.
void memory_tell_shared(void (*allocated)(const Allocation *));

// Moves what is allocated into the file at `offset`, at the same addresses. False: no room.
bool memory_back(const Allocation *a, int fd, u64 offset);

// What lies there in the file, at addresses of its own; it counts as written. NULL: no room. And
// its end.
Allocation *memory_import(u64 size, u32 device, int fd, u64 offset, const u64 *callers);
void memory_unimport(u64 address, const u64 *callers);

// Part of the range for the caller to allocate in with memory_place(): 0 when there is no room
// left. It is readable.
u64 memory_reserve(u64 bytes);
Allocation *memory_place(u64 base, u64 size, enum memory_kind kind, u32 device);

// Frees what starts at `address`. False: no live allocation starts there, or it is a variable or a
// kernel's.
bool memory_free(u64 address, const u64 *callers);

// Is it one that the program's host code allocates and frees, and no variable?
static inline bool memory_is_freeable(const Allocation *a)
{
    return !a->name && a->kind != MEMORY_HEAP && a->kind != MEMORY_VARIABLE
        && a->kind != MEMORY_STRING && a->kind != MEMORY_IMPORTED;
}

// What was freed is there again, as it was when it was new. False: no room.
bool memory_revive(Allocation *a, const u64 *callers);

// The allocation, live or freed, that `address` lies in; NULL if it lies in none.
Allocation *memory_find(u64 address);

// The allocation whose edge is nearest to `address`; NULL if there is none at all.
Allocation *memory_nearest(u64 address);

// All allocations by rising address, freed ones too.
Allocation *memory_first(void);

u64 memory_used(u32 device); // bytes in live allocations, of all processes
u64 memory_capacity(void);   // bytes that each device has

// Definedness, a bit for each byte: has anything written it? Both take any range inside one
// allocation.
void memory_define(u64 address, u64 bytes);
u64 memory_undefined(u64 address,
                     u64 bytes); // offset of the first byte that nothing wrote, or `bytes`

// From now on all memory counts as written as soon as it is allocated.
void memory_ignore_definedness(void);

// The bitmap itself, for the executor's fast path: bit (address - MEMORY_BASE) % 64 of word (...)
// / 64.
extern u64 *memory_defined_bits;

// Another like it: of bytes that nothing defined, those that a kernel stored to, what it stored
// being undefined.
extern u64 *memory_computed_bits;
