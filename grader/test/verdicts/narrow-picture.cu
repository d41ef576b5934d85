// Its picture is shown when it is right,
#include "narrow-right.cu"
