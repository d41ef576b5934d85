// SipHash-2-4 (Aumasson, Bernstein, INDOCRYPT 2012) of a message of 8 bytes.
#pragma once
#include <stdint.h>

// A random-looking number for each word, of which nobody works out any other who does not have the
// key, however many they have seen.
uint64_t siphash(const uint64_t key[2], uint64_t word);
