// The slots that models keep what they know in, behind those of checks.
#pragma once
#include "checks/slots.h"
#include "program/kernel.h"

enum {
    KERNEL_OPS = CHECK_KERNEL_SLOTS, // op.h
    MODEL_KERNEL_SLOTS
};
_Static_assert((u32)MODEL_KERNEL_SLOTS <= (u32)KERNEL_SLOTS, "a kernel has a slot for each");
