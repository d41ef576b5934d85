// expect: exit 0
// build: --compress-mode=speed
// As nvcc before 13 did by itself.
#include "uncompressed.cu"
