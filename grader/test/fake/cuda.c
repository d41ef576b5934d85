// A driver with one GPU, for the grader's own tests: 64 GB/s, and an L2 cache of 4 KiB.
#include <stdio.h>

int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }

int cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, size, "Fake GPU");
    return device;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    switch (attribute) {
    case 36: *value = 1000000; break; // kHz
    case 37: *value = 256; break;     // bits
    case 38: *value = 4096; break;    // bytes
    case 75: *value = 9; break;
    default: *value = 0;
    }
    return device;
}
