// Issues operations to the devices, once every rank that takes part has called. Arrays `by_rank`
// hold each rank's call of one collective.
#pragma once
#include "communicator.h"

// Issues every complete operation: a collective that all ranks have called, a message whose sender
// and receiver have both called. Calls that do not match fail.
void issue_complete(Communicator *communicator);

// Do the ranks' calls of a collective match?
ncclResult_t issue_check(Operation *const *by_rank, int ranks);

// A collective has one phase or two. A phase is a kernel on every device, and all devices end one
// phase before any begins the next. issue_phase() launches rank r's kernel on the current device:
// it reads what the ranks send, in the second phase what they received in the first, and writes to
// `out`.
int issue_phases(enum kind kind, int ranks);
cudaError_t issue_phase(Operation *const *by_rank, int ranks, int r, int phase, void *out);

static inline size_t bytes_of(ncclDataType_t type)
{
    static const unsigned char bytes[ncclNumTypes] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };
    return bytes[type];
}

static inline char *at(const void *base, size_t element, ncclDataType_t type)
{
    return (char *)base + element * bytes_of(type);
}

static inline void pieces_add(Pieces *pieces, void *out, const void *in, size_t bytes)
{
    if (out != in && bytes) pieces->piece[pieces->count++] = (Piece){ out, in, bytes };
}
