// What a result made here is worth, after what build/grader/sandbox --check finds.
#define _GNU_SOURCE
#include "class.h"
#include "text.h"
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const levels[] = { "no", "user", "yes" }; // from the least
static char isolation[32];                                   // of sandbox.h
static const char *level = "no";
static char *device; // what submissions run on: simulator/run

// The last line that the check says is "isolation: WORD".
static void look_at_sandbox(void)
{
    char line[256];
    FILE *f = popen("build/grader/sandbox --check 2>/dev/null", "re");
    while (f && fgets(line, sizeof line, f)) sscanf(line, "isolation: %31s", isolation);
    if (f) pclose(f);
}

// The simulated device of this project, unless DEVICE names another one.
static bool look_at_device(void)
{
    char *ours = realpath("simulator/run", NULL);
    const char *wanted = getenv("DEVICE");
    char *named = wanted && *wanted ? realpath(wanted, NULL) : NULL;
    bool same = !wanted || (ours && named && strcmp(ours, named) == 0);
    device = same ? ours : named ? named : strdup(wanted);
    return same;
}

bool trust_find(void)
{
    look_at_sandbox();
    bool own_device = look_at_device(), whole = strcmp(isolation, "namespaces") == 0;
    if (own_device && whole) level = "yes";
    else if (own_device && strcmp(isolation, "user") == 0) level = "user";
    bool may = strcmp(level, "yes") == 0 || trust_is_told();
    if (!whole)
        fputs("This machine refuses the sandbox that a class's submissions run in. To see why, "
              "type: make doctor\n",
              stderr);
    if (!own_device)
        fprintf(stderr, "DEVICE names %s, which is not this project's simulated device.\n", device);
    if (!may)
        fputs("Nothing was graded. UNTRUSTED=1 grades all the same, and results say that they are "
              "not trusted.\n",
              stderr);
    return may && *isolation && strcmp(isolation, "none") != 0;
}

bool trust_is_told(void)
{
    const char *told = getenv("UNTRUSTED");
    return told && strcmp(told, "1") == 0;
}

const char *trust_level(void) { return level; }
const char *trust_isolation(void) { return isolation; }
const char *trust_device(void) { return device; }

static int rank_of(const char *word)
{
    for (int n = 0; word && n < (int)(sizeof levels / sizeof *levels); n++)
        if (strcmp(word, levels[n]) == 0) return n;
    return 0;
}

const char *trust_word(const char *of) { return levels[rank_of(of)]; }

bool trust_is_enough(const char *of) { return rank_of(of) >= rank_of(level); }

bool trust_counts(const char *of) { return trust_is_told() || rank_of(of) == rank_of("yes"); }

static void add_hash(const char *path, char *all)
{
    struct stat at;
    char hash[HASH_DIGITS + 1] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool found = file >= 0 && fstat(file, &at) == 0 && at.st_size > 0;
    void *bytes =
        found ? mmap(NULL, (size_t)at.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (bytes != MAP_FAILED) {
        secret_hash(bytes, (size_t)at.st_size, hash);
        munmap(bytes, (size_t)at.st_size);
    }
    if (file >= 0) close(file);
    strcat(all, hash);
}

void trust_build(const char *root, const char *lesson, char hash[HASH_DIGITS + 1])
{
    static const char *const parts[] = { "simulator/device", "simulator/lib/libcudart.so.13",
                                         "grader/worker.o", "grader/sandbox" };
    enum { PARTS = sizeof parts / sizeof *parts };
    char all[(PARTS + 1) * HASH_DIGITS + 1] = "";
    for (int n = 0; n <= PARTS; n++) {
        char *path = n < PARTS ? text_format("%s/build/%s", root, parts[n])
                               : text_format("%s/build/grader/%s", root, lesson);
        add_hash(path, all);
        free(path);
    }
    secret_hash(all, strlen(all), hash);
}
