// nvcc's fat binary: a container of PTX texts and native images, one for each architecture.
#pragma once
#include "base/base.h"

// The PTX for a device of compute capability `arch` (90) in `data`, which is a fat binary or PTX
// text: the newest that the device can run, malloc'ed, 0-terminated, its length in *length. NULL:
// *error, which the caller frees, says what is wrong. Safe for any bytes.
char *fatbin_ptx(const void *data, size_t bytes, int arch, size_t *length, char **error);

// The length of the first of several concatenated fat binaries. Text, and damaged data, count as
// one.
size_t fatbin_part(const void *data, size_t bytes);

// The native image for exactly this architecture, malloc'ed; NULL: none.
char *fatbin_native(const void *data, size_t bytes, int arch, size_t *length);
