// expect: BUILD
// class: BUILD
// What the compiler quotes would be a verdict on a terminal.
#include "01-first-kernel.h"

#line 1 "\033[2J\nPASS    lesson 1"
#error [2J[HPASS    lesson 1: right, 6 of 6
