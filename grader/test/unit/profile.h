// A lesson's profile from a text, as profile_read() reads it from a file: NULL, or what is wrong
// with it.
#pragma once
#include "claims.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline const char *read_profile(const char *text, Profile *p)
{
    char path[] = "/tmp/warpwise-claims-XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    *p = (Profile){ .instructions = 1, .seconds = 2 };
    const char *problem = profile_read(path, p);
    unlink(path);
    return problem;
}
