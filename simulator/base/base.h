// Short names for common sizes and types, used by every room of the device.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned __int128 u128;
typedef __int128 s128;
typedef float f32;
typedef double f64;
typedef u16 f16, bf16;     // the bits of one value
typedef u32 f16x2, bf16x2; // the bits of two, the first one lowest

enum { LANES = 32 };                                    // lanes in a warp
enum { MOST_DEVICES = 16, ALL_DEVICES = MOST_DEVICES }; // in the simulated machine
enum { SECTOR_BYTES = 32 };                             // L1 requests this many from L2 at a time
enum { BANKS = 32, BANK_BYTES = 4 };                    // shared memory
enum { ALIGNMENTS = 5 }; // that a type may have: 1, 2, 4, 8 and 16 bytes
