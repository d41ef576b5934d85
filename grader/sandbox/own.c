// The bubblewrap that a bundle carries: build/bin/bwrap, beside build/grader/sandbox, with its
// libraries in build/lib.
#define _GNU_SOURCE
#include "sandbox.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// "ROOT/build/NAME", or NULL: there is none.
static char *beside(const char *name)
{
    char *self = realpath("/proc/self/exe", NULL), *path = NULL;
    for (int up = 0; self && up < 2; up++) {
        char *slash = strrchr(self, '/');
        if (slash) *slash = 0;
    }
    if (self && asprintf(&path, "%s/%s", self, name) >= 0 && access(path, X_OK) < 0) {
        free(path);
        path = NULL;
    }
    free(self);
    return path;
}

const char *bwrap_path(void)
{
    const char *own = beside("bin/bwrap");
    return own ? own : "bwrap";
}

void own_libraries(void)
{
    char *folder = beside("bin/bwrap") ? beside("lib") : NULL;
    if (folder) setenv("LD_LIBRARY_PATH", folder, 1);
    free(folder);
}
