// Unpacks fat binaries. Their layout is not documented; it was read off what nvcc 13.0 writes:
//
//   header  u32 magic, u16 version, u16 header bytes, u64 bytes that follow
//   entry   u16 kind @0, u32 header bytes @4, u64 padded bytes @8, u32 compressed bytes @16,
//           u32 architecture @28, u64 flags @40, u64 raw bytes @56; then its bytes

#define _GNU_SOURCE
#include "fatbin.h"
#include <limits.h>
#include <lz4.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    HEADER_BYTES = 16,
    ENTRY_BYTES = 64,
    KIND_PTX = 1,
    KIND_ELF = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    LARGEST_PTX = 512 << 20,
};
static const u32 MAGIC = 0xBA55ED50;

typedef struct {
    int kind;
    u32 arch;
    u64 flags;
    const u8 *bytes;
    u64 stored, raw; // bytes here; bytes when decompressed
} Entry;

static char *say(char **error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static char *say(char **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(error, format, arguments) < 0) *error = NULL;
    va_end(arguments);
    return NULL;
}

static u64 read_u(const u8 *at, size_t offset, size_t bytes)
{
    u64 value = 0;
    memcpy(&value, at + offset, bytes);
    return value;
}

// Reads the entry at *at and moves *at past it. False: there is no whole entry.
static bool next_entry(const u8 **at, const u8 *end, Entry *entry)
{
    size_t left = (size_t)(end - *at);
    if (left < ENTRY_BYTES) return false;
    u64 header = read_u(*at, 4, 4), padded = read_u(*at, 8, 8), compressed = read_u(*at, 16, 4);
    if (header < ENTRY_BYTES || header > left || padded > left - header) return false;
    *entry = (Entry){
        .kind = (int)read_u(*at, 0, 2),
        .arch = (u32)read_u(*at, 28, 4),
        .flags = read_u(*at, 40, 8),
        .bytes = *at + header,
        .stored = compressed && compressed <= padded ? compressed : padded,
        .raw = read_u(*at, 56, 8),
    };
    *at += header + padded;
    return true;
}

static char *copy_content(const u8 *from, size_t bytes, size_t *length, char **error)
{
    char *content = malloc(bytes + 1);
    if (!content) return say(error, "no memory for %zu bytes of PTX", bytes);
    memcpy(content, from, bytes);
    content[bytes] = 0;
    *length = bytes;
    return content;
}

// How many bytes those became; 0: it is damaged.
static size_t unpack_lz4(const Entry *entry, char *text)
{
    if (entry->stored > INT_MAX) return 0;
    int got =
        LZ4_decompress_safe((const char *)entry->bytes, text, (int)entry->stored, (int)entry->raw);
    return got > 0 ? (size_t)got : 0;
}

static char *decompress(const Entry *entry, size_t *length, char **error)
{
    if (!entry->raw || entry->raw > LARGEST_PTX)
        return say(error, "the fat binary is damaged: its PTX claims %llu bytes",
                   (unsigned long long)entry->raw);
    char *text = malloc(entry->raw + 1);
    if (!text) return say(error, "no memory for %llu bytes of PTX", (unsigned long long)entry->raw);
    bool zstd = entry->flags & FLAG_ZSTD;
    size_t got = zstd ? ZSTD_decompress(text, entry->raw, entry->bytes, entry->stored)
                      : unpack_lz4(entry, text);
    if (zstd ? ZSTD_isError(got) : !got) {
        free(text);
        return say(error, "the fat binary is damaged: %s",
                   zstd ? ZSTD_getErrorName(got) : "its LZ4 block cannot be read");
    }
    text[got] = 0;
    *length = got;
    return text;
}

static char *entry_content(const Entry *entry, size_t *length, char **error)
{
    if (entry->flags & (FLAG_ZSTD | FLAG_LZ4)) return decompress(entry, length, error);
    return copy_content(entry->bytes, entry->stored, length, error);
}

// The architectures of its entries of a kind: "sm_80 and sm_90". NULL: there are none.
static char *architectures(const u8 *at, const u8 *end, int kind, const char *prefix)
{
    enum { MOST = 256 };
    bool has[MOST] = { false };
    u32 left = 0;
    Entry entry;
    while (next_entry(&at, end, &entry))
        if (entry.kind == kind && entry.arch < MOST)
            left += !has[entry.arch], has[entry.arch] = true;
    if (!left) return NULL;
    char *text = NULL;
    size_t bytes;
    FILE *list = open_memstream(&text, &bytes);
    for (u32 arch = 0; arch < MOST; arch++)
        if (has[arch])
            fprintf(list, "%s%u%s", prefix, arch, --left > 1 ? ", " : left ? " and " : "");
    fclose(list);
    return text;
}

static char *nothing_fits(const u8 *at, const u8 *end, int arch, char **error)
{
    char *ptx = architectures(at, end, KIND_PTX, "compute_"),
         *native = architectures(at, end, KIND_ELF, "sm_");
    if (ptx) say(error, "its PTX is for %s, and this device is a compute_%d", ptx, arch);
    else if (native) say(error, "it was built for %s, without PTX", native);
    else say(error, "its fat binary is empty");
    free(ptx);
    free(native);
    return NULL;
}

static char *best_of(const u8 *at, const u8 *end, int arch, size_t *length, char **error)
{
    Entry entry, best = { 0 };
    const u8 *first = at;
    while (next_entry(&at, end, &entry))
        if (entry.kind == KIND_PTX && entry.arch <= (u32)arch && entry.arch >= best.arch)
            best = entry;
    if (!best.bytes) return nothing_fits(first, end, arch, error);
    return entry_content(&best, length, error);
}

// What is behind the header. False: there is no header.
static bool open_binary(const u8 *data, size_t bytes, const u8 **at, const u8 **end)
{
    if (bytes < HEADER_BYTES || read_u(data, 0, 4) != MAGIC) return false;
    u64 header = read_u(data, 6, 2), content = read_u(data, 8, 8);
    bool good = header >= HEADER_BYTES && header <= bytes && content <= bytes - header;
    *at = good ? data + header : NULL;
    *end = good ? data + header + content : NULL;
    return true;
}

size_t fatbin_part(const void *data, size_t bytes)
{
    const u8 *at, *end;
    return open_binary(data, bytes, &at, &end) && at ? (size_t)(end - (const u8 *)data) : bytes;
}

char *fatbin_ptx(const void *data, size_t bytes, int arch, size_t *length, char **error)
{
    const u8 *at, *end;
    char *text;
    if (!open_binary(data, bytes, &at, &end)) text = copy_content(data, bytes, length, error);
    else if (at) text = best_of(at, end, arch, length, error);
    else
        return say(error, "the fat binary is damaged: its header claims more bytes than there are");
    if (text) *length = strlen(text); // behind it lies padding
    return text;
}

char *fatbin_native(const void *data, size_t bytes, int arch, size_t *length)
{
    const u8 *at, *end;
    char *error = NULL, *image = NULL;
    Entry entry;
    if (!open_binary(data, bytes, &at, &end) || !at) return NULL;
    while (!image && next_entry(&at, end, &entry)) {
        if (entry.kind == KIND_ELF && entry.arch == (u32)arch)
            image = entry_content(&entry, length, &error);
        free(error);
        error = NULL;
    }
    return image;
}
