// Putting operations to work, once all who take part have called.
#pragma once
#include "clique.h"

// Issues what of the clique is complete: every rank's next collective, and messages whose other end
// is there. Operations that do not fit each other fail.
void issue_complete(Clique *clique);

// Do the ranks' calls of a collective fit each other?
ncclResult_t issue_check(Operation *const *part, int ranks);

// A collective takes so many phases, each a kernel on every device, and all are through with one
// before the next begins. Rank r's, on the current device: it reads what the parts send, in the
// second phase what they received in the first, and writes to `out`.
int issue_phases(enum kind kind, int ranks);
cudaError_t issue_part(Operation *const *part, int ranks, int r, int phase, void *out);

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
