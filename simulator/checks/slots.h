// The slots that checks keep what they know in: of a kernel, of a grid and of a block.
#pragma once

enum {
    KERNEL_ORDER, // operations.h
    CHECK_KERNEL_SLOTS
};
