// <cuda/atomic> without libcu++'s clocks, which take two thirds of nvcc's time.
#pragma once
#include "../no_chrono.h"
#include <cuda/atomic>
