// Windows of the text, a window's length apart, are in a hash table. A window of the same length
// slides over the words, with a hash that is kept up to date (Karp and Rabin, "Efficient randomized
// pattern-matching algorithms", 1987): a longer piece contains a window of the table, wherever it
// begins. From there the piece is compared word by word, both ways.
#include "pieces.h"
#include "base/need.h"
#include <stdlib.h>
#include <string.h>

static const u64 BASE = 0x9e3779b97f4a7c15ull;

// ---- The text ----

// Returns its number, from 1 on.
static u8 add_cursor(Pieces *p, u64 at)
{
    p->cursor[p->oldest] = at;
    p->oldest = (p->oldest + 1) % PIECE_CURSORS;
    return (u8)(p->oldest ? p->oldest : PIECE_CURSORS);
}

void pieces_add(Pieces *p, const void *text, u64 bytes)
{
    u64 words = bytes / sizeof *p->text;
    if (p->count + words > p->room) {
        p->room = 2 * p->room > p->count + words ? 2 * p->room : p->count + words;
        p->text = need(realloc(p->text, p->room * sizeof *p->text));
    }
    memcpy(p->text + p->count, text, words * sizeof *p->text);
    add_cursor(p, p->count);
    p->count += words;
}

void pieces_forget(Pieces *p)
{
    free(p->text);
    free(p->table);
    *p = (Pieces){ 0 };
}

static u64 hash(const u32 *window)
{
    u64 h = 0;
    for (u32 n = 0; n < PIECE_WORDS; n++) h = h * BASE + window[n];
    return h;
}

static bool same(const u32 *a, const u32 *b) { return memcmp(a, b, PIECE_WORDS * sizeof *a) == 0; }

// The slot of that window, or the free one where it belongs.
static u64 *slot_of(const Pieces *p, const u32 *window, u64 h)
{
    u64 n = (h >> 20) % p->slots;
    while (p->table[n] && !same(p->text + p->table[n] - 1, window)) n = (n + 1) % p->slots;
    return &p->table[n];
}

static void index_text(Pieces *p)
{
    u64 least = 2 * (p->count / PIECE_WORDS) + 1;
    if (p->indexed + PIECE_WORDS > p->count) return;
    if (least > p->slots) {
        p->slots = 2 * least;
        free(p->table);
        p->table = need(calloc(p->slots, sizeof *p->table));
        p->indexed = 0;
    }
    for (; p->indexed + PIECE_WORDS <= p->count; p->indexed += PIECE_WORDS) {
        const u32 *window = p->text + p->indexed;
        u64 *slot = slot_of(p, window, hash(window));
        if (!*slot) *slot = p->indexed + 1;
    }
}

// ---- The words ----

typedef struct Search {
    const u32 *words;
    u64 count, at;
    u8 *from;
    u64 hash, hashed; // of the window that begins at `hashed`, plus 1; 0: of none yet
} Search;

static u64 equal_words(const u32 *a, const u32 *b, u64 most)
{
    u64 n = 0;
    while (n < most && a[n] == b[n]) n++;
    return n;
}

// The words from here on that go on at that place of the text.
static u64 follows(const Pieces *p, const Search *s, u64 place)
{
    u64 left = s->count - s->at, there = p->count - place;
    return equal_words(s->words + s->at, p->text + place, left < there ? left : there);
}

static void take(Search *s, u64 length, u8 cursor)
{
    memset(s->from + s->at, length < PIECE_WORDS ? cursor : cursor | PIECE_LONG, length);
    s->at += length;
}

// Goes on after a recent piece. False: no piece goes on here.
static bool go_on(Pieces *p, Search *s)
{
    u64 longest = 0, which = 0;
    for (u32 n = 0; n < PIECE_CURSORS; n++) {
        u64 length = follows(p, s, p->cursor[n]);
        if (length > longest) longest = length, which = n;
    }
    p->cursor[which] += longest;
    take(s, longest, (u8)(which + 1));
    return longest > 0;
}

static u64 window_hash(Search *s)
{
    static u64 top; // BASE to the power of PIECE_WORDS
    if (!top) {
        top = 1;
        for (u32 n = 0; n < PIECE_WORDS; n++) top *= BASE;
    }
    if (s->hashed && s->hashed == s->at)
        s->hash = s->hash * BASE + s->words[s->at + PIECE_WORDS - 1] - top * s->words[s->at - 1];
    else s->hash = hash(s->words + s->at);
    s->hashed = s->at + 1;
    return s->hash;
}

// A piece whose window begins here: takes with it what stands before the window.
static bool take_piece(Pieces *p, Search *s)
{
    if (!p->slots || s->at + PIECE_WORDS > s->count) return false;
    u64 place = *slot_of(p, s->words + s->at, window_hash(s));
    if (!place--) return false;
    u64 length = follows(p, s, place);
    u8 cursor = add_cursor(p, place + length);
    for (u64 n = 1; n <= s->at && n <= place && s->from[s->at - n] == PIECE_NONE
                    && s->words[s->at - n] == p->text[place - n];
         n++)
        s->from[s->at - n] = cursor | PIECE_LONG;
    take(s, length, cursor);
    return true;
}

static bool take_equal(Search *s)
{
    u64 first = s->at, end = first + 1;
    while (end < s->count && s->words[end] == s->words[first]) end++;
    if (end - first < PIECE_WORDS) return false;
    take(s, end - first, PIECE_SAME);
    if (s->words[first] != 0) s->from[first] = PIECE_NONE;
    return true;
}

void pieces_find(Pieces *p, const u32 *words, u64 count, u8 *from)
{
    Search s = { .words = words, .count = count, .from = from };
    memset(from, PIECE_NONE, count);
    index_text(p);
    while (s.at < count) {
        if (go_on(p, &s) || take_equal(&s) || take_piece(p, &s)) continue;
        s.at++;
    }
}
