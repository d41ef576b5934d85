// nvcc's fat binary: a container of PTX texts and native images, one for each architecture.
#pragma once
#include "base/base.h"

// The PTX for a device of compute capability `arch` (90) in `data`, which is a fat binary or PTX
// text itself: the newest that it can run, malloc'ed, 0-terminated, its length in *length. NULL:
// *error (the caller's to free) says what is wrong. Takes any bytes at all.
char *fatbin_ptx(const void *data, size_t bytes, int arch, size_t *length, char **error);

// How many of the bytes are the first of several fat binaries, one behind the other. Text, and what
// is damaged, is one.
size_t fatbin_part(const void *data, size_t bytes);

// The native image for exactly this architecture, malloc'ed; NULL: there is none.
char *fatbin_native(const void *data, size_t bytes, int arch, size_t *length);
