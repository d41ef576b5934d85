// Who wrote each word (4 bytes) of device memory last. Kept only where somebody owns memory
// (wire.h, "The owner"), who asks for it.
#pragma once
#include "base/written_by.h"
#include "memory.h"

enum { WRITER_WORD = 4 };

extern u8 *writers; // of each word from MEMORY_BASE on: enum writer. NULL: it is not kept

// From now on it is kept. False: out of memory.
bool writer_keep(void);

// A range of bytes has been written, every word of it that it touches.
void writer_set(u64 address, u64 bytes, enum writer by);

// ... by a copy on the devices: what somebody else wrote stays theirs.
void writer_copy(u64 to, u64 from, u64 bytes);

// Adds up the words of a range, by writer.
void writer_count(u64 address, u64 bytes, u64 words[WRITERS]);

// How many bytes from there on, of whole words, the device itself has written last (kernels and
// fills), or it has not: *by_device says which. At most `bytes`, and more than 0.
u64 writer_run(u64 address, u64 bytes, bool *by_device);
