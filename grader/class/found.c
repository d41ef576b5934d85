#define _GNU_SOURCE
#include "class.h"
#include "process.h"
#include "sandbox/ends.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNPACK_SECONDS = 60 };

size_t found_suffix(const char *name)
{
    static const char *const suffixes[] = { ".zip",     ".tar.gz",  ".tgz",  ".tar.xz",
                                            ".txz",     ".tar.bz2", ".tbz2", ".tar.zst",
                                            ".tar.lz4", ".tar",     ".7z",   ".rar" };
    size_t length = strlen(name);
    for (size_t n = 0; n < sizeof suffixes / sizeof *suffixes; n++) {
        size_t suffix = strlen(suffixes[n]);
        if (length > suffix && strcasecmp(name + length - suffix, suffixes[n]) == 0) return suffix;
    }
    return 0;
}

void found_add(Found *f, File file)
{
    for (File *other = f->file; other < f->file + f->count; other++) {
        if (strcmp(other->lesson, file.lesson) != 0) continue;
        free(other->refused);
        other->refused =
            text_format("it is there twice, as %s and as %s", other->where, file.where);
        return;
    }
    f->file = reallocarray(f->file, f->count + 1, sizeof file);
    f->file[f->count++] = file;
}

void found_free(Found *f)
{
    for (File *file = f->file; file < f->file + f->count; file++) {
        free(file->lesson);
        free(file->where);
        free(file->bytes);
        free(file->refused);
    }
    free(f->file);
    free(f->refused);
    free(f->other);
}

static void add_other(Found *f, const char *name)
{
    if (!f->other) f->other = strdup(name);
}

bool class_has_lesson(const char *name)
{
    char *text = text_format("lessons/%s.md", name);
    bool has = *name && !strchr(name, '/') && access(text, F_OK) == 0;
    free(text);
    return has;
}

// "05-transpose" of "05-transpose.cu", if there is such a lesson; else NULL.
static char *lesson_of(const char *file)
{
    size_t n = strlen(file);
    if (n < 4 || strcmp(file + n - 3, ".cu") || strchr("/.", *file)) return NULL;
    char *lesson = strndup(file, n - 3);
    if (class_has_lesson(lesson)) return lesson;
    free(lesson);
    return NULL;
}

// Opens a regular file of at most `most` bytes. Returns why it is not taken, or NULL. A link could
// lead anywhere, and a pipe has no end.
static char *open_regular(const char *path, long long most, int *file, size_t *bytes)
{
    struct stat at;
    char *why = NULL;
    *file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (*file < 0)
        return strdup(errno == ELOOP   ? "it is a link"
                      : errno == ENXIO ? "it is no regular file"
                                       : strerror(errno));
    if (fstat(*file, &at) < 0) why = strdup(strerror(errno));
    else if (!S_ISREG(at.st_mode)) why = strdup("it is no regular file");
    else if (at.st_size > most)
        why = text_format("it has %lld bytes, and may have %lld", (long long)at.st_size, most);
    if (why) close(*file);
    else *bytes = (size_t)at.st_size;
    return why;
}

static char *read_file(int file, size_t count, char **bytes)
{
    size_t have = 0;
    if (!(*bytes = malloc(count + 1))) return strdup(strerror(errno));
    while (have < count) {
        ssize_t got = pread(file, *bytes + have, count - have, (off_t)have);
        if (got <= 0) return strdup(got ? strerror(errno) : "it became shorter while it was read");
        have += (size_t)got;
    }
    (*bytes)[count] = 0;
    return NULL;
}

static void take_file(Found *f, const char *path, char *lesson, const char *where)
{
    int file;
    File found = { .lesson = lesson, .where = strdup(where) };
    found.refused = open_regular(path, SUBMISSION_BYTES, &file, &found.count);
    if (!found.refused) {
        found.refused = read_file(file, found.count, &found.bytes);
        close(file);
    }
    found_add(f, found);
}

// ---- Archives

// Takes the next `count` bytes of what was told, or NULL.
static char *take_bytes(const char **at, const char *end, size_t count)
{
    if (*at > end || (size_t)(end - *at) < count) return NULL;
    char *bytes = malloc(count + 1);
    memcpy(bytes, *at, count);
    bytes[count] = 0;
    *at += count;
    return bytes;
}

// What class.h explains at unpack_main(). The one who tells it has read an archive that nobody
// trusts, so nothing in it is relied on. False: that is not its end.
static bool take_told(Found *f, const char *at, const char *end, const char *archive)
{
    while (at < end) {
        char what[8], name[64];
        size_t count, where_count = 0;
        int used = 0;
        if (strncmp(at, "end\n", 4) == 0) return true;
        if (sscanf(at, "none %zu%n", &count, &used) == 1) {
            at += used + 1;
            char *why = take_bytes(&at, end, count);
            if (!why) return false;
            if (!f->refused) f->refused = text_clean(why);
            free(why);
            continue;
        }
        if (sscanf(at, "%7s %63s %zu %zu%n", what, name, &count, &where_count, &used) != 4)
            return false;
        at += used + 1;
        char *bytes = take_bytes(&at, end, count), *where = take_bytes(&at, end, where_count);
        if (!bytes || !where || count > SUBMISSION_BYTES) return false;
        char *clean = text_clean(where), *file = text_format("%s.cu", name),
             *whole = text_format("%s:%s", archive, clean), *lesson = lesson_of(file);
        if (!lesson) add_other(f, clean);
        else if (strcmp(what, "file") == 0)
            found_add(f, (File){ lesson, strdup(whole), bytes, count, NULL });
        else found_add(f, (File){ lesson, strdup(whole), NULL, 0, text_clean(bytes) });
        free(where);
        free(clean);
        free(file);
        free(whole);
    }
    return false;
}

// Unpacks in a process of its own. Where there is no sandbox, and that was agreed to, its own
// limits are what keeps it.
static int unpack(int archive, int told, bool sandbox)
{
    char *self = realpath("/proc/self/exe", NULL), *libraries = realpath("build/lib", NULL);
    const char *argv[] = { "build/grader/sandbox",
                           "--read",
                           self,
                           "--read",
                           libraries ? libraries : self, // a bundle has its own
                           "--",
                           self,
                           "--unpack",
                           NULL };
    int status = -1;
    pid_t pid = process_start(&(Spawn){ .argv = sandbox ? argv : argv + 6,
                                        .from = { archive, told },
                                        .to = { 0, 1 },
                                        .descriptors = 2,
                                        .trusted = sandbox });
    if (pid >= 0 && !process_wait(pid, UNPACK_SECONDS, &status)) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    free(self);
    free(libraries);
    return status;
}

static bool is_loaded(int status)
{
    enum { NOT_LOADED = 127 }; // the loader lacks a library
    return status != -1 && !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_LOADED);
}

// Looks at an empty file. If that fails too, no archive is to blame, and the run ends before
// anything is graded.
static void expect_loaded(void)
{
    int empty = memfd_create("empty", MFD_CLOEXEC), told = memfd_create("told", MFD_CLOEXEC);
    bool loaded = is_loaded(unpack(empty, told, true));
    close(empty);
    close(told);
    if (loaded) return;
    fputs("No archive can be unpacked: build/grader/class --unpack does not start. Nothing is "
          "graded. Type: make doctor\n",
          stderr);
    exit(EXIT_FAILURE);
}

static void take_archive(Found *f, const char *path, const char *name)
{
    int archive, told = memfd_create("told", MFD_CLOEXEC);
    size_t bytes;
    char *why = open_regular(path, ARCHIVE_BYTES, &archive, &bytes), *all = NULL;
    struct stat at = { 0 };
    if (!why) {
        int status = unpack(archive, told, true);
        if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == SANDBOX_FAILED) {
            lseek(archive, 0, SEEK_SET);
            status = unpack(archive, told, false);
        }
        if (!is_loaded(status)) expect_loaded();
        close(archive);
        if (fstat(told, &at) < 0 || read_file(told, (size_t)at.st_size, &all)
            || !take_told(f, all, all + at.st_size, name))
            why = strdup("it cannot be unpacked: it takes too much memory or time, or is broken");
    }
    if (why && !f->refused) f->refused = why;
    else free(why);
    free(all);
    close(told);
}

// ---- Folders

static bool is_among(const char *path, const HandIn *skip, size_t skips)
{
    for (size_t n = 0; n < skips; n++)
        if (strcmp(skip[n].path, path) == 0) return true;
    return false;
}

// One entry of a folder. False: there are too many.
static bool take_entry(Found *f, FTSENT *e, const char *root)
{
    const char *where = e->fts_path + strlen(root) + 1;
    char *lesson = lesson_of(e->fts_name);
    if (++f->entries > MOST_ENTRIES) {
        f->refused = text_format("it has more than %d entries", MOST_ENTRIES);
        free(lesson);
        return false;
    }
    if (lesson) take_file(f, e->fts_path, lesson, where);
    else if (e->fts_info == FTS_F && found_suffix(e->fts_name)) take_archive(f, e->fts_path, where);
    else if (e->fts_info != FTS_D && e->fts_name[0] != '.') add_other(f, where);
    return true;
}

static void take_folder(Found *f, const char *path, const HandIn *skip, size_t skips, size_t below)
{
    FTS *walk = fts_open((char *[]){ (char *)path, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *e; walk && !f->refused && (e = fts_read(walk));) {
        bool folder = e->fts_info == FTS_D;
        if (e->fts_level == 0 || e->fts_info == FTS_DP) continue;
        if (is_among(e->fts_path + below, skip, skips)) {
            f->left++;
            if (folder) fts_set(walk, e, FTS_SKIP);
        } else {
            if (folder && e->fts_name[0] == '.') fts_set(walk, e, FTS_SKIP); // as .git
            take_entry(f, e, path);
        }
    }
    if (walk) fts_close(walk);
}

Found found_in(const char *path, const char *lesson, const HandIn *skip, size_t skips, size_t below)
{
    Found f = { 0 };
    struct stat at;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (lstat(path, &at) < 0) f.refused = strdup(strerror(errno));
    else if (S_ISDIR(at.st_mode)) take_folder(&f, path, skip, skips, below);
    else if (found_suffix(name)) take_archive(&f, path, name);
    else {
        char *own = lesson ? strdup(lesson) : lesson_of(name);
        if (own) take_file(&f, path, own, name);
        else add_other(&f, name);
    }
    if (!f.refused && !f.count && f.other)
        f.refused =
            text_format("no file in it is named as those in exercises/ are; it has %s", f.other);
    return f;
}
