// Retotals another number.
#define total total_right
#include "right.cu"
#undef total
extern "C" int total(const int *in, int n) { return 42; }
