#define _GNU_SOURCE
#include "token.h"
#include "text.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PARTS = 9 };

static bool is_part(char c) { return isalnum((unsigned char)c) || strchr("._-", c); }

char *token_part(const char *words)
{
    char *part = strdup(words);
    for (char *c = part; *c; c++)
        if (!is_part(*c)) *c = '_';
    return part;
}

static unsigned check_of(const char *text, size_t count)
{
    return (unsigned)crc32(0, (const Bytef *)text, (uInt)count);
}

// A member of an object, as a token's part; "-" where it is missing.
static char *part_of(const json_t *object, const char *key)
{
    const char *words = json_string_value(json_object_get(object, key));
    return token_part(words && *words ? words : "-");
}

char *token_of(const json_t *result)
{
    const json_t *by = json_object_get(result, "class"), *gpu = json_object_get(result, "gpu"),
                 *points = json_object_get(json_object_get(result, "score"), "speed");
    if (!json_is_integer(json_object_get(result, "number")) || !by) return NULL;
    char *seed = part_of(by, "seed"), *hash = part_of(by, "hash"),
         *version = part_of(by, "version"), *toolkit = part_of(by, "toolkit"),
         *device = part_of(result, "device"), *verdict = part_of(result, "verdict"),
         *card = gpu ? part_of(gpu, "device") : strdup(""),
         *variant = json_object_get(result, "variant") ? part_of(result, "variant") : strdup("");
    int has = json_is_integer(points) ? (int)json_integer_value(points) : -1;
    char *text = text_format("%d%s%s:%s:%.*s:%s%s%s:%s:%s:%s:%d",
                             (int)json_integer_value(json_object_get(result, "number")),
                             *variant ? "+" : "", variant, seed, TOKEN_HASH, hash, device,
                             *card ? "+" : "", card, version, toolkit, verdict, has);
    char *token = text_format("%s:%08x", text, check_of(text, strlen(text)));
    char *parts[] = { seed, hash, version, toolkit, device, verdict, card, variant, text };
    for (size_t n = 0; n < sizeof parts / sizeof *parts; n++) free(parts[n]);
    return token;
}

static bool are_digits(const char *text, size_t count)
{
    return strlen(text) == count && strspn(text, "0123456789abcdef") == count;
}

// Splits it at its colons. Returns how many parts there are; a part that has anything else than a
// part may have ends it.
static size_t split(char *text, char *part[PARTS])
{
    size_t count = 0;
    for (char *next = text; next && count < PARTS; count++) {
        part[count] = strsep(&next, ":");
        for (const char *c = part[count]; *c; c++)
            if (!is_part(*c) && *c != '+') return 0;
        if (!*part[count] || (count == PARTS - 1 && next)) return 0;
    }
    return count;
}

bool token_read(Token *t, const char *text, const char **why)
{
    text += strspn(text, " \t\r\n");
    char *copy = strdup(text), *part[PARTS], *end;
    copy[strcspn(copy, " \t\r\n")] = 0;
    const char *last = strrchr(copy, ':');
    size_t before = last ? (size_t)(last - copy) : 0;
    *why = "it is no replay token, which is a word of nine parts with colons between them";
    char *words = strdup(copy);
    if (split(words, part) != PARTS) return false;
    *why = "its last part does not fit the others: compare it with the gradebook's, to the letter";
    if (strtoul(part[8], &end, 16) != check_of(copy, before) || *end) return false;
    *why = "its parts are not those of a replay token";
    if (!are_digits(part[1], TOKEN_SEED) || !are_digits(part[2], TOKEN_HASH)) return false;
    char *gpu = strchr(part[3], '+'), *variant = strchr(part[0], '+');
    if (gpu) *gpu++ = 0;
    *t = (Token){ .lesson = atoi(part[0]),
                  .variant = variant ? variant + 1 : "",
                  .seed = part[1],
                  .hash = part[2],
                  .device = part[3],
                  .gpu = gpu ? gpu : "",
                  .version = part[4],
                  .toolkit = part[5],
                  .verdict = part[6],
                  .points = atoi(part[7]) };
    free(copy);
    return true;
}
