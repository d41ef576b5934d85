// Buffers: inputs of seeded random numbers, outputs of poison, both in sealed
// or fresh memory files for each call, with guard zones of a pattern of their own.
#define _GNU_SOURCE
#include "buffer.h"
#include "siphash.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD_BYTES = 4096, GUARD = 0xFFC0FFC5 }; // a NaN too, and not POISON

static uint64_t seed;      // of the check
static uint64_t secret[2]; // the same, where its numbers tell nothing of one another
static bool is_secret;
static uint64_t made; // buffers so far: each has numbers of its own

// Stafford's finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

uint64_t buffer_key(const char *text, uint64_t number)
{
    uint64_t h = number;
    for (; *text; text++) h = mix((h ^ (unsigned char)*text) + 0x9E3779B97F4A7C15);
    return mix(h + 0x9E3779B97F4A7C15);
}

void buffer_seed(uint64_t key)
{
    seed = key;
    is_secret = false;
    made = 0;
}

void buffer_seed_secret(uint64_t key)
{
    secret[0] = mix(key);
    secret[1] = mix(~key);
    is_secret = true;
    made = 0;
}

static void *memory(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);
    cr_assert(p, "no memory for %zu bytes", bytes);
    return p;
}

size_t element_bytes(enum element element)
{
    static const size_t bytes[] = {
#define X(name, bytes) [ELEMENT_##name] = bytes,
        ELEMENTS(X)
#undef X
    };
    return bytes[element];
}

double element_value(enum element element, const void *data, size_t i)
{
    switch (element) {
    case ELEMENT_F32: return ((const float *)data)[i];
    case ELEMENT_I32: return ((const int32_t *)data)[i];
    case ELEMENT_F16: return f16_value(((const uint16_t *)data)[i]);
    case ELEMENT_BF16: return bf16_value(((const uint16_t *)data)[i]);
    default: return ((const uint8_t *)data)[i];
    }
}

char *element_words(enum element element, double value)
{
    switch (element) {
    case ELEMENT_F32: return text_format("%.9g", value);
    case ELEMENT_F16: return text_format("%.5g", value);
    case ELEMENT_BF16: return text_format("%.4g", value);
    default: return text_format("%.0f", value);
    }
}

static Buffer *buffer_new(const char *name, size_t count, enum element element, bool output)
{
    struct Store *s = memory(sizeof *s);
    s->element = element;
    s->output = output;
    s->given = s->returned = -1;
    size_t bytes = count * element_bytes(element);
    s->buffer = (Buffer){ .data = memory(bytes), .count = count, .name = name, .store = s };
    s->before = output ? NULL : memory(bytes);
    return &s->buffer;
}

uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
}

// The i-th random number of a buffer.
static uint64_t random_at(uint64_t buffer, uint64_t i)
{
    if (is_secret) return siphash(secret, buffer << 40 | i);
    return mix(seed + mix(buffer) + i * 0x9E3779B97F4A7C15);
}

Buffer *input_f32(const char *name, size_t count)
{
    Buffer *b = buffer_new(name, count, ELEMENT_F32, false);
    uint64_t number = made++;

    // An odd integer over 2^23: 2^23 values, each exact, none of them 0.
    for (size_t i = 0; i < count; i++) {
        int32_t odd = 2 * (int32_t)(random_at(number, i) >> 41) + 1 - (1 << 23);
        b->f32[i] = (float)odd / (1 << 23);
    }
    return b;
}

Buffer *input_i32(const char *name, size_t count, int32_t low, int32_t high)
{
    Buffer *b = buffer_new(name, count, ELEMENT_I32, false);
    uint64_t number = made++, range = (uint64_t)((int64_t)high - low) + 1;
    for (size_t i = 0; i < count; i++)
        b->i32[i] = (int32_t)(low + (int64_t)((random_at(number, i) >> 32) * range >> 32));
    return b;
}

// An odd number over 2^11 (2^8): as many values as there are such numbers, each exact.
Buffer *input_f16(const char *name, size_t count)
{
    Buffer *b = buffer_new(name, count, ELEMENT_F16, false);
    uint64_t number = made++;
    for (size_t i = 0; i < count; i++)
        b->f16[i] = f16_bits((2 * (int)(random_at(number, i) >> 53) - 2047) / 2048.0);
    return b;
}

Buffer *input_bf16(const char *name, size_t count)
{
    Buffer *b = buffer_new(name, count, ELEMENT_BF16, false);
    uint64_t number = made++;
    for (size_t i = 0; i < count; i++)
        b->bf16[i] = bf16_bits((2 * (int)(random_at(number, i) >> 56) - 255) / 256.0);
    return b;
}

Buffer *input_u8(const char *name, size_t count, uint8_t low, uint8_t high)
{
    Buffer *b = buffer_new(name, count, ELEMENT_U8, false);
    uint64_t number = made++, range = (uint64_t)(high - low) + 1;
    for (size_t i = 0; i < count; i++)
        b->u8[i] = (uint8_t)(low + ((random_at(number, i) >> 32) * range >> 32));
    return b;
}

Buffer *output_f16(const char *name, size_t count)
{
    return buffer_new(name, count, ELEMENT_F16, true);
}

Buffer *output_bf16(const char *name, size_t count)
{
    return buffer_new(name, count, ELEMENT_BF16, true);
}

Buffer *output_u8(const char *name, size_t count)
{
    return buffer_new(name, count, ELEMENT_U8, true);
}

Buffer *output_f32(const char *name, size_t count)
{
    return buffer_new(name, count, ELEMENT_F32, true);
}

Buffer *output_i32(const char *name, size_t count)
{
    return buffer_new(name, count, ELEMENT_I32, true);
}

Buffer *buffer_twin(Buffer *b, const char *peer)
{
    struct Store *s = b->store;
    Buffer *twin = buffer_new(b->name, b->count, s->element, s->output);
    twin->rows = b->rows;
    twin->cols = b->cols;
    if (!s->output) memcpy(twin->data, b->data, buffer_bytes(b));
    twin->store->peer = peer;
    twin->store->twins = s->twins;
    s->twins = twin->store;
    return twin;
}

float *reference_f32(size_t count) { return memory(count * sizeof(float)); }
double *reference_f64(size_t count) { return memory(count * sizeof(double)); }
int32_t *reference_i32(size_t count) { return memory(count * sizeof(int32_t)); }
uint16_t *reference_f16(size_t count) { return memory(count * sizeof(uint16_t)); }
uint16_t *reference_bf16(size_t count) { return memory(count * sizeof(uint16_t)); }
uint8_t *reference_u8(size_t count) { return memory(count); }

void as_matrix(Buffer *b, size_t rows, size_t cols)
{
    cr_assert(rows * cols == b->count, "%s has %zu elements, not %zu x %zu", b->name, b->count,
              rows, cols);
    b->rows = rows;
    b->cols = cols;
}

// Bytes of one word after the other; the last may be cut off.
static void fill(void *memory, size_t bytes, uint32_t word)
{
    for (size_t i = 0; i < bytes; i += sizeof word)
        memcpy((char *)memory + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
}

static bool write_at(int fd, const void *bytes, size_t count, off_t offset)
{
    const char *p = bytes;
    while (count) {
        ssize_t n = pwrite(fd, p, count, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        count -= n;
        offset += n;
    }
    return true;
}

static bool read_at(int fd, void *bytes, size_t count, off_t offset)
{
    char *p = bytes;
    while (count) {
        ssize_t n = pread(fd, p, count, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        count -= n;
        offset += n;
    }
    return true;
}

// Writes guard, words, guard for each part of a buffer, one after the other.
static bool write_parts(int fd, const Buffer *b, const uint32_t *zone)
{
    const struct Store *s = b->store;
    size_t part = buffer_bytes(b) / s->parts, stride = s->guard + part + s->guard;
    for (uint32_t p = 0; p < s->parts; p++)
        if (!write_at(fd, zone, s->guard, p * stride)
            || !write_at(fd, (const char *)b->data + p * part, part, p * stride + s->guard)
            || !write_at(fd, zone, s->guard, p * stride + s->guard + part))
            return false;
    return true;
}

// A memory file that holds the parts. It never changes its size, and its bytes only
// if it is `writable`. -1: no memory.
static int memory_file(const Buffer *b, bool writable)
{
    uint32_t zone[GUARD_BYTES / 4];
    size_t bytes = buffer_bytes(b) + b->store->parts * 2 * b->store->guard;
    fill(zone, GUARD_BYTES, GUARD);
    int fd = memfd_create("warpwise", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL | (writable ? 0 : F_SEAL_WRITE);
    if (fd >= 0 && ftruncate(fd, bytes) == 0 && write_parts(fd, b, zone)
        && fcntl(fd, F_ADD_SEALS, seals) == 0)
        return fd;
    if (fd >= 0) close(fd);
    return -1;
}

int buffer_file(const Buffer *b) { return memory_file(b, false); }

bool buffer_give(Buffer *b, bool on_device, uint32_t parts, bool guarded, RequestArg *arg, int *fds,
                 size_t *count)
{
    struct Store *s = b->store;
    size_t bytes = buffer_bytes(b);
    if (s->output) fill(b->data, bytes, POISON);
    else memcpy(s->before, b->data, bytes);

    cr_assert(b->count % parts == 0, "%s has %zu elements, not %u equal parts", b->name, b->count,
              parts);
    s->parts = parts;
    memset(s->written, 0, sizeof s->written);
    s->guard = guarded || !on_device ? GUARD_BYTES : 0;
    s->given = memory_file(b, s->output && !on_device);
    fds[(*count)++] = s->given;
    if (on_device) {
        s->returned = memory_file(b, true);
        fds[(*count)++] = s->returned;
    }
    *arg = (RequestArg){ .pass = on_device ? PASS_DEVICE : PASS_HOST,
                         .writable = s->output,
                         .parts = parts,
                         .bytes = bytes / parts,
                         .guard = s->guard };
    return s->given >= 0 && (!on_device || s->returned >= 0);
}

// "in", or "in[2]" for a part of it.
static char *part_name(const Buffer *b, uint32_t part)
{
    return b->store->parts > 1 ? text_format("%s[%u]", b->name, part) : strdup(b->name);
}

// What is not as it was in the guard zones of a part, or NULL.
static char *part_damage(const Buffer *b, int fd, uint32_t part)
{
    size_t guard = b->store->guard, bytes = buffer_bytes(b) / b->store->parts;
    unsigned char zone[GUARD_BYTES], intact[GUARD_BYTES];
    fill(intact, GUARD_BYTES, GUARD);

    for (int behind = 1; guard && behind >= 0; behind--) {
        const char *side = behind ? "behind" : "before";
        size_t from = part * (guard + bytes + guard) + (behind ? guard + bytes : 0), n = 0;
        char *name = part_name(b, part), *says = NULL;
        if (!read_at(fd, zone, guard, from)) {
            says = text_format("%s cannot be read back", name);
        } else if (memcmp(zone, intact, guard) != 0) {
            while (zone[behind ? n : guard - 1 - n] == intact[behind ? n : guard - 1 - n]) n++;
            says = n == 0 ? text_format("memory just %s %s was written", side, name)
                          : text_format("memory %s %s was written, %zu bytes away from it", side,
                                        name, n);
        }
        free(name);
        if (says) return says;
    }
    return NULL;
}

static char *guard_damage(const Buffer *b, int fd)
{
    char *says = NULL;
    for (uint32_t p = 0; p < b->store->parts && !says; p++) says = part_damage(b, fd, p);
    return says;
}

static bool read_parts(int fd, const Buffer *b)
{
    const struct Store *s = b->store;
    size_t part = buffer_bytes(b) / s->parts;
    for (uint32_t p = 0; p < s->parts; p++)
        if (!read_at(fd, (char *)b->data + p * part, part, p * (part + 2 * s->guard) + s->guard))
            return false;
    return true;
}

char *buffer_take(Buffer *b, bool on_device, enum verdict *verdict)
{
    struct Store *s = b->store;
    int fd = on_device ? s->returned : s->given;
    if (!s->output && !on_device) return NULL; // sealed: nobody could change it

    *verdict = VERDICT_BOUNDS;
    char *damage = guard_damage(b, fd);
    if (damage) return damage;

    *verdict = VERDICT_GRADER_ERROR;
    if (!read_parts(fd, b)) return text_format("%s cannot be read back", b->name);
    if (s->output) return NULL;

    *verdict = VERDICT_WRONG;
    size_t size = element_bytes(s->element);
    for (size_t i = 0; i < b->count; i++)
        if (memcmp((char *)b->data + i * size, s->before + i * size, size) != 0) {
            char *place = buffer_place(b, i);
            char *says = text_format("%s was changed, and it is an input", place);
            free(place);
            return says;
        }
    return NULL;
}

void buffer_close(Buffer *b)
{
    struct Store *s = b->store;
    if (s->given >= 0) close(s->given);
    if (s->returned >= 0) close(s->returned);
    s->given = s->returned = -1;
}

char *buffer_place(const Buffer *b, size_t index)
{
    if (b->cols && b->rows)
        return text_format("%s[%zu][%zu]", b->name, index / b->cols, index % b->cols);
    return text_format("%s[%zu]", b->name, index);
}

char *buffer_value(const Buffer *b, size_t index)
{
    if (buffer_is_unwritten(b, index)) return text_format("never written");
    return element_words(b->store->element, value_at(b, index));
}

double value_at(const Buffer *b, size_t index)
{
    return element_value(b->store->element, b->data, index);
}

bool buffer_is_poison(const Buffer *b, size_t index)
{
    uint32_t poison = POISON;
    size_t size = element_bytes(b->store->element), at = index * size;
    return memcmp((const char *)b->data + at, (const char *)&poison + at % sizeof poison, size)
        == 0;
}

bool buffer_is_unwritten(const Buffer *b, size_t index)
{
    return b->store->output && b->store->element != ELEMENT_U8 && buffer_is_poison(b, index);
}
