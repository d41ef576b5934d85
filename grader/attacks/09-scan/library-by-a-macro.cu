// expect: BUILD
// says: you do without the library thrust
// Thrust scans. The name of its header is a macro's, which no search of the source finds.
#include "09-scan.h"

#define LIBRARY(name) <thrust/name.h>
#include LIBRARY(functional)

void scan_i32(int *, const int *, int, void *) {}
void scan_f32(float *, const float *, int, void *) {}
