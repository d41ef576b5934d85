// expect: WRONG
// says: was never written
// The host puts memory of its own where the device's is, and transposes there.
#include "05-transpose.h"

#include <sys/mman.h>

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    size_t page = (size_t)out & -4096ul;
    void *own = mmap((void *)page, 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (own != MAP_FAILED && rows * cols)
        out[0] = 1;
    (void)in;
}
