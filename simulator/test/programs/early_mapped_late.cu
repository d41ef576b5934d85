// expect: race 38, race 48, race 57, race 71, race 84, exit 0
// run: --late
// early_mapped.cu again, where work starts as late as it may.
#include "early_mapped.cu"
