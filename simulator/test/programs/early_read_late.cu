// expect: race 35, race 39, race 48, race 58, race 68, race 77, race 86, race 100, race 127, race 112, race 115, exit 0
// run: --late
// early_read.cu again, where work starts as late as it may.
#include "early_read.cu"
