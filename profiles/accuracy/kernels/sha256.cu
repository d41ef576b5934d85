// Rounds of integers: SHA-256 (FIPS 180-4) of one block a thread, with the message's words in registers; and the finalizer
// of MurmurHash3 and a generator by shifts, many times.
#include "exercise.h"

enum { THREADS = 128, SHARED = 24 << 10, MOST = 1 << 22 };
__constant__ unsigned constants[64];

static __device__ __forceinline__ unsigned turn(unsigned x, int by) { return __funnelshift_r(x, x, by); }

static __device__ __forceinline__ void sha(unsigned *out, unsigned seed)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, w[16], s[8];
#pragma unroll
    for (int n = 0; n < 16; n++)
        w[n] = i * (n + 1) + seed;
#pragma unroll
    for (int n = 0; n < 8; n++)
        s[n] = 0x6a09e667 * (n + 1);
#pragma unroll
    for (int r = 0; r < 64; r++) {
        if (r >= 16) {
            unsigned a = w[(r + 1) % 16], b = w[(r + 14) % 16];
            w[r % 16] += (turn(a, 7) ^ turn(a, 18) ^ (a >> 3)) + w[(r + 9) % 16] + (turn(b, 17) ^ turn(b, 19) ^ (b >> 10));
        }
        unsigned e = s[4], a = s[0];
        unsigned t = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + constants[r] + w[r % 16];
        unsigned u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        for (int n = 7; n > 0; n--)
            s[n] = s[n - 1];
        s[4] += t;
        s[0] = t + u;
    }
    out[i] = s[0] ^ s[7];
}

static __device__ __forceinline__ void murmur(unsigned *out, unsigned seed)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, a = i, b = i ^ seed;
#pragma unroll 4
    for (int r = 0; r < 128; r++) {
        a ^= a >> 16, a *= 0x85ebca6b, a ^= a >> 13, a *= 0xc2b2ae35, a ^= a >> 16;
        b ^= b >> 16, b *= 0x85ebca6b, b ^= b >> 13, b *= 0xc2b2ae35, b ^= b >> 16;
    }
    out[i] = a + b;
}

static __device__ __forceinline__ void xorshift(unsigned *out, unsigned seed)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, x = i | 1, y = seed, z = 3, w = 4, sum = 0;
#pragma unroll 8
    for (int r = 0; r < 512; r++) {
        unsigned t = x ^ (x << 11);
        x = y, y = z, z = w;
        w ^= w >> 19 ^ t ^ t >> 8;
        sum += w;
    }
    out[i] = sum;
}

IN_GRIDS(sha256, THREADS, (unsigned *out, unsigned seed), sha(out, seed))
IN_GRIDS(murmur, THREADS, (unsigned *out, unsigned seed), murmur(out, seed))
IN_GRIDS(xorshift, THREADS, (unsigned *out, unsigned seed), xorshift(out, seed))

static unsigned *out;

int main(int count, char **arguments)
{
    unsigned host[64];
    for (unsigned &c : host)
        c = random_word();
    OK(cudaMemcpyToSymbol(constants, host, sizeof host));
    out = output<unsigned>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("", sha256, THREADS, SHARED, out, 7),
        GRIDS_OF("", murmur, THREADS, SHARED, out, 7),
        GRIDS_OF("", xorshift, THREADS, SHARED, out, 7),
    });
}
