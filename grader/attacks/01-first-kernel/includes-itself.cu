// expect: BUILD
// class: BUILD
// It includes itself, without end.
#include "01-first-kernel.h"

#pragma GCC system_header
#include __FILE__
