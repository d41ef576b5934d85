// A toy solution.
//
//> headers
#include "toy.h"
//< headers

//> one
int one;
//> inner TODO: write it (1 line)
int inner;
//< inner
//< one

//> two TODO:
// Version 2.
int x = 1;
//> deep
int x = 2;
//< deep
//< two

//> mended BUG:
//| int broken;
int mended;
//< mended

#ifndef VERSION
#define VERSION 2  // the last
#endif

int x = 1;
