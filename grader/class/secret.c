#define _GNU_SOURCE
#include "class.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <nettle/hmac.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static uint8_t key[SHA256_DIGEST_SIZE];

static void digits_of(const uint8_t *bytes, char *text, size_t digits)
{
    for (size_t n = 0; n < digits; n++)
        text[n] = "0123456789abcdef"[n % 2 ? bytes[n / 2] & 15 : bytes[n / 2] >> 4];
    text[digits] = 0;
}

// Made beside its name and then linked, so that of two runs that begin at once both have the same.
static bool make_key(const char *path)
{
    char *fresh = text_format("%s.%06d.new", path, (int)getpid());
    int file = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = file >= 0 && getrandom(key, sizeof key, 0) == sizeof key
             && write(file, key, sizeof key) == sizeof key && fsync(file) == 0
             && (link(fresh, path) == 0 || errno == EEXIST);
    if (file >= 0) close(file);
    unlink(fresh);
    free(fresh);
    return good;
}

bool secret_open(const char *grades)
{
    char *path = text_format("%s/secret", grades);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT && make_key(path)) file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, key, sizeof key);
    if (file >= 0) close(file);
    free(path);
    if (count >= 0 && count != sizeof key) errno = EBADMSG;
    return count == sizeof key;
}

void secret_hash(const void *bytes, size_t count, char hash[HASH_DIGITS + 1])
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, count, bytes);
    sha256_digest(&context, sizeof digest, digest);
    digits_of(digest, hash, HASH_DIGITS);
}

void secret_keyed(const char *what, const char *words, char *text, size_t digits)
{
    struct hmac_sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    hmac_sha256_set_key(&context, sizeof key, key);
    hmac_sha256_update(&context, strlen(what), (const uint8_t *)what);
    hmac_sha256_update(&context, 2, (const uint8_t *)": ");
    hmac_sha256_update(&context, strlen(words), (const uint8_t *)words);
    hmac_sha256_digest(&context, sizeof digest, digest);
    digits_of(digest, text, digits);
}
