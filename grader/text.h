// Words for a terminal: at most 72 columns, nothing in them but text.
// (A terminal that is narrower has narrower lines.)
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

// The columns that there are: of COLUMNS if it is set, else of the terminal, else
// TEXT_COLUMNS, which they never exceed.
int text_width(void);

// A copy with spaces for underscores, as a check's name is read. The caller frees it.
char *text_spaced(const char *name);

// Prints words broken at spaces so that each line fits text_width(), and a
// newline. Something that ends in `column` is on the first line already; the
// others start after `indent` spaces. A longer word stands on a line alone.
void text_flow(FILE *out, int column, int indent, const char *text);

// A paragraph: all lines after `indent` spaces.
void text_paragraph(FILE *out, int indent, const char *text);

// What a line begins with: "PASS    " and the words, broken as by text_flow(). The
// colour is a terminal's, "1;32", and used where text_colours() says so.
void text_state(FILE *out, const char *colour, const char *state, const char *words);

// Colours are wanted on `out`: NO_COLOR, CLICOLOR_FORCE, TERM=dumb, then whether
// it is a terminal (MAKE_TERMOUT: make's output is one) decide, in that order.
bool text_colours(FILE *out);

// The columns that a string takes: its characters, not its bytes.
size_t text_columns(const char *text);

// The name in a function's signature, "void copy<float>(float*, int)": "copy"; the caller frees it.
char *text_function(const char *signature);
