// A right answer, on a grader or a device that is broken.
#include "right.cu"
