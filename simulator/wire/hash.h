// A hash by which bytes are compared that two processes have: FNV-1a of 64 bits, over words of 8
// bytes, the last one padded with zeros (Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash
// Algorithm"). Nobody who can choose the bytes gains by two that are alike.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t wire_hash(const void *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325, word;
    for (size_t n = 0; n < count; n += sizeof word) {
        word = 0;
        memcpy(&word, (const char *)bytes + n, count - n < sizeof word ? count - n : sizeof word);
        hash = (hash ^ word) * 0x100000001b3;
    }
    return hash;
}
