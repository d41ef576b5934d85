#include "phrases.h"
#include "memory/memory.h"
#include "message.h"
#include <string.h>

static const char *beside(const Report *r)
{
    const Allocation *a = r->allocation;
    if (!a) return NULL;
    if (r->address < a->base) return "{before} bytes before the {memory}";
    if (r->address < a->base + a->size) return "at byte {offset} of the {memory}";
    return r->address == a->base + a->size ? "just past the end of the {memory}"
                                           : "{beyond} bytes past the end of the {memory}";
}

// In elements as wide as the access, if the allocation is an array of such.
static const char *element_of(const Report *r)
{
    const Allocation *a = r->allocation;
    bool inside = a && r->address - a->base < a->size;
    bool whole = a && r->bytes && a->size % r->bytes == 0 && (r->address - a->base) % r->bytes == 0;
    return whole && !inside ? ", element {element_number} of {elements}" : "";
}

static const char *beside_any(const Report *r)
{
    return r->allocation                              ? "{beside}"
         : r->cause == CAUSE_call_names_no_allocation ? "no allocation"
                                                      : "device memory";
}

static const char *memory_of(const Report *r)
{
    return r->allocation && r->allocation->name ? "{size}-byte variable {variable}"
                                                : "{size}-byte {allocation}{comma_freed}";
}

// Shared and local memory have addresses of 32 bits.
static const char *in_window(const Report *r)
{
    return (int32_t)r->address < 0 ? "{under} bytes before" : "at byte {at} of";
}

static const char *window_of(const Report *r)
{
    return r->has_owner          ? "{window_bytes} bytes of shared memory of block {owner}"
         : r->space == IN_SHARED ? "block's {window_bytes} bytes of shared memory"
                                 : "thread's {window_bytes} bytes of local memory";
}

static const char *place_of_race(const Report *r)
{
    return r->allocation ? ", {beside}"
         : r->has_owner  ? " in the shared memory of block {owner}"
                         : " in shared memory";
}

// What puts the two sides of a race of one launch in order.
static const char *put_in_order(const Report *r)
{
    bool shared = r->space == IN_SHARED;
    if (r->other.has_block && shared)
        return "Put a cluster.sync() that all threads of the cluster reach between the two";
    if (r->other.has_block)
        return "Do the second part in another launch{cooperative?, or after a grid.sync()}";
    if (r->other.same_warp) return "Put a __syncwarp() or a __syncthreads() between the two";
    if (shared && !message_same_line(r))
        return "Put a __syncthreads() that all threads reach between the two lines";
    if (shared) return "Put a __syncthreads() that all threads reach between the two";
    return "If this block alone comes to that place, put a __syncthreads() that all threads reach "
           "between the two";
}

// The threads of a block that share a place in shared memory take turns there, so that order
// matters.
static bool order_matters(const Report *r) { return r->space == IN_SHARED && !r->other.has_block; }

static const char *or_write_atomic(const Report *r)
{
    return order_matters(r) ? ""
                            : "; where any order will do, let the write be an atomic, too: "
                              "atomicExch(), or store() of a cuda::atomic_ref";
}

static const char *or_read_atomic(const Report *r)
{
    return order_matters(r) ? ""
                            : "; where any order will do, let the read be an atomic, too: "
                              "atomicAdd() of 0, or load() of a cuda::atomic_ref";
}

static const char *pointer_of(const Report *r)
{
    const ReportPointer *p = &r->pointer;
    if (p->from == FROM_MEMORY) return "{memory_of_pointer}";
    if (p->from != FROM_ARGUMENT) return NULL;
    return p->bytes > sizeof r->address
             ? "byte {pointer_byte} of argument {argument} of the kernel, of {argument_bytes} bytes"
             : "argument {argument} of the kernel";
}

// How to set a pointer that is null, or the host's.
static const char *set_pointer(const Report *r)
{
    const ReportPointer *p = &r->pointer;
    bool member = p->from == FROM_ARGUMENT && p->bytes > sizeof r->address;
    if (p->from == FROM_MEMORY && p->null)
        return "Store the address of device memory in this place before the kernel reads it.";
    if (member && p->null)
        return "Set this member of the argument to memory of cudaMalloc before the launch.";
    if (p->from == FROM_MEMORY)
        return "Copy what it points to to the device too, and store the address that it has there "
               "in this place: a std::string or std::vector keeps such pointers inside.";
    return member ? "Copy what it points to to memory of cudaMalloc, and set this member of the "
                    "argument "
                    "to that address before the launch: a std::string or std::vector keeps such "
                    "pointers inside."
                  : "Pass the kernel the pointers that cudaMalloc gave.";
}

static const struct {
    const char *name;
    const char *(*choose)(const Report *);
} phrase_table[] = {
    { "pointer", pointer_of },
    { "set_pointer", set_pointer },
    { "beside", beside },
    { "beside_any", beside_any },
    { "element", element_of },
    { "memory", memory_of },
    { "in_window", in_window },
    { "window", window_of },
    { "place", place_of_race },
    { "put_in_order", put_in_order },
    { "or_write_atomic", or_write_atomic },
    { "or_read_atomic", or_read_atomic },
};

const char *(*phrase_find(const char *name))(const Report *)
{
    for (size_t i = 0; i < sizeof phrase_table / sizeof *phrase_table; i++)
        if (!strcmp(phrase_table[i].name, name)) return phrase_table[i].choose;
    return NULL;
}
