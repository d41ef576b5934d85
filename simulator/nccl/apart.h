// Ranks that are processes of their own, one device each, as mpirun starts them. What they tell
// each other lies in memory that they share under a name made of the clique's id; data passes from
// device to device (cudaIpc*).
#pragma once
#include "clique.h"

enum { MOST_APART = 16 }; // processes of a clique

typedef struct Table Table;

// Takes the rank's seat; the device is told by its place on the bus. NULL: it fails, *result says
// how.
Table *apart_sit(const ncclUniqueId *id, int ranks, int rank, const char *device,
                 ncclResult_t *result);

// Waits until all have a seat. *here: they all are of this process; else each is of its own.
ncclResult_t apart_meet(Table *table, bool *here, int rank);

void apart_give_up(Table *table); // its others need not wait for us any more
void apart_leave(Table *table);   // we need it no more

// Of a member of a clique of several processes: its part of it, made and given back, on the current
// device.
ncclResult_t apart_open(ncclComm_t comm, Table *table);
void apart_close(ncclComm_t comm);

// Does what this rank was asked to do, once the others have been asked too: collectives in order,
// then messages.
ncclResult_t apart_do(ncclComm_t comm, Operation *const *asked, int count);
