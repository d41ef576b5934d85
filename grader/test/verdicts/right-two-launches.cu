// Two launches, where gold has one: our first version has one, too, but only the last is gold.
#include "right.cu"
