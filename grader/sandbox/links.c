// A path may lead through links into folders that the sandbox hides: /usr/local/cuda to
// /etc/alternatives/cuda to /opt/cuda-13. So each link on the way is made again in the sandbox,
// with the words that it has outside.
#define _GNU_SOURCE
#include "sandbox.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Puts the next part of *rest, without slashes, into part. False: there is none, or it is too long.
static bool next_part(const char **rest, char part[NAME_MAX + 1])
{
    *rest += strspn(*rest, "/");
    size_t n = strcspn(*rest, "/");
    if (!n || n > NAME_MAX) return false;
    memcpy(part, *rest, n);
    part[n] = 0;
    *rest += n;
    return true;
}

size_t links_find(const char *path, Link *links, size_t most)
{
    char here[2 * PATH_MAX] = "", rest[2 * PATH_MAX], to[PATH_MAX], part[NAME_MAX + 1];
    size_t count = 0;
    const char *at = path;
    while (strlen(here) < PATH_MAX && next_part(&at, part)) {
        char *end = here + strlen(here);
        if (strcmp(part, ".") == 0) continue;
        if (strcmp(part, "..") == 0) {
            *(strrchr(here, '/') ? strrchr(here, '/') : here) = 0;
            continue;
        }
        sprintf(end, "/%s", part);
        ssize_t n = readlink(here, to, sizeof to - 1);
        if (n < 0) continue;
        to[n] = 0;
        if (count == most || (size_t)n + strlen(at) + 2 > sizeof rest) break;
        links[count++] = (Link){ strdup(here), strdup(to) };
        char *after = strdup(at);
        sprintf(rest, "%s/%s", to, after);
        free(after);
        at = rest;
        *(*to == '/' ? here : end) = 0;
    }
    return count;
}
