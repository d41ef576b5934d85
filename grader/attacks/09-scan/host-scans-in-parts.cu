// expect: SUSPECT
// says: by a copy from the host, all of it
// The host scans, a little at a time: no copy is large.
#include "09-scan.h"

enum { PART = 256 };

template <typename T> static void scan(T *out, const T *in, int n)
{
    T part[PART], sum = 0;
    for (int first = 0; first < n; first += PART) {
        int count = n - first < PART ? n - first : PART;
        cudaMemcpy(part, in + first, count * sizeof(T), cudaMemcpyDeviceToHost);
        for (int i = 0; i < count; i++)
            part[i] = sum += part[i];
        cudaMemcpy(out + first, part, count * sizeof(T), cudaMemcpyHostToDevice);
    }
}

extern "C" void scan_i32(int *out, const int *in, int n, void *scratch)
{
    (void)scratch;
    scan(out, in, n);
}

extern "C" void scan_f32(float *out, const float *in, int n, void *scratch)
{
    (void)scratch;
    scan(out, in, n);
}
