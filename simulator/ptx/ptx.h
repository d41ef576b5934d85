// Reads PTX text: tokens and errors. module.c is built on it.
#pragma once
#include <obstack.h>
#include <setjmp.h>

#include "base/base.h"

enum token { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCT };

typedef struct Ptx {
    const char *at, *end; // the unread text
    const char *start;    // of the current token's text
    u32 length;           // of it
    enum token token;
    u32 line;               // of the PTX
    u64 number;             // TOKEN_NUMBER: the integer, or the bits of 0f... and 0d...
    u8 number_width;        // 4 for 0f..., 8 for 0d... and decimal fractions, 0 for an integer
    struct obstack *memory; // where words are kept
    char error[256];
    jmp_buf failed; // where ptx_fail() jumps to
} Ptx;

// A place in the text to return to.
typedef struct PtxPlace {
    const char *at, *start;
    u32 length, line;
    enum token token;
    u64 number;
    u8 number_width;
} PtxPlace;
PtxPlace ptx_place(const Ptx *ptx);
void ptx_go(Ptx *ptx, PtxPlace place);

void ptx_next(Ptx *ptx);                       // reads the next token
bool ptx_is(const Ptx *ptx, const char *text); // is it this word or sign?
bool ptx_accept(Ptx *ptx, const char *text);   // skips it, if it is that
void ptx_expect(Ptx *ptx, const char *text);   // skips it, or fails
char *ptx_word(Ptx *ptx);                      // returns the current word, kept, and skips it
u64 ptx_integer(Ptx *ptx);                     // reads a number with an optional '-'
void ptx_fail(Ptx *ptx, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
