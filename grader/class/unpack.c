#define _GNU_SOURCE
#include "class.h"
#include "text.h"
#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Unpacking {
    struct archive *archive;
    long long packed, unpacked;
    size_t entries;
    char *bytes; // of the entry, as far as a submission may have them
    size_t count;
} Unpacking;

// ---- What is told

static void tell(const char *what, const char *name, const char *bytes, size_t count,
                 const char *where)
{
    printf("%s %s %zu %zu\n", what, name, count, strlen(where));
    fwrite(bytes, 1, count, stdout);
    fputs(where, stdout);
}

static void refuse(const char *name, const char *where, char *why)
{
    tell("refused", name, why, strlen(why), where);
    free(why);
}

// Why nothing of the archive is taken. Returns false.
__attribute__((format(printf, 1, 2))) static bool refuse_all(const char *format, ...)
{
    va_list words;
    char *why = NULL;
    va_start(words, format);
    if (vasprintf(&why, format, words) < 0) exit(1);
    va_end(words);
    printf("none %zu\n%s", strlen(why), why);
    free(why);
    return false;
}

// ---- An entry

// Windows has other separators, and drives.
static bool leaves_the_archive(const char *path)
{
    if (strchr("/\\", *path) || (isalpha((unsigned char)*path) && path[1] == ':')) return true;
    for (; path; path = strpbrk(path, "/\\")) {
        path += strspn(path, "/\\");
        if (strncmp(path, "..", 2) == 0 && strchr("/\\", path[2])) return true;
    }
    return false;
}

static const char *base_of(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        if (strchr("/\\", *path) && path[1]) base = path + 1;
    return base;
}

// The length of NN-name in NN-name.cu; else 0.
static size_t lesson_length(const char *base)
{
    size_t n = strspn(base, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return n > 3 && isdigit((unsigned char)base[0]) && isdigit((unsigned char)base[1])
                && base[2] == '-' && strcmp(base + n, ".cu") == 0
             ? n
             : 0;
}

static bool is_allowed(struct archive_entry *e, const char *path)
{
    mode_t type = archive_entry_filetype(e);
    if (archive_entry_is_encrypted(e)) return refuse_all("%s in it is encrypted", path);
    if (leaves_the_archive(path)) return refuse_all("%s in it leads out of the archive", path);
    if (archive_entry_hardlink(e) || type == S_IFLNK) return refuse_all("%s in it is a link", path);
    if (type && type != S_IFREG && type != S_IFDIR)
        return refuse_all("%s in it is neither a file nor a folder", path);
    if (type == S_IFREG && found_suffix(path))
        return refuse_all("%s in it is an archive again", path);
    return true;
}

// Reads an entry, also one that is not asked for: what it takes to unpack it counts, and whether it
// can be.
static bool read_entry(Unpacking *u, const char *path)
{
    const void *block;
    size_t size;
    int64_t at;
    u->count = 0;
    for (int end; (end = archive_read_data_block(u->archive, &block, &size, &at)) != ARCHIVE_EOF;) {
        if (end < ARCHIVE_WARN || end == ARCHIVE_RETRY)
            return refuse_all("%s in it cannot be unpacked: %s", path,
                              archive_error_string(u->archive));
        u->unpacked += (long long)size;
        if (u->unpacked > ARCHIVE_BYTES || at > ARCHIVE_BYTES)
            return refuse_all("it has more than %d MiB once it is unpacked", ARCHIVE_BYTES >> 20);
        if (u->unpacked > SUBMISSION_BYTES && u->unpacked / ARCHIVE_RATIO > u->packed)
            return refuse_all("it becomes more than %d times as large once it is unpacked",
                              ARCHIVE_RATIO);
        for (; u->count < (size_t)at; u->count++)
            if (u->count < SUBMISSION_BYTES) u->bytes[u->count] = 0;
        if (u->count + size <= SUBMISSION_BYTES) memcpy(u->bytes + u->count, block, size);
        u->count += size;
    }
    return true;
}

// A sparse file can end in a hole, of which no block tells.
static bool read_last_hole(Unpacking *u, struct archive_entry *e)
{
    int64_t size = archive_entry_size_is_set(e) ? archive_entry_size(e) : 0;
    if (size > ARCHIVE_BYTES)
        return refuse_all("it has more than %d MiB once it is unpacked", ARCHIVE_BYTES >> 20);
    for (; u->count < (size_t)size; u->count++)
        if (u->count < SUBMISSION_BYTES) u->bytes[u->count] = 0;
    return true;
}

static bool take_entry(Unpacking *u, struct archive_entry *e)
{
    const char *raw = archive_entry_pathname(e);
    char *path = text_clean(raw ? raw : "");
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--) path[n - 1] = 0; // of a folder
    const char *base = base_of(path);
    size_t length = lesson_length(base);
    char *name = strndup(base, length);
    mode_t type = archive_entry_filetype(e);
    bool good = is_allowed(e, path);
    if (good && ++u->entries > MOST_ENTRIES)
        good = refuse_all("it has more than %d entries", MOST_ENTRIES);
    if (good && type != S_IFDIR) good = read_entry(u, path) && read_last_hole(u, e);
    if (good && length) {
        if (type == S_IFDIR) refuse(name, path, strdup("it is no regular file"));
        else if (u->count > SUBMISSION_BYTES)
            refuse(name, path,
                   text_format("it has %zu bytes, and may have %d", u->count, SUBMISSION_BYTES));
        else tell("file", name, u->bytes, u->count, path);
    } else if (good && type != S_IFDIR) refuse("-", path, strdup("")); // of another name
    free(name);
    free(path);
    return good;
}

// ---- The archive

// Formats that are widely used, and decompressors that libarchive has itself. Others of its formats
// read files beside the archive (mtree), or run programs (lrzip).
static struct archive *open_archive(void)
{
    struct archive *a = archive_read_new();
    archive_read_support_format_zip(a);
    archive_read_support_format_tar(a);
    archive_read_support_format_7zip(a);
    archive_read_support_format_rar(a);
    archive_read_support_format_rar5(a);
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_lzma(a);
    archive_read_support_filter_lz4(a);
    archive_read_support_filter_zstd(a);
    return a;
}

// A decompressor may be told to want gigabytes, or never to end.
static bool limit_ourselves(void)
{
    static const struct {
        __rlimit_resource_t what;
        rlim_t most;
    } limits[] = { { RLIMIT_AS, 1 << 30 },
                   { RLIMIT_CPU, 20 },
                   { RLIMIT_FSIZE, 2 * ARCHIVE_BYTES } };
    for (size_t n = 0; n < sizeof limits / sizeof *limits; n++)
        if (setrlimit(limits[n].what, &(struct rlimit){ limits[n].most, limits[n].most }) < 0)
            return false;
    return true;
}

int unpack_main(void)
{
    struct archive_entry *e;
    struct stat at;
    Unpacking u = { .archive = open_archive(), .bytes = malloc(SUBMISSION_BYTES) };
    setlocale(LC_ALL, "C.UTF-8");
    if (!limit_ourselves() || !u.bytes || fstat(STDIN_FILENO, &at) < 0) return 1;
    u.packed = at.st_size;
    bool good = archive_read_open_fd(u.archive, STDIN_FILENO, 1 << 16) == ARCHIVE_OK;
    int end = good ? ARCHIVE_OK : ARCHIVE_FATAL;
    while (good && (end = archive_read_next_header(u.archive, &e)) != ARCHIVE_EOF
           && end >= ARCHIVE_WARN)
        good = take_entry(&u, e);
    if (end != ARCHIVE_EOF && end < ARCHIVE_WARN)
        refuse_all("it is broken, or no archive: %s", archive_error_string(u.archive));
    puts("end");
    return fflush(stdout) != 0;
}
