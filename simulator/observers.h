// The observers of kernels.
#pragma once
#include <stdbool.h>

// Hands the observers to the machine. `bare`: only those that keep a kernel within its memory and
// let the host see what the kernel wrote; no other checks, no counters, no times.
void observers_hand_in(bool bare);
