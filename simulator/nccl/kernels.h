// The kernels of which all of NCCL's operations consist. They read other devices' memory over the
// links.
#pragma once
#include <cuda_runtime_api.h>
#include <nccl.h>

enum { MOST_RANKS = 64 };

#ifdef __cplusplus
extern "C" {
#endif

// out[i] = in[0][i] op in[1][i] op ... in the order of the ranks, so that every device computes the
// same bits. Types of 16 and 8 bits are reduced in float and rounded once; the others are reduced
// in their own type.
typedef struct Reduction {
    void *out;
    const void *in[MOST_RANKS];
    int ranks;
    size_t count;
} Reduction;

typedef struct Piece {
    void *out;
    const void *in;
    size_t bytes;
} Piece;

// Pieces of memory, copied by one kernel.
typedef struct Pieces {
    Piece piece[MOST_RANKS];
    int count;
} Pieces;

// One rank's part in a meeting with others. For each of these there is a count on either device of
// how often the two have met.
typedef struct Meeting {
    struct {
        volatile unsigned *own, *theirs;
    } with[MOST_RANKS];
    int count;
} Meeting;

enum { MOST_MEETING = 256 }; // communicators whose ranks can meet

// On the current device.
cudaError_t kernel_reduce(const Reduction *reduction, ncclDataType_t type, ncclRedOp_t op,
                          cudaStream_t stream);
cudaError_t kernel_copy(const Pieces *pieces, cudaStream_t stream);
cudaError_t kernel_meet(const Meeting *meeting, cudaStream_t stream);

// The device's counts, as [communicator][rank].
cudaError_t kernel_meetings(unsigned (**counts)[MOST_RANKS]);

#ifdef __cplusplus
}
#endif
