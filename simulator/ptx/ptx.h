// Reading PTX text: tokens and the errors that they cause. module.c is built on it.
#pragma once
#include <obstack.h>
#include <setjmp.h>

#include "base/base.h"

enum token { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCT };

typedef struct Ptx {
    const char *at, *end; // what has not been read
    const char *start;    // of the current token's text
    u32 length;           // of it
    enum token token;
    u32 line;               // of the PTX
    u64 number;             // TOKEN_NUMBER: the integer, or the bits of 0f... and 0d...
    u8 number_width;        // 4 for 0f..., 8 for 0d... and decimal fractions, 0 for an integer
    struct obstack *memory; // where words are kept
    char error[256];
    jmp_buf failed; // ptx_fail() goes here
} Ptx;

// A place in the text to come back to.
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
bool ptx_accept(Ptx *ptx, const char *text);   // if it is, goes past it
void ptx_expect(Ptx *ptx, const char *text);   // goes past it, or fails
char *ptx_word(Ptx *ptx);                      // the current word's text, kept; goes past it
u64 ptx_integer(Ptx *ptx);                     // a number with an optional '-'; goes past it
void ptx_fail(Ptx *ptx, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
