// expect: PASS
// class: BUILD
// says: No such file
// Our own answer.
#include "01-first-kernel.h"

#include "../solutions/01-first-kernel.cu"
