// The grader's side of a Buffer (grader.h): what it is filled with, the memory
// files in which it goes to the worker, and what is looked at when it is back.
#pragma once
#include "grader.h"
#include "protocol.h"
#include "../simulator/wire/wire.h"
#include "verdict.h"

// What the elements are, and how many bytes each has.
#define ELEMENTS(X) X(F32, 4) X(I32, 4) X(F16, 2) X(BF16, 2) X(U8, 1)
enum element {
#define X(name, bytes) ELEMENT_##name,
    ELEMENTS(X)
#undef X
};
size_t element_bytes(enum element element);

// The value of element i of an array of them, and a value in the words of an element: with
// so many digits that no two different ones look alike. The caller frees them.
double element_value(enum element element, const void *data, size_t i);
char *element_words(enum element element, double value);

struct Store {
    Buffer buffer;
    enum element element;
    bool output;
    unsigned char *before;     // an input's bytes as they went to the worker
    int given, returned;       // memory files of the call in progress, or -1
    uint64_t guard;            // bytes of guard zone on either side, in this call
    uint32_t parts;            // that it is cut into, in this call, each with guard zones
    uint64_t written[WRITERS]; // words of it, by who wrote them last (written_by.h); all 0: unknown
    struct Store *twins;       // what peers had in its place (buffer_twin)
    const char *peer;          // of a twin: whose it is
};

static inline size_t buffer_bytes(const Buffer *b)
{
    return b->count * element_bytes(b->store->element);
}

// Does this element hold what every output holds before a call? (Of bytes: perhaps.)
bool buffer_is_poison(const Buffer *b, size_t index);

// Of an output that is no bytes: nothing was written there.
bool buffer_is_unwritten(const Buffer *b, size_t index);

// Makes the memory files of a buffer for a call, and says so in `arg`; appends
// them to fds. It may be cut into parts, each for a device of its own. Device buffers have no guard
// zones where the device itself checks bounds: an exact allocation tells more. False: no memory.
bool buffer_give(Buffer *b, bool on_device, uint32_t parts, bool guarded, RequestArg *arg, int *fds,
                 size_t *count);

// A memory file of what it holds now, behind a guard zone of b->store->guard bytes. -1: no memory.
int buffer_file(const Buffer *b);

// Reads a buffer back after the call. NULL, or what it says against the
// function: a guard zone written (*verdict BOUNDS), an input changed (WRONG).
// The caller frees it.
char *buffer_take(Buffer *b, bool on_device, enum verdict *verdict);

// Closes the memory files of a call.
void buffer_close(Buffer *b);

// "out[17]", "out[3][17]" for a matrix; the caller frees it.
char *buffer_place(const Buffer *b, size_t index);

// "0.5", "-7", or "never written"; the caller frees it.
char *buffer_value(const Buffer *b, size_t index);

// A buffer like this one for a peer: the same size, and as an input the same numbers.
// What is expected of an output is then expected of its twins too.
Buffer *buffer_twin(Buffer *b, const char *peer);

// The next buffers' random numbers come from this key, which is no secret: from a few elements all
// others can be worked out.
void buffer_seed(uint64_t key);

// The same with a secret key: from the elements neither it nor other elements can be worked out.
void buffer_seed_secret(uint64_t key);

// A good 64-bit mixture of a text and a number: the key of a check.
uint64_t buffer_key(const char *text, uint64_t number);
