// LZ4's block format, as nvcc --compress-mode=speed and nvcc before 13 compress fat binaries.
#pragma once
#include "base.h"

// Unpacks `bytes` into the `room` bytes at `to`; how many those became. 0: it is damaged, or wants more room. Takes any bytes.
size_t lz4_unpack(const u8 *from, size_t bytes, u8 *to, size_t room);
