#include "siphash.h"

static uint64_t turned(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static void mix_rounds(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1], v[2] += v[3];
        v[1] = turned(v[1], 13) ^ v[0], v[3] = turned(v[3], 16) ^ v[2];
        v[0] = turned(v[0], 32);
        v[2] += v[1], v[0] += v[3];
        v[1] = turned(v[1], 17) ^ v[2], v[3] = turned(v[3], 21) ^ v[0];
        v[2] = turned(v[2], 32);
    }
}

uint64_t siphash(const uint64_t key[2], uint64_t word)
{
    const uint64_t length = (uint64_t)sizeof word << 56;
    uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                      key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };

    v[3] ^= word;
    mix_rounds(v, 2);
    v[0] ^= word;
    v[3] ^= length;
    mix_rounds(v, 2);
    v[0] ^= length;
    v[2] ^= 0xff;
    mix_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
