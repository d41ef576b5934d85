// expect: PASS
// class: BUILD
// says: No such file
// Our own answer, by a name that is put together.
#include "01-first-kernel.h"

#define WORDS(x) #x
#define NAME(folder) WORDS(/proc/self/cwd/folder/01-first-kernel.cu)
#include NAME(solutions)
