#define _GNU_SOURCE
#include "page.h"
#include "text.h"
#include <libxml/xmlwriter.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct Page {
    xmlTextWriterPtr to;
    FILE *file;
    bool good;
};

static void note(Page *p, int written) { p->good = p->good && written >= 0; }

// What stands within a line. Other elements begin one of the page's source.
static bool is_inline(const char *element)
{
    static const char *const names[] = { "td", "th", "a", "span", "samp", "html" };
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (strcmp(names[n], element) == 0) return true;
    return false;
}

void page_open(Page *p, const char *element)
{
    if (!is_inline(element)) note(p, xmlTextWriterWriteRaw(p->to, BAD_CAST "\n"));
    note(p, xmlTextWriterStartElement(p->to, BAD_CAST element));
}

void page_close(Page *p) { note(p, xmlTextWriterFullEndElement(p->to)); }

// The words up to where a piece of them is cut: the end of a line, or of a character.
static size_t piece_of(const char *words)
{
    enum { PIECE = 1000, CHARACTER = 4 }; // text_clean() cuts what is longer
    size_t count = strcspn(words, "\n"), back = 0;
    if (count <= PIECE) return count;
    while (back < CHARACTER && (words[PIECE - back] & 0xC0) == 0x80) back++;
    return PIECE - back;
}

// All of the words, cleaned. `lines`: as lines; else with blanks between them.
static void write_words(Page *p, const char *words, bool lines)
{
    while (*words) {
        size_t count = piece_of(words);
        char *piece = strndup(words, count), *clean = text_clean(piece);
        note(p, xmlTextWriterWriteString(p->to, BAD_CAST clean));
        free(piece);
        free(clean);
        words += count;
        if (*words != '\n') continue;
        note(p, xmlTextWriterWriteString(p->to, BAD_CAST(lines ? "\n" : " ")));
        words++;
    }
}

static void write_format(Page *p, const char *format, va_list more)
{
    char *words;
    if (vasprintf(&words, format, more) < 0) abort();
    write_words(p, words, false);
    free(words);
}

void page_text(Page *p, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    write_format(p, format, more);
    va_end(more);
}

void page_put(Page *p, const char *element, const char *format, ...)
{
    va_list more;
    page_open(p, element);
    va_start(more, format);
    write_format(p, format, more);
    va_end(more);
    page_close(p);
}

void page_attribute(Page *p, const char *name, const char *format, ...)
{
    va_list more;
    note(p, xmlTextWriterStartAttribute(p->to, BAD_CAST name));
    va_start(more, format);
    write_format(p, format, more);
    va_end(more);
    note(p, xmlTextWriterEndAttribute(p->to));
}

void page_lines(Page *p, const char *text) { write_words(p, text, true); }

void page_link(Page *p, const char *to, const char *words)
{
    page_open(p, "a");
    page_attribute(p, "href", "%s", to);
    page_text(p, "%s", words);
    page_close(p);
}

void page_heading(Page *p, const char *id, const char *words)
{
    page_open(p, "h2");
    page_attribute(p, "id", "%s", id);
    page_text(p, "%s", words);
    page_close(p);
}

// ---- Tables

void page_table(Page *p, bool wide, const char *caption, const char *const *headings)
{
    page_open(p, "div");
    page_attribute(p, "class", wide ? "table" : "narrow");
    if (wide) { // the keyboard scrolls it
        page_attribute(p, "role", "group");
        page_attribute(p, "aria-label", "%s", caption);
        page_attribute(p, "tabindex", "0");
    }
    page_open(p, "table");
    page_put(p, "caption", "%s", caption);
    page_open(p, "thead");
    page_open(p, "tr");
    for (; *headings; headings++) {
        page_open(p, "th");
        page_attribute(p, "scope", "col");
        page_text(p, "%s", *headings);
        page_close(p);
    }
    page_close(p);
    page_close(p);
    page_open(p, "tbody");
}

void page_table_end(Page *p)
{
    for (int n = 0; n < 3; n++) page_close(p);
}

void page_count(Page *p, size_t count, size_t most)
{
    page_open(p, "td");
    page_attribute(p, "class", "share");
    page_attribute(p, "style", "--part: %.3f", most ? (double)count / (double)most : 0);
    page_put(p, "span", "%zu", count);
    page_close(p);
}

// ---- The page

static void write_meta(Page *p, const char *name, const char *key, const char *content)
{
    page_open(p, "meta");
    page_attribute(p, name, "%s", key);
    page_attribute(p, "content", "%s", content);
    note(p, xmlTextWriterEndElement(p->to)); // it has no end tag
}

Page *page_begin(FILE *f, const char *style, const char *title)
{
    Page *p = malloc(sizeof *p);
    xmlOutputBufferPtr buffer = xmlOutputBufferCreateFile(f, NULL);
    *p = (Page){ .to = buffer ? xmlNewTextWriter(buffer) : NULL, .file = f };
    if (!p->to) abort(); // no memory
    p->good = true;
    note(p, xmlTextWriterWriteRaw(p->to, BAD_CAST "<!DOCTYPE html>\n"));
    page_open(p, "html");
    page_attribute(p, "lang", "en-GB");
    page_open(p, "head");
    page_open(p, "meta");
    page_attribute(p, "charset", "utf-8");
    note(p, xmlTextWriterEndElement(p->to));
    write_meta(p, "http-equiv", "Content-Security-Policy",
               "default-src 'none'; style-src 'unsafe-inline'");
    write_meta(p, "name", "viewport", "width=device-width, initial-scale=1");
    write_meta(p, "name", "color-scheme", "light dark");
    page_put(p, "title", "%s", title);
    page_open(p, "style");
    note(p, xmlTextWriterWriteRaw(p->to, BAD_CAST style)); // the only thing that is not escaped
    page_close(p);
    page_close(p);
    page_open(p, "body");
    page_open(p, "header");
    page_attribute(p, "class", "bar");
    page_open(p, "span");
    page_attribute(p, "class", "brand");
    page_text(p, "Warpwise");
    page_close(p);
    page_close(p);
    page_open(p, "div");
    page_attribute(p, "class", "page");
    page_open(p, "main");
    page_put(p, "h1", "%s", title);
    return p;
}

bool page_end(Page *p)
{
    note(p, xmlTextWriterEndDocument(p->to)); // closes what is open
    note(p, xmlTextWriterFlush(p->to));
    xmlFreeTextWriter(p->to);
    bool good = p->good && !ferror(p->file);
    free(p);
    return good;
}
