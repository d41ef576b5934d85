// expect: BUILD
// class: BUILD
// says: No such file
// The names of the machine's users would be in the compiler's messages.
#include "01-first-kernel.h"

#include "/etc/passwd"
