// The grader's side of a Picture (grader.h): PNG files, read and written by libpng.
#pragma once
#include "grader.h"

// Reads a PNG of any kind but one with transparent parts; its rows are tight, in grey (channels: 1)
// or in colour (3). NULL, or what is wrong, with the path in front; the caller frees that, and
// p->pixels.
char *picture_read(const char *path, size_t channels, Picture *p);

// Writes a PNG, whole or not at all (file.h). NULL, or what is wrong; the caller frees that.
char *picture_write(const char *path, const Picture *p);

// Where the picture of a name lies when the JSON result goes to `result`: beside it,
// "05-blur-edges.png" of "05-blur.json", and of "05-blur.json.new". The caller frees it.
char *picture_path(const char *result, const char *name);
