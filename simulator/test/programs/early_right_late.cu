// expect: exit 0
// varies: the host polls
// run: --late
// early_right.cu again, where work starts as late as it may.
#include "early_right.cu"
