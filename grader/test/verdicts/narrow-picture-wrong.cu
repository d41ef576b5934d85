// and when it is wrong.
#include "narrow-byte.cu"
