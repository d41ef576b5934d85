// A device for each process, as mpirun starts them: rank 0's id is told by MPI.
#include "../programs/check.h"
#include <mpi.h>
#include <nccl.h>
#include <vector>

enum { N = 1000003 };

int main(int count, char **words)
{
    int rank, ranks;
    float *in, *out;
    cudaStream_t stream;
    ncclUniqueId id;
    ncclComm_t comm;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    OK(cudaSetDevice(rank));
    if (rank == 0)
        CHECK(ncclGetUniqueId(&id) == ncclSuccess);
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess)
        MPI_Abort(MPI_COMM_WORLD, 3);
    std::vector<float> host(N, rank + 1.0f);
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&in, N * sizeof *in));
    OK(cudaMalloc(&out, N * sizeof *out));
    OK(cudaMemcpyAsync(in, host.data(), N * sizeof *in, cudaMemcpyHostToDevice, stream));
    CHECK(ncclAllReduce(in, out, N, ncclFloat32, ncclSum, comm, stream) == ncclSuccess);
    OK(cudaMemcpyAsync(host.data(), out, N * sizeof *in, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        CHECK(host[i] == ranks * (ranks + 1) / 2);
    printf("rank %d of %d: %g\n", rank, ranks, host[N - 1]);
    CHECK(ncclCommDestroy(comm) == ncclSuccess);
    OK(cudaFree(in));
    OK(cudaFree(out));
    OK(cudaStreamDestroy(stream));
    MPI_Finalize();
    return 0;
}
