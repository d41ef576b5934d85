// expect: PROTOCOL
// Leaves when it is called, with the status of success.
#include <unistd.h>

#include "08-reduction.h"

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)out, (void)in, (void)n, (void)scratch;
    _exit(0);
}
