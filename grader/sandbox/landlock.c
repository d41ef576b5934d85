// What of the file system a program sees where there are no namespaces: Landlock (Linux 5.13),
// which needs no rights. It keeps names and sizes in sight (stat(2)), and hides what is in files
// and folders.
#define _GNU_SOURCE
#include "sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE // of version 3, which Debian 12's headers lack
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

enum {
    SEE = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    USE = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE,
    OF_FILES = SEE | USE | LANDLOCK_ACCESS_FS_TRUNCATE,
    OF_VERSION_1 = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,
};

// All rights that this kernel's version of Landlock knows.
static unsigned long long rights_of(int version)
{
    return OF_VERSION_1 | (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0)
         | (version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0);
}

static int version(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool landlock_is_there(void) { return version() >= 1; }

// Allows that at the path, and below it if it is a folder. A path that is not there needs no rule.
static bool allow(int rules, const char *path, unsigned long long rights)
{
    struct stat at;
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0) return errno == ENOENT;
    bool good = fstat(file, &at) == 0;
    if (!S_ISDIR(at.st_mode)) rights &= OF_FILES & ~LANDLOCK_ACCESS_FS_READ_DIR;
    struct landlock_path_beneath_attr rule = { .allowed_access = rights, .parent_fd = file };
    good = good && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(file);
    return good;
}

bool landlock_hide(const char *const *paths, const char *const *devices, const char *folder)
{
    static const char *const harmless[] = { "/dev/null",   "/dev/zero",    "/dev/full",
                                            "/dev/random", "/dev/urandom", NULL };
    unsigned long long all = rights_of(version());
    struct landlock_ruleset_attr ruled = { .handled_access_fs = all };
    int rules = (int)syscall(SYS_landlock_create_ruleset, &ruled, sizeof ruled, 0);
    bool good = rules >= 0 && allow(rules, "/usr", SEE) && allow(rules, "/proc", SEE);
    for (const char *const *at = system_folders; good && *at; at++) good = allow(rules, *at, SEE);
    for (; good && *paths; paths++) good = allow(rules, *paths, SEE);
    for (const char *const *at = harmless; good && *at; at++) good = allow(rules, *at, USE);
    for (; good && *devices; devices++) good = allow(rules, *devices, USE);
    if (good && folder) good = allow(rules, folder, all);
    good = good && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    if (rules >= 0) close(rules);
    return good;
}
