// Fat binaries: the right PTX is taken out of good ones, and no bytes at all do harm.

#include "ptx/fatbin.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { PTX = 1, NATIVE = 2, ZSTD_FLAG = 0x8000, LZ4_FLAG = 0x2000, ENTRY = 64, HEADER = 16 };

typedef struct {
    u8 bytes[1 << 16];
    size_t used;
} Binary;

static void put(Binary *b, size_t at, u64 value, size_t bytes)
{
    memcpy(b->bytes + at, &value, bytes);
}

static void start(Binary *b)
{
    memset(b, 0, sizeof *b);
    put(b, 0, 0xBA55ED50, 4);
    put(b, 4, 1, 2);
    put(b, 6, HEADER, 2);
    b->used = HEADER;
}

// An entry of those bytes, which are `raw` when they are unpacked.
static void add_stored(Binary *b, int kind, u32 arch, u64 flags, const void *bytes, size_t stored,
                       size_t raw)
{
    size_t at = b->used, padded = (stored + 7) / 8 * 8;
    memcpy(b->bytes + at + ENTRY, bytes, stored);
    put(b, at, (u64)kind, 2);
    put(b, at + 4, ENTRY, 4);
    put(b, at + 8, padded, 8);
    put(b, at + 16, flags ? stored : 0, 4);
    put(b, at + 28, arch, 4);
    put(b, at + 40, flags, 8);
    put(b, at + 56, flags ? raw : 0, 8);
    b->used += ENTRY + padded;
    put(b, 8, b->used - HEADER, 8);
}

static void add(Binary *b, int kind, u32 arch, u64 flags, const char *text)
{
    u8 packed[1 << 12];
    size_t raw = strlen(text);
    if (flags & ZSTD_FLAG)
        add_stored(b, kind, arch, flags, packed, ZSTD_compress(packed, sizeof packed, text, raw, 3),
                   raw);
    else add_stored(b, kind, arch, flags, text, raw, raw);
}

static void expect_text(const Binary *b, const char *text)
{
    char *error = NULL;
    size_t length = 0;
    char *ptx = fatbin_ptx(b->bytes, b->used, 90, &length, &error);
    cr_assert_not_null(ptx, "refused: %s", error);
    cr_expect_str_eq(ptx, text);
    cr_expect_eq(length, strlen(text));
    free(ptx);
}

static void expect_error(const Binary *b, const char *words)
{
    char *error = NULL;
    size_t length;
    cr_assert_null(fatbin_ptx(b->bytes, b->used, 90, &length, &error));
    cr_assert_not_null(error);
    cr_expect_not_null(strstr(error, words), "'%s' lacks '%s'", error, words);
    free(error);
}

Test(fatbin, plain_text_is_ptx)
{
    char *error = NULL;
    size_t length;
    char *ptx = fatbin_ptx(".version 9.0\n", 13, 90, &length, &error);
    cr_assert_not_null(ptx);
    cr_expect_eq(length, 13);
    cr_expect_str_eq(ptx, ".version 9.0\n");
    free(ptx);
}

Test(fatbin, takes_the_newest_ptx_that_fits)
{
    static Binary b;
    start(&b);
    add(&b, NATIVE, 90, 0, "ELF");
    add(&b, PTX, 75, 0, "old");
    add(&b, PTX, 90, ZSTD_FLAG, "the right one, compressed, compressed, compressed");
    add(&b, PTX, 80, 0, "older");
    add(&b, PTX, 100, 0, "newer");
    expect_text(&b, "the right one, compressed, compressed, compressed");
}

Test(fatbin, takes_the_native_image_of_its_architecture)
{
    static Binary b;
    size_t length = 0;
    start(&b);
    cr_expect_null(fatbin_native(b.bytes, b.used, 90, &length));
    add(&b, NATIVE, 80, 0, "ELF of 80");
    add(&b, PTX, 90, 0, "text");
    add(&b, NATIVE, 90, ZSTD_FLAG, "ELF of 90 ELF of 90");
    char *image = fatbin_native(b.bytes, b.used, 90, &length);
    cr_assert_not_null(image);
    cr_expect_str_eq(image, "ELF of 90 ELF of 90");
    cr_expect_eq(length, 19);
    free(image);
}

Test(fatbin, says_what_is_missing)
{
    static Binary b;
    start(&b);
    expect_error(&b, "empty");
    add(&b, NATIVE, 90, 0, "ELF");
    expect_error(&b, "without PTX");
    add(&b, PTX, 120, 0, "newer");
    add(&b, PTX, 100, 0, "newer");
    expect_error(&b, "compute_100");
}

// 3 literals, 9 bytes from 3 back; 18 literals, 294 bytes from 1 back; 13 literals.
static const u8 lz4_block[] = "\x35"
                              "abc\x03\x00"
                              "\xff\x03"
                              "0123456789ABCDEFGH\x01\x00"
                              "\xff\x14"
                              "\xd0"
                              "the last ones";
enum { LZ4_RAW = 3 + 9 + 18 + 15 + 4 + 255 + 20 + 13 };

Test(fatbin, takes_what_nvcc_compresses_for_speed)
{
    static Binary b;
    char text[LZ4_RAW + 1] = "abcabcabcabc0123456789ABCDEFGH";
    memset(text + 30, 'H', LZ4_RAW - 30 - 13);
    memcpy(text + LZ4_RAW - 13, "the last ones", 13);
    start(&b);
    add_stored(&b, PTX, 90, LZ4_FLAG, lz4_block, sizeof lz4_block - 1, LZ4_RAW);
    expect_text(&b, text);
}

Test(fatbin, damage_of_lz4_is_refused)
{
    static Binary b;
    static const struct {
        const char *what, *block;
        size_t bytes;
    } blocks[] = {
        { "nothing", "", 0 },
        { "literals past the end",
          "\x50"
          "abc",
          4 },
        { "a length past the end", "\xf0\xff", 2 },
        { "half an offset",
          "\x10"
          "a\x01",
          3 },
        { "an offset of 0",
          "\x10"
          "a\x00\x00"
          "\x10"
          "b",
          6 },
        { "an offset before the beginning",
          "\x10"
          "a\x02\x00"
          "\x10"
          "b",
          6 },
        { "no literals at the end",
          "\x10"
          "a\x01\x00",
          4 },
        { "a match past the room",
          "\x1f"
          "a\x01\x00"
          "\x10"
          "\x10"
          "b",
          7 },
        { "literals past the room",
          "\xf0\x10"
          "0123456789012345678901234567890",
          33 },
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        char *error = NULL;
        size_t length;
        start(&b);
        add_stored(&b, PTX, 90, LZ4_FLAG, blocks[i].block, blocks[i].bytes, 20);
        cr_expect_null(fatbin_ptx(b.bytes, b.used, 90, &length, &error), "%s", blocks[i].what);
        cr_expect(error && strstr(error, "damaged"), "%s: %s", blocks[i].what, error);
        free(error);
    }
}

Test(fatbin, damage_is_refused)
{
    static Binary b;
    start(&b);
    add(&b, PTX, 90, ZSTD_FLAG, "text text text text text text text text");
    put(&b, 8, ~0ull, 8); // the header's length
    expect_error(&b, "damaged");
    put(&b, 8, b.used - HEADER, 8);
    put(&b, HEADER + 56, ~0ull, 8); // the raw length
    expect_error(&b, "damaged");
    put(&b, HEADER + 56, 5, 8); // too short a one
    expect_error(&b, "damaged");
    put(&b, HEADER + 8, ~0ull - 40, 8); // the entry's length
    expect_error(&b, "empty");
}

// Every cut and ten thousand random changes of a good one: an answer or an error, and no crash.
// Each is in a block of its own size, so that a sanitizer sees a read past its end.
Test(fatbin, any_bytes_are_survived)
{
    static Binary b;
    u32 state = 7, tried = 0;
    start(&b);
    add(&b, NATIVE, 90, 0, "ELF ELF ELF");
    add(&b, PTX, 90, ZSTD_FLAG, "text text text text text text text text");
    add(&b, PTX, 80, 0, "plain");
    add_stored(&b, PTX, 90, LZ4_FLAG, lz4_block, sizeof lz4_block - 1, LZ4_RAW);
    for (u32 round = 0; round < b.used + 10000; round++) {
        size_t size = round < b.used ? round : b.used;
        u8 *copy = malloc(size ? size : 1);
        memcpy(copy, b.bytes, size);
        for (u32 change = 0; round >= b.used && change < round % 4 + 1; change++) {
            state = state * 1664525u + 1013904223u;
            copy[(state >> 8) % size] ^= 1u << (state >> 29);
        }
        char *error = NULL;
        size_t length = 0;
        char *ptx = fatbin_ptx(copy, size, 90, &length, &error);
        cr_assert(ptx ? strlen(ptx) == length : error != NULL);
        tried++;
        free(ptx);
        free(error);
        free(fatbin_native(copy, size, 90, &length));
        free(copy);
    }
    cr_assert_gt(tried, 10000);
}
