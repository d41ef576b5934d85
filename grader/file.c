// Files and folders, and JSON in them.
#define _GNU_SOURCE
#include "file.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_amiss(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
}

bool folder_make(const char *path)
{
    char *part = strdup(path);
    for (char *c = part + 1; (c = strchr(c, '/')); *c++ = '/') {
        *c = 0;
        mkdir(part, 0777);
    }
    free(part);
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

char *stream_read(FILE *f, size_t *count)
{
    enum { ROOM = 1 << 16 };
    char *bytes = NULL;
    *count = 0;
    do {
        bytes = realloc(bytes, *count + ROOM + 1);
        *count += fread(bytes + *count, 1, ROOM, f);
    } while (!feof(f) && !ferror(f));
    bytes[*count] = 0;
    if (!ferror(f)) return bytes;
    free(bytes);
    return NULL;
}

char *file_read(const char *path, size_t *count)
{
    FILE *f = fopen(path, "re");
    char *bytes = f ? stream_read(f, count) : NULL;
    if (f) fclose(f);
    return bytes;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

bool folder_remove(const char *path)
{
    enum { FOLDERS_OPEN = 16 };
    return nftw(path, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT;
}

// ---- Writing

// What the umask leaves of a new file's mode.
static mode_t usual_mode(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

bool file_write(const char *path, bool (*write)(FILE *f, void *what), void *what)
{
    char *temporary = text_format("%s.XXXXXX.new", path);
    int fd = mkostemps(temporary, strlen(".new"), O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");

    bool good =
        f && write(f, what) && fflush(f) == 0 && fchmod(fd, usual_mode()) == 0 && fsync(fd) == 0;
    if (f) good = fclose(f) == 0 && good;
    good = good && rename(temporary, path) == 0;
    int why = errno;
    if (!good && fd >= 0) unlink(temporary);
    free(temporary);
    errno = why;
    return good;
}

typedef struct Bytes {
    const void *all;
    size_t count;
} Bytes;

static bool write_bytes(FILE *f, void *what)
{
    const Bytes *bytes = what;
    return fwrite(bytes->all, 1, bytes->count, f) == bytes->count;
}

bool file_write_bytes(const char *path, const void *bytes, size_t count)
{
    return file_write(path, write_bytes, &(Bytes){ bytes, count });
}

// ---- JSON

static bool dump(FILE *f, void *json)
{
    return json_dumpf(json, f, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) == 0
        && putc('\n', f) != EOF;
}

bool json_write(const char *path, const json_t *json)
{
    return file_write(path, dump, (void *)json);
}

const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}
