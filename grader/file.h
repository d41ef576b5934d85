// Files that are written whole or not at all.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

// Writes a file by `write(f, what)`: a temporary one beside it, fsync, rename. False, where
// anything failed: what was there before is left as it was, and errno is the system's, or what
// `write` left it at.
bool file_write(const char *path, bool (*write)(FILE *f, void *what), void *what);

// The same for a file that its owner alone may read.
bool file_write_private(const char *path, bool (*write)(FILE *f, void *what), void *what);

// As file_write(), JSON.
bool json_write(const char *path, const json_t *json);
