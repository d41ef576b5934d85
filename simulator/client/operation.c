// Operations on streams: run at once.

#include "operation.h"

static cudaError_t run(const Operation *operation, uint64_t stream)
{
    switch (operation->kind) {
    case OPERATION_KERNEL: return operation_run_kernel(operation, stream);
    case OPERATION_COPY: return operation_run_copy(operation, stream);
    case OPERATION_FILL: return operation_run_fill(operation, stream);
    case OPERATION_HOST: return operation_run_host(operation, stream);
    }
    return cudaErrorInvalidValue;
}

cudaError_t operation_issue(const Operation *operation, cudaStream_t stream)
{
    return run(operation, client_stream(stream));
}
