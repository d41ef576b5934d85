// expect: exit 0
// varies: the host polls
// run: --shuffle 3
// early_right.cu again, in another order.
#include "early_right.cu"
