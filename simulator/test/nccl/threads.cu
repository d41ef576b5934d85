// NCCL's ranks, each in a thread of its own, which joins by an id and calls without a group; and calls that do not fit.
#include "../programs/check.h"
#include <nccl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define NCCL(call) CHECK((call) == ncclSuccess)

enum { P = 3, N = 1000 };

static ncclUniqueId id;

static int last_of(const int *p, cudaStream_t stream)
{
    int value;
    OK(cudaMemcpyAsync(&value, p + N - 1, sizeof value, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    return value;
}

static void *rank(void *number)
{
    int r = (int)(intptr_t)number, host[N], *p, *q;
    ncclComm_t comm;
    ncclResult_t result;
    cudaStream_t stream;
    for (int i = 0; i < N; i++)
        host[i] = 100 * r + i;
    OK(cudaSetDevice(P - 1 - r));           // ranks need not be on devices of the same number
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaMalloc(&q, sizeof host));
    OK(cudaMemcpyAsync(p, host, sizeof host, cudaMemcpyHostToDevice, stream));
    NCCL(ncclCommInitRank(&comm, P, id, r));
    NCCL(ncclAllReduce(p, q, N, ncclInt32, ncclSum, comm, stream));
    CHECK(last_of(q, stream) == 100 * (0 + 1 + 2) + P * (N - 1));
    NCCL(ncclCommGetAsyncError(comm, &result));
    CHECK(result == ncclSuccess);

    // Two of the three, with no business of the third's.
    if (r == 0)
        NCCL(ncclSend(p, N, ncclInt32, 2, comm, stream));
    if (r == 2)
        NCCL(ncclRecv(q, N, ncclInt32, 0, comm, stream));
    if (r == 2)
        CHECK(last_of(q, stream) == N - 1);

    CHECK(ncclAllReduce(p, q, r == 1 ? 7 : N, ncclInt32, ncclSum, comm, stream) == ncclInvalidArgument);
    CHECK(ncclBroadcast(p, q, N, ncclInt32, P, comm, stream) == ncclInvalidArgument);
    NCCL(ncclAllReduce(p, q, N, ncclInt32, ncclMax, comm, stream));     // and it goes on as before
    CHECK(last_of(q, stream) == 200 + N - 1);
    OK(cudaFree(p));
    OK(cudaFree(q));
    OK(cudaStreamDestroy(stream));
    NCCL(ncclCommDestroy(comm));
    return NULL;
}

// Ranks of one thread, within a group; none of the calls begins before the group ends.
static void joined_by_one_thread()
{
    ncclComm_t comm[P], twice;
    NCCL(ncclGetUniqueId(&id));
    NCCL(ncclGroupStart());
    for (int r = 0; r < P; r++) {
        OK(cudaSetDevice(r));
        NCCL(ncclCommInitRank(&comm[r], P, id, r));
    }
    NCCL(ncclGroupEnd());
    for (int r = 0; r < P; r++)
        NCCL(ncclCommDestroy(comm[r]));
    CHECK(ncclGroupEnd() == ncclInvalidUsage);
    int same[] = { 0, 0 };
    CHECK(ncclCommInitAll(comm, 2, same) == ncclInvalidUsage);
    CHECK(strstr(ncclGetLastError(NULL), "both on device 0"));
    CHECK(ncclCommInitAll(comm, P + 1, NULL) == ncclInvalidArgument);
    memset(&id, 0, sizeof id);
    CHECK(ncclCommInitRank(&twice, 1, id, 0) == ncclInvalidArgument);
    CHECK(ncclCommSplit(comm[0], 0, 0, &twice, NULL) == ncclInvalidUsage);
    CHECK(pncclGroupStart() == ncclSuccess && pncclGroupEnd() == ncclSuccess);
    CHECK(strlen(ncclGetErrorString(ncclRemoteError)) > 0);
}

int main()
{
    pthread_t thread[P];
    NCCL(ncclGetUniqueId(&id));
    for (intptr_t r = 0; r < P; r++)
        CHECK(pthread_create(&thread[r], NULL, rank, (void *)r) == 0);
    for (int r = 0; r < P; r++)
        CHECK(pthread_join(thread[r], NULL) == 0);
    joined_by_one_thread();
    return 0;
}
