// Patterns of wrong answers. Each looks at all elements and speaks only if it
// holds for every wrong one; the first that does is said.
#include "pattern.h"
#include "buffer.h"
#include "text.h"
#include <math.h>
#include <string.h>

static bool same_bits(const Buffer *b, size_t i, size_t k)
{
    size_t size = element_bytes(b->store->element);
    return memcmp((const char *)b->data + i * size, (const char *)b->data + k * size, size) == 0;
}

typedef bool Property(const Mismatch *m, size_t i);

static bool all_wrong_are(const Mismatch *m, Property *holds)
{
    for (size_t i = m->first; i < m->out->count; i++)
        if (m->is_wrong(i) && !holds(m, i)) return false;
    return true;
}

// All elements with the property are wrong, and no others.
static bool wrong_exactly_where(const Mismatch *m, Property *holds)
{
    for (size_t i = 0; i < m->out->count; i++)
        if (m->is_wrong(i) != holds(m, i)) return false;
    return true;
}

static bool untouched(const Mismatch *m, size_t i) { return buffer_is_poison(m->out, i); }
static bool from_first(const Mismatch *m, size_t i) { return i >= m->first; }

static bool next_is_here(const Mismatch *m, size_t i)
{
    return i + 1 >= m->out->count || value_at(m->out, i) == m->want(i + 1);
}

static bool last_is_here(const Mismatch *m, size_t i)
{
    return i == 0 || value_at(m->out, i) == m->want(i - 1);
}

static bool mirrored(const Mismatch *m, size_t i)
{
    return value_at(m->out, i) == m->want(m->out->count - 1 - i);
}

// The whole matrix lies as if its rows were columns.
static bool turned(const Mismatch *m, size_t i)
{
    size_t rows = m->out->rows, cols = m->out->cols;
    return value_at(m->out, i) == m->want(i % rows * cols + i / rows);
}

static bool in_last_tile(const Mismatch *m, size_t i)
{
    size_t rows = m->out->rows, cols = m->out->cols;
    return i / cols >= rows / 32 * 32 || i % cols >= cols / 32 * 32;
}

static bool odd(const Mismatch *m, size_t i)
{
    (void)m;
    return i % 2 == 1;
}
static bool even(const Mismatch *m, size_t i)
{
    (void)m;
    return i % 2 == 0;
}

// All that is wrong is what a float can be, most of it with more than the 24 bits that a float has.
static bool are_floats(const Mismatch *m)
{
    size_t large = 0;
    for (size_t i = m->first; i < m->out->count; i++) {
        double got = value_at(m->out, i);
        if (m->is_wrong(i) && got != (float)got && got != INT32_MAX) return false;
        large += m->is_wrong(i) && fabs(got) > 1 << 24;
    }
    return m->out->store->element == ELEMENT_I32 && large > m->wrong / 4;
}

// All are whole numbers, and most should be none.
static bool are_cut_off(const Mismatch *m)
{
    size_t fractions = 0;
    for (size_t i = 0; i < m->out->count; i++) {
        if (value_at(m->out, i) != trunc(value_at(m->out, i))) return false;
        fractions += m->want(i) != trunc(m->want(i));
    }
    return fractions > m->out->count / 2;
}

static bool same_everywhere(const Mismatch *m)
{
    for (size_t i = 1; i < m->out->count; i++)
        if (!same_bits(m->out, i, 0)) return false;
    return true;
}

// Right up to the last whole block of some usual size, and wrong from there on.
static size_t partial_block(const Mismatch *m)
{
    for (size_t block = 1024; block >= 32; block /= 2)
        if (m->out->count % block && m->out->count - m->out->count % block == m->first)
            return block;
    return 0;
}

static char *where_words(const Mismatch *m)
{
    const Buffer *out = m->out;
    if (m->wrong == 1 && out->count > 2) return text_format("All others are right.");
    if (out->cols && out->rows && (out->rows % 32 || out->cols % 32) && out->rows > 32
        && out->cols > 32 && all_wrong_are(m, in_last_tile))
        return text_format("Whole tiles of 32 are right; the ragged edge is not.");
    if (m->first > 0 && wrong_exactly_where(m, from_first)) {
        if (partial_block(m))
            return text_format("All elements before it are right, all from it on are wrong: the "
                               "last, partial block of %zu.",
                               partial_block(m));
        return text_format("All elements before it are right, all from it on are wrong.");
    }
    if (out->count < 4) return NULL;
    if (wrong_exactly_where(m, odd))
        return text_format("Elements with an odd index are wrong, the others right.");
    if (wrong_exactly_where(m, even))
        return text_format("Elements with an even index are wrong, the others right.");
    return NULL;
}

// What stands there, for wrong elements that are a few at least: one or two agree by chance.
static char *what_words(const Mismatch *m)
{
    const Buffer *out = m->out;
    if (m->wrong < 3) return NULL;
    if (out->rows > 1 && out->cols > 1 && all_wrong_are(m, turned))
        return text_format("Rows and columns are exchanged.");
    if (all_wrong_are(m, next_is_here))
        return text_format("Each wrong element has the next one's value: shifted by one.");
    if (all_wrong_are(m, last_is_here))
        return text_format("Each wrong element has the previous one's value: shifted by one.");
    if (all_wrong_are(m, mirrored)) return text_format("The order is reversed.");
    if (same_everywhere(m)) {
        char *value = buffer_value(out, 0);
        char *words = text_format("Every element is %s.", value);
        free(value);
        return words;
    }
    if (are_floats(m))
        return text_format("Every wrong element has only 24 significant bits: somewhere a float "
                           "holds what should stay an int.");
    if (are_cut_off(m))
        return text_format("All elements are whole numbers, and should not be: somewhere an int "
                           "cuts off their fractions.");
    return NULL;
}

// As many bytes as there are elements were written, so in the middle of one the writing ends.
static bool bytes_not_counted(const Buffer *b)
{
    static const uint32_t poison = POISON;
    const unsigned char *bytes = b->data;
    size_t last =
        b->count - b->count % element_bytes(b->store->element); // the element's that is cut through
    bool cut = false;

    for (size_t i = last; i < buffer_bytes(b); i++) {
        bool written = bytes[i] != ((const unsigned char *)&poison)[i % sizeof poison];
        if (written && i >= b->count) return false;
        cut |= written;
    }
    return cut;
}

bool pattern_is_silence(const Mismatch *m) { return m->wrong > 2 && all_wrong_are(m, untouched); }

char *pattern_words(const Mismatch *m)
{
    if (bytes_not_counted(m->out))
        return text_format("Only the first %zu of its %zu bytes were written: the size of a copy "
                           "is in bytes, n * sizeof.",
                           m->out->count, buffer_bytes(m->out));
    bool silent = all_wrong_are(m, untouched);
    if (silent && m->wrong == m->out->count)
        return text_format("Nothing was written to %s at all.", m->out->name);

    char *words = where_words(m);
    if (!words && !silent) words = what_words(m);
    if (!words && silent && m->wrong > 1)
        words =
            text_format("The wrong elements were never written; all that were written are right.");
    return words;
}
