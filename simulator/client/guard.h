// The pages of pinned memory that the device guards while work is under way there: host code that
// comes to one faults, the page is opened, the device is told, and the code goes on.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Pinned memory has been mapped, and is unmapped: [address, address + bytes) on the device.
void client_guard_mapped(void);
void client_guard_unmapped(uint64_t address, uint64_t bytes);

// The kernel is about to read or write these bytes for the program: opens what is guarded of them,
// and tells the device.
void client_guard_pass(const void *at, size_t bytes, bool writes);
