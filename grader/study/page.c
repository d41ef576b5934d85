// A lesson's Markdown on a terminal: what its hints and quizzes use of it, which is paragraphs,
// lists, quotes and code. Marks that only mean bold, italic or raised are dropped; the others stay.
#define _GNU_SOURCE
#include "study.h"
#include "text.h"
#include <ctype.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

// ---- Characters

// What the lessons use beyond ASCII, for a terminal that has nothing else (LANG=C).
static const struct {
    const char *character, *ascii;
} plainer[] = {
    { "×", "x" },   { "µ", "u" },        { "μ", "u" },   { "–", "-" },      { "—", "-" },
    { "−", "-" },   { "·", "*" },        { "…", "..." }, { "‘", "'" },      { "’", "'" },
    { "“", "\"" },  { "”", "\"" },       { "≤", "<=" },  { "≥", ">=" },     { "≠", "!=" },
    { "≈", "~" },   { "²", "^2" },       { "³", "^3" },  { "→", "->" },     { "←", "<-" },
    { "½", "1/2" }, { "°", " degrees" }, { "é", "e" },   { "\u00a0", " " },
};

static const char *ascii_for(const char *at, size_t *bytes)
{
    for (size_t i = 0; i < sizeof plainer / sizeof *plainer; i++) {
        *bytes = strlen(plainer[i].character);
        if (strncmp(at, plainer[i].character, *bytes) == 0) return plainer[i].ascii;
    }
    for (*bytes = 1; (at[*bytes] & 0xC0) == 0x80;) ++*bytes;
    return "?";
}

// As the locale can show it.
static char *localised(const char *text)
{
    char *out;
    size_t room, bytes;
    if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return strdup(text);
    FILE *f = open_memstream(&out, &room);
    for (; *text; text += bytes) {
        bytes = 1;
        if (*text & 0x80) fputs(ascii_for(text, &bytes), f);
        else fputc(*text, f);
    }
    fclose(f);
    return out;
}

// ---- Marks within a line

// [words](address): the words' length, or 0.
static size_t link_words(const char *at, size_t *whole)
{
    size_t n = strcspn(at + 1, "]\n");
    if (at[1 + n] != ']' || at[2 + n] != '(') return 0;
    *whole = 3 + n + strcspn(at + 3 + n, ")") + 1;
    return n;
}

// A '*' that stands for emphasis touches a word on one side only, unlike a product's.
static bool is_emphasis(const char *start, const char *at)
{
    const char *end = at + strspn(at, "*");
    bool word_after = *end && *end != ' ' && *end != '\n';
    while (at > start && at[-1] == '*') at--;
    bool word_before = at > start && at[-1] != ' ' && at[-1] != '\n';
    return word_before || word_after;
}

// "^9^", as in 10^9^: the length of what is raised, or 0.
static size_t raised(const char *at)
{
    size_t n = *at == '^' ? strcspn(at + 1, "^ \n") : 0;
    return n && at[1 + n] == '^' ? n : 0;
}

// Is it a number or a name, which no brackets need to hold together?
static bool is_one(const char *words, size_t n)
{
    size_t sign = *words == '-' ? 1 : strncmp(words, "−", strlen("−")) == 0 ? strlen("−") : 0;
    for (size_t i = sign; i < n; i++)
        if (!isalnum((unsigned char)words[i]) && words[i] != '.') return false;
    return true;
}

// Prints what stands for the mark at `at`, if there is one; the bytes of it, or 0.
static size_t print_mark(FILE *f, const char *start, const char *at)
{
    size_t whole, n;
    if (*at == '*' && is_emphasis(start, at)) return 1;
    if ((n = raised(at))) {
        fprintf(f, is_one(at + 1, n) ? "^%.*s" : "^(%.*s)", (int)n, at + 1);
        return n + 2;
    }
    if (*at == '[' && (n = link_words(at, &whole))) {
        fprintf(f, "%.*s", (int)n, at + 1);
        return whole;
    }
    if (*at == '\\' && at[1] && strchr("*_`[]#^~\\", at[1])) {
        fputc(at[1], f);
        return 2;
    }
    return 0;
}

char *page_plain(const char *markdown)
{
    char *out;
    size_t room, bytes;
    bool code = false;
    FILE *f = open_memstream(&out, &room);
    for (const char *c = markdown; *c; c += bytes) {
        code ^= *c == '`';
        bytes = code ? 0 : print_mark(f, markdown, c);
        if (!bytes) {
            fputc(*c, f);
            bytes = 1;
        }
    }
    fclose(f);
    char *clean = text_clean(out), *shown = localised(clean);
    free(out);
    free(clean);
    return shown;
}

// ---- Blocks

// The paragraph that is being gathered: its first words stand after `mark`, the others hang.
typedef struct Page {
    FILE *out, *words;
    char *text;
    size_t bytes;
    int indent;
    const char *lead; // in the place of the first paragraph's indent
    char mark[8];     // "- ", "3. " or ""
    bool any, gap;    // something was printed; an empty line is owed
} Page;

static void begin_block(Page *p)
{
    if (p->gap && p->any) fputc('\n', p->out);
    p->gap = false;
    p->any = true;
}

static void end_paragraph(Page *p)
{
    if (!p->words) return;
    fclose(p->words);
    p->words = NULL;
    begin_block(p);
    char *plain = page_plain(p->text);
    int hang = p->indent + (int)strlen(p->mark);
    fprintf(p->out, "%s%*s%s", p->lead, p->indent - (int)strlen(p->lead), "", p->mark);
    p->lead = "";
    text_flow(p->out, hang, hang, plain);
    free(plain);
    free(p->text);
    *p->mark = 0;
}

// The mark of a list's item at the line's start, in bytes; 0: none.
static size_t item_mark(const char *line)
{
    size_t digits = strspn(line, "0123456789");
    if (strchr("-*+", *line) && line[1] == ' ') return 2;
    return digits && digits < 4 && line[digits] == '.' && line[digits + 1] == ' ' ? digits + 2 : 0;
}

static void take_words(Page *p, const char *line, size_t n)
{
    size_t mark = item_mark(line);
    if (mark && mark < n) {
        end_paragraph(p);
        memcpy(p->mark, line, mark);
        p->mark[mark] = 0;
        line += mark;
        n -= mark;
    }
    if (!p->words) p->words = open_memstream(&p->text, &p->bytes);
    else fputc(' ', p->words);
    fprintf(p->words, "%.*s", (int)n, line);
}

static void take_code(Page *p, const char *line, size_t n)
{
    char *text = strndup(line, n), *shown = localised(text);
    begin_block(p);
    fprintf(p->out, "%*s%s\n", n ? p->indent + 2 : 0, "", shown);
    free(text);
    free(shown);
}

void page_print(FILE *out, int indent, const char *lead, const char *markdown)
{
    Page p = { .out = out, .indent = indent, .lead = lead };
    bool code = false;
    for (const char *line = markdown; *line;) {
        size_t n = strcspn(line, "\n");
        const char *words = line + strspn(line, " ");
        if (strncmp(words, "```", 3) == 0) {
            end_paragraph(&p);
            code = !code;
            p.gap = true;
        } else if (code) {
            take_code(&p, line, n);
        } else if (words >= line + n || strncmp(words, ":::", 3) == 0) {
            end_paragraph(&p);
            p.gap = true;
        } else {
            take_words(&p, words, (size_t)(line + n - words));
        }
        line += n + (line[n] == '\n');
    }
    end_paragraph(&p);
}
