// A page of HTML, made with libxml2's writer: it closes what was opened and escapes every word, so
// that a page says what a student wrote and never does it. Words are cleaned as by text_clean()
// besides.
#pragma once
#include <stdbool.h>
#include <stdio.h>

typedef struct Page Page;

// What begins a page: its head, the bar at the top, and the page's name as its heading. It may load
// nothing and run nothing (Content-Security-Policy); `style` is the style sheet.
Page *page_begin(FILE *f, const char *style, const char *title);

// Ends the page and frees it. False: not all of it was written.
bool page_end(Page *p);

void page_open(Page *p, const char *element);
void page_close(Page *p);

// Of the element that was opened last, before any text.
__attribute__((format(printf, 3, 4))) void page_attribute(Page *p, const char *name,
                                                          const char *format, ...);
__attribute__((format(printf, 2, 3))) void page_text(Page *p, const char *format, ...);

// An element with text alone.
__attribute__((format(printf, 3, 4))) void page_put(Page *p, const char *element,
                                                    const char *format, ...);

// Several lines of text, as they are.
void page_lines(Page *p, const char *text);

// A link to a place of the page, or to a file.
void page_link(Page *p, const char *to, const char *words);

// A heading (h2) with an id, which a link leads to.
void page_heading(Page *p, const char *id, const char *words);

// A table with those headings (the last is NULL), up to its first row. A wide one scrolls by
// itself.
void page_table(Page *p, bool wide, const char *caption, const char *const *headings);
void page_table_end(Page *p);

// A cell with a count, and a bar of that part of the most.
void page_count(Page *p, size_t count, size_t most);
