// A replay token: a mark's origin in one word, which a student types to have the same file graded
// in the same way (make replay TOKEN=...). It holds the seed of that file's inputs, which is keyed
// (HMAC) with the class's secret by lesson and file: it says nothing of the secret, nor of the seed
// of any other file.
//
//     1:9f86d081884c7d65:2c26b46b68ff:h200:0.1.0:13.0.88:SLOW:7:8c736521
//
// The parts are the lesson's number (of a variant, variant.h, "8+squares-7-3f2a"), the seed, the
// first TOKEN_HASH digits of the file's SHA-256, the device, the grader's version, the toolkit's,
// the verdict, the points, and the CRC-32 of what stands before it, which finds a typing mistake.
#pragma once
#include <jansson.h>
#include <stdbool.h>

enum { TOKEN_HASH = 12, TOKEN_SEED = 16 };

typedef struct Token {
    int lesson;
    const char *variant;     // its word, or ""
    const char *seed, *hash; // hexadecimal digits
    const char *device;      // the profile that the simulated device had: "h200"
    const char *gpu;         // "NVIDIA_H200", if it was graded on a GPU too; else ""
    const char *version, *toolkit, *verdict;
    int points; // -1: none
} Token;

// The token of a class's result (result.h), which has its "class" already; NULL: nothing was
// graded. The caller frees it.
char *token_of(const json_t *result);

// Reads a token. False: *why says what is wrong with it. The strings are not freed.
bool token_read(Token *t, const char *text, const char **why);

// A copy with '_' for what a token's part cannot have; the caller frees it.
char *token_part(const char *words);
