// Who looks on.
#pragma once
#include <stdbool.h>

// Hands them to the machine. `bare`: only those that keep a kernel within its memory, and let the
// host see what it did: no checks, no counters, no times.
void observers_hand_in(bool bare);
