// Prints what a terminal would obey, and then fails.
#define twice twice_right
#include "right.cu"
#undef twice
#include <stdio.h>
extern "C" void twice(float *out, const float *in, int n) { printf("\033[2J\033]0;PASS\a\rPASS lesson 99\xff\xe2\x80\xae\n"); }
