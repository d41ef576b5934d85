#define _GNU_SOURCE
#include "images.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 64, MOST_TOLD = 4096 };

static struct {
    const u8 *bytes;
    size_t count;
} files[MOST_FILES];
static u32 file_count;

static struct {
    u64 bytes, digest;
} told[MOST_TOLD];
static u32 told_count;

// ---- The program's files, which do not change while the program runs ----

static void keep_file(int fd)
{
    struct stat is;
    if (fstat(fd, &is) < 0 || !S_ISREG(is.st_mode) || !is.st_size) return;
    void *bytes = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) return;
    files[file_count].bytes = bytes;
    files[file_count++].count = (size_t)is.st_size;
}

void images_of_command(char *const *words)
{
    for (; *words && file_count < MOST_FILES; words++) {
        int fd = open(*words, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) continue;
        keep_file(fd);
        close(fd);
    }
}

static bool is_in_files(const u8 *image, u64 bytes)
{
    for (u32 n = 0; n < file_count; n++)
        if (memmem(files[n].bytes, files[n].count, image, bytes)) return true;
    return false;
}

// ---- What has been told ----

// A polynomial at a place that nobody knows, modulo a prime: no other image of that size can be
// made for this digest. 0: there is none.
static u64 digest_of(const u8 *image, u64 bytes)
{
    enum { PIECE = 7 };
    static const u64 PRIME = (1ull << 61) - 1;
    static u64 place;
    u64 sum = 0;
    if (!place && getrandom(&place, sizeof place, 0) != sizeof place) return 0;
    place %= PRIME;
    for (u64 at = 0; at < bytes; at += PIECE) {
        u64 piece = 0;
        memcpy(&piece, image + at, bytes - at < PIECE ? bytes - at : PIECE);
        sum = (u64)(((unsigned __int128)sum * place + piece) % PRIME);
    }
    return sum;
}

bool images_bring(const u8 *image, u64 bytes)
{
    if (is_in_files(image, bytes)) return false;
    u64 digest = digest_of(image, bytes);
    for (u32 n = 0; n < told_count; n++)
        if (digest && told[n].bytes == bytes && told[n].digest == digest) return false;
    if (told_count == MOST_TOLD) return true;
    told[told_count].bytes = bytes;
    told[told_count++].digest = digest;
    return true;
}
