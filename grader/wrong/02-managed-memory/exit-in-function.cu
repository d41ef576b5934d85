// expect: PROTOCOL
// Leaves when it is called, with the status of success.
#include <unistd.h>

#include "02-managed-memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" void heat(float *out, const float *in, int n, int steps)
{
    _exit(0);
}
