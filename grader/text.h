// Words for a terminal: at most 72 columns, nothing in them but text.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { TEXT_COLUMNS = 72, TEXT_LIMIT = 2000 };

// printf into memory; the caller frees it.
__attribute__((format(printf, 1, 2))) char *text_format(const char *format, ...);

// A copy without control characters, escape sequences, broken UTF-8 or
// right-to-left overrides (each becomes '?'), newlines and tabs as spaces, cut
// at TEXT_LIMIT bytes with "..."; the caller frees it. For whatever came from
// the student's side.
char *text_clean(const char *text);

// Prints a paragraph, broken at spaces, each line after `indent` spaces and
// within TEXT_COLUMNS. A word longer than a line stands on a line alone.
void text_paragraph(FILE *out, int indent, const char *text);

// The same words, with `indent` spaces more from the second line on.
void text_hanging(FILE *out, int indent, int more, const char *text);

// Colours are wanted on `out`: NO_COLOR, CLICOLOR_FORCE, TERM=dumb, then whether
// it is a terminal (MAKE_TERMOUT: make's output is one) decide, in that order.
bool text_colours(FILE *out);

// The columns that a string takes: its characters, not its bytes.
size_t text_columns(const char *text);
