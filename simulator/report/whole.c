#define _GNU_SOURCE
#include "whole.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

WholeFile whole_open(const char *target)
{
    WholeFile w = { .target = target };
    if (asprintf(&w.made, "%s.%d", target, (int)getpid()) < 0) w.made = NULL;
    if (w.made) w.file = fopen(w.made, "we");
    return w;
}

bool whole_close(WholeFile *w, bool good)
{
    good = good && w->file && !ferror(w->file);
    int why = errno;
    if (w->file && fclose(w->file) != 0) good = false, why = errno;
    if (good && rename(w->made, w->target) != 0) good = false, why = errno;
    if (!good && w->made && w->file) unlink(w->made);
    free(w->made);
    errno = why;
    return good;
}

int whole_spool(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

bool whole_add(int spool, const char *text, size_t bytes)
{
    for (ssize_t written; bytes; text += written, bytes -= (size_t)written)
        if ((written = write(spool, text, bytes)) <= 0) return false;
    return true;
}
