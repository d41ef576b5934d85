// SipHash-2-4 (Aumasson, Bernstein, INDOCRYPT 2012) of a message of 8 bytes.
#pragma once
#include <stdint.h>

// A number for each word. Without the key it looks random, and no other number can be worked out,
// however many are known.
uint64_t siphash(const uint64_t key[2], uint64_t word);
