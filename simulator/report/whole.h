// A file that is written whole or not at all: under another name, which it keeps until it is done.
#pragma once
#include <stdbool.h>
#include <stdio.h>

typedef struct WholeFile {
    FILE *file; // NULL: it can't be made
    const char *target;
    char *made; // its name until then
} WholeFile;

WholeFile whole_open(const char *target);

// Gives it its name if it is good and all was written. False: it is not there, and errno says why.
bool whole_close(WholeFile *whole, bool good);

// A file without a name, to which several processes write; its descriptor, below 0: not possible.
int whole_spool(const char *name);
bool whole_add(int spool, const char *text, size_t bytes);
