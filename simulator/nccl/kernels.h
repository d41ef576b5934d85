// The two kernels that all of NCCL's operations are made of: both read other devices' memory over
// the links.
#pragma once
#include <cuda_runtime_api.h>
#include <nccl.h>

enum { MOST_RANKS = 64 };

#ifdef __cplusplus
extern "C" {
#endif

// out[i] = in[0][i] op in[1][i] op ... in that order, which is the order of the ranks: so all
// devices get the same bits. Numbers of 16 and 8 bits are added up in float and rounded once; the
// others in their own type.
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

// On the current device.
cudaError_t kernel_reduce(const Reduction *reduction, ncclDataType_t type, ncclRedOp_t op,
                          cudaStream_t stream);
cudaError_t kernel_copy(const Pieces *pieces, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
