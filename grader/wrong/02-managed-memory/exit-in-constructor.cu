// expect: PROTOCOL
// Leaves before the grader asks anything, with the status of success.
#include <unistd.h>

#include "02-managed-memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void leave(void)
{
    _exit(0);
}

extern "C" void heat(float *out, const float *in, int n, int steps)
{
}
