// Putting operations to work, once all who take part have called.
#pragma once
#include "clique.h"

// Issues what of the clique is complete: every rank's next collective, and messages whose other end is there. Operations
// that do not fit each other fail.
void issue_complete(Clique *clique);
