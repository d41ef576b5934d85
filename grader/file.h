// Files and folders, and JSON in them. Files are written whole or not at all.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Says of a path what errno says, "path: words", on standard error, and returns false.
bool file_amiss(const char *path);

// All that is left of a stream, or all of a file, with a 0 after it; *count of its bytes. The
// caller frees it. NULL: errno says why.
char *stream_read(FILE *f, size_t *count);
char *file_read(const char *path, size_t *count);

// Writes a file by `write(f, what)`: a temporary one beside it, fsync, rename. Who may read it, the
// umask says. False, where anything failed: what was there before is left as it was, and errno is
// the system's, or what `write` left it at.
bool file_write(const char *path, bool (*write)(FILE *f, void *what), void *what);
bool file_write_bytes(const char *path, const void *bytes, size_t count);

// Makes a folder and those that it is in, where they are not there. False: errno says why.
bool folder_make(const char *path);

// Removes a folder, or a file, and all that is in it. False: something is left, and errno says why.
bool folder_remove(const char *path);

// As file_write(), JSON.
bool json_write(const char *path, const json_t *json);

// A member of a JSON object: "" or 0 where it is missing.
const char *text_of(const json_t *object, const char *key);
double number_of(const json_t *object, const char *key);
