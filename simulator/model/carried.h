// What a program's host has brought to the device and taken from it, by content: for an owner
// (wire.h) whose arrays are the host's. It says what it gives the host (GIVEN). Words that the host
// brings and that are in no piece of that, nor of what the device itself has made, the host has
// worked out: they are told as a crossing (report.h), and so is a byte for each choice that the
// order of the others is (memory/choices.h). And of an answer of the host's, the owner asks which
// words are in no piece of what the device has made (COMPARED).
//
// Managed memory is one memory for host and device, and nobody sees a write of the host's. So the
// device gets bytes of its own there, and a mirror of them. Before a kernel or a copy reads them,
// what the host has changed since is taken over, and looked at; when it is done, the host gets what
// it has changed. Meanwhile no thread of the program's reaches them. Pinned memory stays one
// memory: all that kernels read there is told.
#pragma once
#include "machine/grid.h"
#include "memory/memory.h"

// From now on managed memory that is allocated is kept apart from the host's.
void carried_keep(void);

// This device serves another process than the one that the owner's program began with: all that it
// brings the host has worked out. Nobody asks it about a call, so it is to tell what crossed.
void carried_by_another(void);
bool carried_is_by_another(void);

// A call begins whose arrays are the host's: from now on what it is given is told.
void carried_begin(void);

// An array that the host is given in this call.
void carried_given(const void *bytes, u64 count);

// A fresh allocation of managed memory.
void carried_allocated(const Allocation *a);

// A copy has brought these bytes from the host.
void carried_in(const void *bytes, u64 count);

// The host has launched a kernel; or issued a copy or fill of that kind, which these words
// describe. What is in an operation's words, of where it goes and how far, says something as well.
// Told are the new words. The others are the same as in an operation of that kind before, or go on
// as those did (as an index or an address in a loop does); all of them after one operation of the
// latest eight, as in a loop that takes turns with up to eight buffers. A byte more
// is told for another rule than before, and for a kernel out of its turn. Before anybody has said
// what the host was given, what launches tell counts as the addresses of copies and fills do.
void carried_launch(const Launch *l);
void carried_operation(const void *kind, const u32 *words, u64 count);

// Managed memory is about to be read or written by the device, and has been.
void carried_look(void);
void carried_done(void);

// A copy or fill has written this range of managed memory.
void carried_written(u64 address, u64 bytes);

// A kernel has read so many bytes of pinned memory.
void carried_pinned(u64 bytes);

// A copy takes these bytes to the host.
void carried_out(u64 address, u64 bytes);

// How many of the words are in no piece of what the device has made or the host was given; of the
// choices in the order of the others four count as a word.
u64 carried_unknown(const void *bytes, u64 count);
