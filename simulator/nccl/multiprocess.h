// Communicators whose ranks are separate processes, one device each, as mpirun starts them. The
// processes coordinate through a file of shared memory that is named after the communicator's id
// (bootstrap.h). Data moves from device to device through CUDA's inter-process handles (cudaIpc*).
#pragma once
#include "communicator.h"

enum { MOST_PROCESSES = 16 }; // of one communicator

typedef struct Bootstrap Bootstrap;

// Registers the rank in the shared file; `device` is its PCI bus id. NULL: it failed, and *result
// says how.
Bootstrap *bootstrap_join(const ncclUniqueId *id, int ranks, int rank, const char *device,
                          ncclResult_t *result);

// Waits until all ranks have registered. *single_process: they all belong to this process;
// otherwise each rank has a process of its own.
ncclResult_t bootstrap_connect(Bootstrap *bootstrap, bool *single_process, int rank);

void bootstrap_abort(Bootstrap *bootstrap); // this rank has failed: the others stop waiting for it
void bootstrap_leave(Bootstrap *bootstrap); // unmaps the file

// Makes and frees what a rank of a multi-process communicator needs on the current device.
ncclResult_t multiprocess_open(ncclComm_t comm, Bootstrap *bootstrap);
void multiprocess_close(ncclComm_t comm);

// Runs this rank's operations once the other ranks have called theirs: first the collectives in
// order, then sends and receives.
ncclResult_t multiprocess_run(ncclComm_t comm, Operation *const *operations, int count);
