// Files that are written whole or not at all.
#define _GNU_SOURCE
#include "file.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_as(const char *path, mode_t mode, bool (*write)(FILE *f, void *what), void *what)
{
    char *temporary = text_format("%s.XXXXXX.new", path);
    int fd = mkostemps(temporary, strlen(".new"), O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");

    bool good = f && write(f, what) && fflush(f) == 0 && fchmod(fd, mode) == 0 && fsync(fd) == 0;
    if (f) good = fclose(f) == 0 && good;
    good = good && rename(temporary, path) == 0;
    int why = errno;
    if (!good && fd >= 0) unlink(temporary);
    free(temporary);
    errno = why;
    return good;
}

bool file_write(const char *path, bool (*write)(FILE *f, void *what), void *what)
{
    return write_as(path, 0644, write, what);
}

bool file_write_private(const char *path, bool (*write)(FILE *f, void *what), void *what)
{
    return write_as(path, 0600, write, what);
}

static bool dump(FILE *f, void *json)
{
    return json_dumpf(json, f, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) == 0
        && putc('\n', f) != EOF;
}

bool json_write(const char *path, const json_t *json)
{
    return file_write(path, dump, (void *)json);
}
