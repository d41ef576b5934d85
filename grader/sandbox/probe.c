// Looks from inside at what holds of the sandbox, so that --check says what is, and not what was
// meant.
#define _GNU_SOURCE
#include "sandbox.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char *const namespaces[] = { "mnt", "pid", "user", "net", "ipc" };
enum { NAMESPACES = sizeof namespaces / sizeof *namespaces };

// "pid:[4026531836]"; "" where the kernel has none.
static void namespace_of(const char *name, char text[64])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", name);
    ssize_t n = readlink(path, text, 63);
    text[n > 0 ? n : 0] = 0;
}

void probe_prepare(void)
{
    char all[PROBE_WORDS] = "", one[64];
    for (int n = 0; n < NAMESPACES; n++) {
        namespace_of(namespaces[n], one);
        snprintf(all + strlen(all), sizeof all - strlen(all), " %s", one);
    }
    setenv(PROBE_NAMESPACES, all, 1);
}

static void say_namespaces(void)
{
    const char *callers = getenv(PROBE_NAMESPACES);
    char own[PROBE_WORDS] = "", one[64];
    int count = 0;
    for (int n = 0; callers && n < NAMESPACES; n++) {
        namespace_of(namespaces[n], one);
        if (!*one || strstr(callers, one)) continue;
        snprintf(own + strlen(own), sizeof own - strlen(own), "%s%s", count++ ? ", " : "",
                 namespaces[n]);
    }
    if (count) printf("%s namespaces: own %s\n", count == NAMESPACES ? "found" : "limited", own);
}

static void say_filter(void)
{
    char line[128];
    int mode = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Seccomp: %d", &mode) == 1) break;
    if (f) fclose(f);
    puts(mode == 2 ? "found system calls: filtered" : "limited system calls: not filtered");
}

// A file that every user can read. (Landlock refuses to open it, and not to ask for it.)
static void say_sight(void)
{
    FILE *f = fopen("/etc/passwd", "re");
    puts(f ? "limited files in sight: all that its user can read, such as the solutions"
           : "found files in sight: those that it is shown");
    if (f) fclose(f);
}

static void say_files(unsigned long long most)
{
    struct statvfs s;
    bool own = statvfs("/tmp", &s) == 0 && (unsigned long long)s.f_blocks * s.f_frsize <= most;
    if (own) printf("found files: /tmp and /dev/shm hold %llu MiB each\n", most >> 20);
    else printf("limited files: each has at most %llu MiB, however many there are\n", most >> 20);
}

void probe_say(const Limits *limits)
{
    struct rlimit r;
    say_namespaces();
    say_filter();
    say_sight();
    say_files(limits->file);
    if (getrlimit(RLIMIT_CPU, &r) == 0 && r.rlim_cur == limits->seconds)
        printf("found processor time: %u s, kept by each process alone\n", limits->seconds);
    else puts("limited processor time: no limit");
}

static bool reads(const char *path, char digit)
{
    FILE *f = fopen(path, "re");
    bool same = f && fgetc(f) == digit;
    if (f) fclose(f);
    return same;
}

static bool has_bwrap(void)
{
    return strchr(bwrap_path(), '/') || system("command -v bwrap >/dev/null 2>&1") == 0;
}

void probe_say_refusal(void)
{
    if (!has_bwrap()) {
        puts("limited namespaces: bubblewrap (bwrap) is not there");
        puts("type apt-get install bubblewrap");
        return;
    }
    puts("limited namespaces: refused");
    if (reads("/proc/sys/user/max_user_namespaces", '0'))
        puts("type sysctl user.max_user_namespaces=10000");
    else if (reads("/proc/sys/kernel/unprivileged_userns_clone", '0'))
        puts("type sysctl kernel.unprivileged_userns_clone=1");
    else if (reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1'))
        puts("type sysctl kernel.apparmor_restrict_unprivileged_userns=0");
    else
        puts("limited container: its host decides. Docker allows namespaces with --security-opt "
             "seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
             "systempaths=unconfined");
}
